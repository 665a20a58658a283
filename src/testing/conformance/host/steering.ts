/** The part of the host suite about messages into a session at work. */
import { expect } from "bun:test";
import { call, gate, say } from "../../../hosts/scripted/script.ts";
import { check, rejectionCode, type Stage } from "./stage.ts";

export function steeringSuite(stage: Stage): void {
  const steer = async (sessionId: string, text: string, messageId = stage.host.newMessageId()) => {
    await stage.host.steer?.(sessionId, { messageId, text, agent: stage.bed.agent, model: null });
    return messageId;
  };

  check("a message is taken up at the next step, and is part of the run", async () => {
    const session = await stage.session();
    const steps = [
      call("bash", { output: "first" }),
      gate("steering steps"),
      call("bash", { output: "next" }),
      say("both"),
    ];
    const run = await stage.prompt(session, stage.script(...steps));
    await stage.bed.gate("steering steps").reachedBy(1);
    const said = await steer(session, "look at this as well");
    expect((await stage.host.inspect(session, run, [said])).taken).toEqual([]);
    stage.bed.gate("steering steps").open();
    await stage.idle(session, said);
    const evidence = await stage.host.inspect(session, run, [said]);
    expect([evidence.answer, evidence.taken, evidence.worked]).toEqual([{ text: "both" }, [said], true]);
    expect(await stage.roles(session)).toBe("user assistant assistant user assistant");
  });

  check(
    "a message during the last answer continues the run, whose end is that of the turn that took it up",
    async () => {
      const session = await stage.session();
      const steps = [gate("steering last"), say("not the end"), gate("steering after"), say("the end")];
      const run = await stage.prompt(session, stage.script(...steps));
      await stage.bed.gate("steering last").reachedBy(1);
      const said = await steer(session, "and one more thing");
      stage.bed.gate("steering last").open();
      await stage.bed.gate("steering after").reachedBy(1);
      const during = await stage.host.inspect(session, run, [said]);
      expect([during.answer, during.taken, during.unfinished]).toEqual([null, [said], true]);
      stage.bed.gate("steering after").open();
      await stage.idle(session, said);
      expect(await stage.host.inspect(session, run, [said])).toMatchObject({
        answer: { text: "the end" },
        taken: [said],
      });
      // Said by somebody else, it is not part of the run.
      expect(await stage.host.inspect(session, run)).toMatchObject({ answer: { text: "not the end" }, taken: [] });
    },
  );

  check("two messages are taken up together, and the same id again replaces the message", async () => {
    const session = await stage.session();
    const steps = [call("bash", { output: "first" }), gate("steering two"), call("bash", { output: "x" }), say("done")];
    const run = await stage.prompt(session, stage.script(...steps));
    await stage.bed.gate("steering two").reachedBy(1);
    const one = await steer(session, "first version");
    await steer(session, "second version", one);
    const two = await steer(session, "another");
    stage.bed.gate("steering two").open();
    await stage.idle(session, two);
    const evidence = await stage.host.inspect(session, run, [one, two]);
    expect([evidence.taken, evidence.answer]).toEqual([[one, two], { text: "done" }]);
    const shown = await stage.shown(session);
    expect(shown.filter((text) => text.includes("version"))).toEqual(["second version"]);
  });

  check("in an idle session a message starts no turn, and is not taken up", async () => {
    const session = await stage.session();
    const run = await stage.run(session, stage.script(say("done")));
    const said = await steer(session, "too late");
    expect((await stage.host.statuses()).has(session)).toBe(false);
    expect(await stage.host.inspect(session, run, [said])).toMatchObject({ answer: { text: "done" }, taken: [] });
    expect(await stage.roles(session)).toBe("user assistant user");
  });

  check("a message in an aborted session is not taken up", async () => {
    const session = await stage.session();
    const run = await stage.prompt(session, stage.script(gate("steering aborted"), say("unheard"), say("unheard too")));
    await stage.bed.gate("steering aborted").reachedBy(1);
    const said = await steer(session, "never read");
    await stage.host.abort(session);
    await stage.idle(session, run);
    const evidence = await stage.host.inspect(session, run, [said]);
    expect([evidence.taken, evidence.error?.aborted]).toEqual([[], true]);
  });

  check("a deleted session rejects messages", async () => {
    const session = await stage.session();
    await stage.bed.deleteSession(session);
    expect(await rejectionCode(steer(session, "x"))).toBe("session_gone");
  });
}
