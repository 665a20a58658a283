/**
 * `link`: the dashboard's address including the token, for browsers that the server cannot recognize as the user's
 * own.
 */

import { findDaemon } from "../../daemon/find-daemon.ts";
import { livingServers } from "../../http/discovery.ts";
import type { Command } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { assertPerson } from "../person-only.ts";

export const linkCommand: Command = {
  name: "link",
  summary: "print the dashboard's address with your token in it",
  details:
    "On Linux your own browser needs no token. On other systems, and through a tunnel or a container, open this link: the page keeps the token for that tab and removes it from the address bar. Anyone who has the link can do what you can.",
  examples: ["asyncagents link"],
  async run({ directory, screen, connection, environment }) {
    assertPerson({ environment }, "get a link with their token in it");
    const { url, token } = findDaemon(directory) ?? livingServers(directory)[0] ?? (await connection.daemon());
    const link = `${url}/#token=${token}`;
    screen.show({ link, url }, () => screen.line(link));
    return EXIT.ok;
  },
};
