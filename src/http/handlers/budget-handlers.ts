/** The handlers about budgets. Any process answers. Who may not answer the inbox can only lower one, like an agent. */
import { callerName, mayRaiseBudgets } from "../../protocol/call-origin.ts";
import { limitsOf, wireBudget } from "../wire-budget.ts";
import type { StatusHandlers } from "./status-handler.ts";

export const budgetHandlers: StatusHandlers<"budgets" | "setBudget"> = {
  async budgets({ desk }, { input: { task: taskId, id, inUse, limit } }) {
    const query = { ...(taskId !== undefined && { taskId }), inUse: inUse === "true", limit };
    return (await desk.budgets({ ...query, id })).map(wireBudget);
  },
  async setBudget({ desk }, { id, input, origin }) {
    const change = { limits: limitsOf(input), by: callerName(origin), mayRaise: mayRaiseBudgets(origin) };
    return wireBudget(await desk.setBudget(id, change));
  },
};
