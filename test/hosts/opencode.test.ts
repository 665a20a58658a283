import { hostConformance } from "../../src/testing/host-conformance.ts";
import { openCodeBed } from "./opencode-bed.ts";

hostConformance("opencode", () => openCodeBed());
