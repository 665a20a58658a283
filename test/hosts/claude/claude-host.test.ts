import { hostConformance } from "../../../src/testing/conformance/host/host-conformance.ts";
import { claudeBed } from "./claude-bed.ts";

hostConformance("claude", claudeBed, {
  notify: "Claude's transcript is append-only: sending a notice again would add it twice",
  hasMessage: "only useful with notify",
  steer: "the end of its run is known by its own prompt only",
  condense: "Claude's transcript is append-only: nothing in it can be cut",
});
