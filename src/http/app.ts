/**
 * Mounts the routes on Hono: the table first, then MCP, then the dashboard. Every path answers, every response has
 * the CORS headers, and every failure is JSON. Holds no state.
 */
import { Hono } from "hono";
import { AsyncAgentsError } from "../model/errors.ts";
import type { ApiContext } from "./api-context.ts";
import type { Page } from "./page.ts";
import { CORS, replyError } from "./reply.ts";
import { ROUTES, type Route } from "./routes.ts";

export function createApp(context: ApiContext, page: Page): Hono {
  const app = new Hono();
  app.onError((thrown) => replyError(thrown, context.log));
  app.options("*", () => new Response(null, { status: 204, headers: CORS }));
  for (const route of ROUTES) {
    app.on(route.method, route.path, async (hono) => {
      return route.handle(context, hono.req.raw, hono.req.param("id") ?? "");
    });
  }
  const { mcp } = context;
  if (mcp) {
    app.all("/mcp", async ({ req }) => mcp(req.raw, await context.guard.admitProgram(req.raw)));
  }
  app.all("*", async ({ req }) => {
    context.guard.admitOrigin(req.raw);
    const file = req.method === "GET" || req.method === "HEAD" ? page.answer(req.path, req.raw.headers) : null;
    if (file) return file;
    await context.guard.admit(req.raw);
    return unanswered(req, context);
  });
  return app;
}

function unanswered({ method, path }: { method: string; path: string }, { log }: ApiContext): Response {
  const allowed = [...new Set(ROUTES.filter((route) => matches(route, path)).map((route) => route.method))];
  if (allowed.length === 0) {
    const message = `There is nothing at ${path.slice(0, 200)}. /v1/openapi.json lists what there is.`;
    return replyError(new AsyncAgentsError("no_such_path", message), log);
  }
  const message = `${method} is not possible at ${path.slice(0, 200)}; ${allowed.join(" and ")} is.`;
  return replyError(new AsyncAgentsError("method_not_allowed", message), log, {
    allow: [...allowed, "OPTIONS"].join(", "),
  });
}

function matches(route: Route, path: string): boolean {
  const parts = route.path.split("/");
  const given = path.split("/");
  return (
    parts.length === given.length &&
    parts.every((part, index) => (part === ":id" ? given[index] !== "" : part === given[index]))
  );
}
