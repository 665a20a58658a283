import { hostConformance } from "../../../../src/testing/conformance/host/host-conformance.ts";
import { acpBed } from "../acp-bed.ts";
import { opencode } from "../agents/opencode.ts";
import { ABSENT, ALL_LACK } from "../lacks.ts";
import { modelErrorSuite } from "../model-errors.ts";

hostConformance("acp: opencode", () => acpBed(opencode), ABSENT, {
  ...ALL_LACK,
  questions: "OpenCode offers its question tool only to its own clients",
  runUsage: "OpenCode reports the tokens of its last model call only",
});

modelErrorSuite(opencode);
