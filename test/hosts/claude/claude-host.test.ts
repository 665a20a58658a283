import { hostConformance } from "../../../src/testing/conformance/host-conformance.ts";
import { claudeBed } from "./claude-bed.ts";

hostConformance("claude", claudeBed, {
  notify: "a transcript of Claude is append-only: a notice that is sent again would stand there twice",
  hasMessage: "only of use with notify",
  condense: "a transcript of Claude is append-only: nothing in it can be cut",
});
