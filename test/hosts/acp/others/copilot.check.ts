import { hostConformance } from "../../../../src/testing/conformance/host/host-conformance.ts";
import { acpBed } from "../acp-bed.ts";
import { copilot } from "../agents/copilot.ts";
import { ABSENT, ALL_LACK } from "../lacks.ts";
import { modelErrorSuite } from "../model-errors.ts";

hostConformance("acp: copilot", () => acpBed(copilot), ABSENT, {
  ...ALL_LACK,
  emptyAnswers: "Copilot reports an empty answer as an error",
  questions: "Copilot offers no tool for them",
});

modelErrorSuite(copilot);
