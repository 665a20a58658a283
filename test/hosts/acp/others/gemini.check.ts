import { hostConformance } from "../../../../src/testing/conformance/host/host-conformance.ts";
import { acpBed } from "../acp-bed.ts";
import { gemini } from "../agents/gemini.ts";
import { ABSENT, ALL_LACK } from "../lacks.ts";
import { modelErrorSuite } from "../model-errors.ts";

hostConformance("acp: gemini", () => acpBed(gemini), ABSENT, {
  ...ALL_LACK,
  questions: "the Gemini CLI offers no tool for them",
  toolOutputs: "the Gemini CLI does not send what its shell printed",
});

modelErrorSuite(gemini);
