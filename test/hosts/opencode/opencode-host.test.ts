import { hostConformance } from "../../../src/testing/conformance/host/host-conformance.ts";
import { openCodeBed } from "./opencode-bed.ts";

hostConformance("opencode", () => openCodeBed());
