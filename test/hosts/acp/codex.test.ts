import { hostConformance } from "../../../src/testing/conformance/host/host-conformance.ts";
import { acpBed } from "./acp-bed.ts";
import { codex } from "./agents/codex.ts";
import { ABSENT, ALL_LACK } from "./lacks.ts";
import { modelErrorSuite } from "./model-errors.ts";

hostConformance("acp: codex", () => acpBed(codex), ABSENT, {
  ...ALL_LACK,
  questions: "Codex asks none in its default mode",
});

modelErrorSuite(codex);
