import { hostConformance } from "../../../../src/testing/conformance/host/host-conformance.ts";
import { acpBed } from "../acp-bed.ts";
import { qwen } from "../agents/qwen.ts";
import { ABSENT, ALL_LACK } from "../lacks.ts";
import { modelErrorSuite } from "../model-errors.ts";

hostConformance("acp: qwen", () => acpBed(qwen), ABSENT, {
  ...ALL_LACK,
  toolOutputs: "Qwen Code changes the lines that its shell printed",
  emptyAnswers: "Qwen Code reports an empty answer as an error",
});

modelErrorSuite(qwen);
