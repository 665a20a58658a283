import { hostConformance } from "../../../../src/testing/conformance/host/host-conformance.ts";
import { acpBed } from "../acp-bed.ts";
import { copilot } from "../agents/copilot.ts";
import { ABSENT, COPILOT_LACKS } from "../lacks.ts";
import { modelErrorSuite } from "../model-errors.ts";

hostConformance("acp: copilot", () => acpBed(copilot), ABSENT, COPILOT_LACKS);

modelErrorSuite(copilot);
