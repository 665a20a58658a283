/** The keys that a person presses, one by one: the terminal is in raw mode while somebody listens. */
import { StringDecoder } from "node:string_decoder";
import { keysOf } from "./scroll-keys.ts";

/** Returns a function that stops it. In raw mode Ctrl-C is an ordinary key. */
export function listenToKeys(press: (key: string) => void): () => void {
  const { stdin } = process;
  if (!stdin.isTTY) return () => {};
  const decoder = new StringDecoder("utf8");
  const onKey = (data: Buffer) => {
    for (const key of keysOf(decoder.write(data))) press(key);
  };
  stdin.setRawMode(true);
  stdin.on("data", onKey);
  return () => {
    stdin.off("data", onKey);
    stdin.setRawMode(false);
    stdin.pause();
  };
}
