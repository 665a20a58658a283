/** `version` and `help`. They only need the table. */
import manifest from "../../../../package.json" with { type: "json" };
import { chooseCommand } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import { EXIT } from "../../exit-codes.ts";
import { commandHelp, groupHelp, groupOf, overallHelp, unknownCommand } from "../../help.ts";

export const versionCommand: Command = {
  name: "version",
  summary: "print the version",
  async run({ screen }) {
    screen.show({ version: manifest.version, bun: Bun.version }, () => screen.line(manifest.version));
    return EXIT.ok;
  },
};

export const helpCommand: Command = {
  name: "help",
  summary: "show help for all commands or for one",
  operands: [{ name: "command", optional: true, repeated: true }],
  examples: ["asyncagents help attempt start"],
  async run({ arguments: given, screen, commands }) {
    const words = given.operands;
    const { command } = chooseCommand(commands, words);
    const group = groupOf(commands, words[0] ?? "");
    if (!command && words.length > 0 && group.length === 0) throw unknownCommand(commands, words);
    const more = group.length > 0 ? groupHelp(group, screen) : overallHelp(commands, screen);
    const text = command ? commandHelp(command, screen) : more;
    screen.show({ help: text }, () => screen.text(text));
    return EXIT.ok;
  },
};
