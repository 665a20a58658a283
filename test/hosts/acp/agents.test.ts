/**
 * The parts of the host suite that differ most between agents (runs, requests, abort), on two light ones besides Codex.
 * `npm run agents` runs the whole suite on all of them.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { abortSuite, requestSuite, runSuite } from "../../../src/testing/conformance/host/runs.ts";
import { type Lacks, Stage } from "../../../src/testing/conformance/host/stage.ts";
import { type AcpBed, acpBed } from "./acp-bed.ts";
import { claude } from "./agents/claude.ts";
import { copilot } from "./agents/copilot.ts";
import type { TestedAgent } from "./agents/tested-agent.ts";
import { ALL_LACK, COPILOT_LACKS } from "./lacks.ts";
import { leftProcesses } from "./left-processes.ts";

const suite = (tested: TestedAgent, lacks: Lacks) =>
  describe(`acp: ${tested.name}`, () => {
    const stage = new Stage(lacks);
    let bed: AcpBed;
    beforeAll(async () => {
      bed = await acpBed(tested);
      stage.open(bed);
    });
    afterAll(() => stage.close());
    runSuite(stage);
    requestSuite(stage);
    abortSuite(stage);
    test("nothing is left of it", async () => expect(await leftProcesses(bed.root)).toEqual([]));
  });

suite(claude, ALL_LACK);
suite(copilot, COPILOT_LACKS);
