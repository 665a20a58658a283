/**
 * `token`: creates, lists and revokes the tokens with which other machines call the server. Works on the store itself,
 * with or without a daemon: no request over the network can create a token. The secret is printed once.
 */
import { AuditLog } from "../../engine/access/audit-log.ts";
import { hashOfSecret, newTokenSecret } from "../../http/access/token-secret.ts";
import { type AccessToken, isUsable } from "../../model/access-token.ts";
import { AsyncAgentsError } from "../../model/errors.ts";
import { ROLES, type Role } from "../../model/role.ts";
import { type CallOrigin, callerName, FROM_PERSON } from "../../protocol/call-origin.ts";
import type { Store } from "../../store/store.ts";
import type { Command, Invocation } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { openOwnStore } from "../other-store.ts";
import { assertPerson } from "../person-only.ts";
import { type Column, tableLines } from "../terminal/table.ts";
import { ago, shortId } from "../terminal/text.ts";

/** Nothing that a shell, a table or a sentence could misread; "local user" has a space, so no token has its name. */
const NAME = /^[a-zA-Z0-9][\w.@-]{0,63}$/;
const AGENT: CallOrigin = { door: "model", depth: null };
/** What agents cannot: they must not give themselves or others more rights than they have. */
const CHANGE = "create and revoke tokens";

const createCommand: Command = {
  name: "token create",
  summary: "create a token for the server's door to other machines",
  details:
    "The token is shown once; only its hash is stored. Each role includes the ones before it: read sees everything, launch also starts and steers agents, answer also answers their requests, admin does everything else. `asyncagents up --listen 127.0.0.1:8443` opens the door, for example behind a proxy.",
  options: {
    role: { value: "role", summary: `one of ${ROLES.join(", ")}`, completes: ROLES },
    name: { value: "name", summary: "who uses it, as the audit log shows it; never given twice" },
    expires: { value: "time", summary: "when it stops working, such as 12h or 90d; never when absent" },
  },
  examples: ["asyncagents token create --role launch --name ci --expires 90d"],
  async run(invocation) {
    const { arguments: given, screen } = invocation;
    assertPerson(invocation, CHANGE);
    const now = Date.now();
    const lifeMs = given.age("expires");
    const token: AccessToken = {
      id: crypto.randomUUID(),
      name: nameOf(given.text("name")),
      role: roleOf(given.text("role")),
      createdAt: now,
      expiresAt: lifeMs === undefined ? null : now + lifeMs,
      lastUsedAt: null,
      revokedAt: null,
    };
    const secret = newTokenSecret();
    await withStore(invocation, (store) =>
      recorded(store, "create_token", token, async () => {
        if (await store.access.addToken(token, hashOfSecret(secret))) return;
        const message = `There is or was a token "${token.name}", in this or other case, and names are not given twice. Choose another one.`;
        throw new AsyncAgentsError("name_taken", message);
      }),
    );
    screen.show({ ...shown(token, now), token: secret }, () => {
      screen.line(secret);
      screen.hint("Copy it now: it is not shown again. Clients send it as `Authorization: Bearer <token>`.");
    });
    return EXIT.ok;
  },
};

const listCommand: Command = {
  name: "token list",
  summary: "list tokens, without their secrets",
  options: { all: { short: "a", summary: "include revoked and expired tokens" } },
  async run(invocation) {
    const { arguments: given, screen } = invocation;
    const now = Date.now();
    const known = await withStore(invocation, ({ access }) => access.tokens());
    const listed = given.flag("all") ? known : known.filter((token) => isUsable(token, now));
    screen.show({ tokens: listed.map((token) => shown(token, now)) }, () => {
      if (listed.length === 0)
        return screen.hint("No tokens. Create one: asyncagents token create --role read --name me");
      for (const line of tableLines(columns(now), listed, screen)) screen.line(line);
    });
    return EXIT.ok;
  },
};

const revokeCommand: Command = {
  name: "token revoke",
  summary: "revoke tokens; they stop working at once",
  details: "Event streams that are open with them are closed within seconds.",
  operands: [{ name: "token", shown: "<name|id>" }],
  examples: ["asyncagents token revoke ci"],
  async run(invocation) {
    const { arguments: given, screen } = invocation;
    assertPerson(invocation, CHANGE);
    const now = Date.now();
    const revoked = await withStore(invocation, async (store) => {
      const token = find(await store.access.tokens(), given.operand(0));
      return recorded(store, "revoke_token", token, async () => {
        if (await store.access.revokeToken(token.id, now)) return { ...token, revokedAt: now };
        throw new AsyncAgentsError("nothing_asked", `The token "${token.name}" was revoked before.`);
      });
    });
    screen.show(shown(revoked, now), () => screen.line(`Revoked ${revoked.name} (${shortId(revoked.id)}).`));
    return EXIT.ok;
  },
};

export const TOKEN_COMMANDS: readonly Command[] = [createCommand, listCommand, revokeCommand];

/** In the audit log, by the name that is in its other entries. */
function recorded<T>(store: Store, operation: string, { name }: AccessToken, work: () => Promise<T>): Promise<T> {
  const call = { by: callerName(FROM_PERSON), operation, input: { id: name } };
  return new AuditLog({ store, now: Date.now }).record(call, work);
}

async function withStore<T>(invocation: Invocation, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openOwnStore(invocation);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

function nameOf(given: string | undefined): string {
  if (given?.toLowerCase() === callerName(AGENT)) {
    throw new AsyncAgentsError(
      "invalid_input",
      `"${given}" stands for any agent in the audit log. Choose another name.`,
    );
  }
  if (given !== undefined && NAME.test(given)) return given;
  const rule = "letters, digits, and . _ @ - inside; at most 64 characters";
  throw new AsyncAgentsError("invalid_input", `--name is required and consists of ${rule}. For example: --name ci`);
}

function roleOf(given: string | undefined): Role {
  const role = ROLES.find((each) => each === given);
  if (role !== undefined) return role;
  const what = given === undefined ? "--role is required" : `"${given.slice(0, 40)}" is not a role`;
  throw new AsyncAgentsError("invalid_input", `${what}: one of ${ROLES.join(", ")}.`);
}

/** A name counts before the beginning of an id. */
function find(known: readonly AccessToken[], given: string): AccessToken {
  const named = known.find(({ name }) => name === given);
  if (named) return named;
  const fitting = given.length < 4 ? [] : known.filter(({ id }) => id.startsWith(given.toLowerCase()));
  const [only] = fitting;
  if (only && fitting.length === 1) return only;
  const what = fitting.length > 1 ? "matches several tokens" : "is neither the name nor the id of a token";
  // A secret may have been pasted by mistake: it is not repeated.
  const code = fitting.length > 1 ? "task_ambiguous" : "not_found";
  throw new AsyncAgentsError(code, `What you gave ${what}. \`asyncagents token list --all\` shows them.`);
}

function shown(token: AccessToken, now: number) {
  const { id, name, role, createdAt, expiresAt, lastUsedAt, revokedAt } = token;
  return {
    id,
    name,
    role,
    createdAt: time(createdAt),
    expiresAt: time(expiresAt),
    lastUsedAt: time(lastUsedAt),
    revokedAt: time(revokedAt),
    usable: isUsable(token, now),
  };
}

function time(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

function columns(now: number): Column<AccessToken>[] {
  return [
    { title: "ID", cell: ({ id }) => shortId(id) },
    { title: "NAME", cell: ({ name }) => name, least: 8 },
    { title: "ROLE", cell: ({ role }) => role },
    { title: "STATE", cell: (token) => stateOf(token, now) },
    { title: "CREATED", cell: ({ createdAt }) => ago(time(createdAt) ?? "", now) },
    {
      title: "LAST USED",
      cell: ({ lastUsedAt }) => (lastUsedAt === null ? "never" : ago(time(lastUsedAt) ?? "", now)),
    },
    { title: "EXPIRES", cell: ({ expiresAt }) => time(expiresAt)?.slice(0, 10) ?? "never" },
  ];
}

function stateOf(token: AccessToken, now: number): string {
  if (token.revokedAt !== null) return "revoked";
  return isUsable(token, now) ? "active" : "expired";
}
