/**
 * A program that queues many tasks at once over HTTP, each for one of some models. Arguments: the address, the token,
 * the folder, a name for its tasks, and how many.
 */
import { createClient } from "../../src/client/index.ts";

const [url = "", token = "", directory = "", name = "", count = ""] = process.argv.slice(2);
const client = createClient({ url, token });

await Promise.all(
  Array.from({ length: Number(count) }, (_, index) => {
    const description = `${name}${index}`;
    const model = `p/m${index % 5}`;
    return client.launch({ description, prompt: `!say ${description}`, host: "scripted", directory, model, queue: {} });
  }),
);
