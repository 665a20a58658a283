import { expect, test } from "bun:test";
import { Screen } from "../../bench/opencode/screen.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

test("a text is found across chunks and between colours", async () => {
  const screen = new Screen();
  const shown = screen.shows("trial <é>");
  const drawn = bytes("\x1b[2J\x1b[1;1Htri\x1b[38;2;1;2;3mal <é>");
  // Cut inside a character.
  const cut = drawn.length - 2;
  screen.write(drawn.slice(0, cut));
  screen.write(drawn.slice(cut));
  await shown;
});

test("text drawn earlier does not count, and the error shows it", async () => {
  const screen = new Screen();
  screen.write(bytes("\x1b[1mready"));
  await expect(screen.shows("ready", 20)).rejects.toThrow('"ready" on the screen. Drawn last:\nready');
});
