import { hostConformance } from "../../../src/testing/conformance/host/host-conformance.ts";
import { acpBed } from "./acp-bed.ts";
import { claude } from "./agents/claude.ts";
import { ABSENT, ALL_LACK } from "./lacks.ts";

hostConformance("acp: claude", () => acpBed(claude), ABSENT, ALL_LACK);
