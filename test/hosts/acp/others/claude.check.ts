import { hostConformance } from "../../../../src/testing/conformance/host/host-conformance.ts";
import { acpBed } from "../acp-bed.ts";
import { claude } from "../agents/claude.ts";
import { ABSENT, ALL_LACK } from "../lacks.ts";
import { modelErrorSuite } from "../model-errors.ts";

hostConformance("acp: claude", () => acpBed(claude), ABSENT, ALL_LACK);

modelErrorSuite(claude);
