/** The data lines of a stream of events, and whether it ended properly. */
export async function readData(response: Response): Promise<{ data: string[]; broken: boolean }> {
  let text = "";
  let broken = false;
  try {
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) text += piece;
  } catch {
    broken = true;
  }
  const lines = text.split("\n").filter((line) => line.startsWith("data: "));
  return { data: lines.map((line) => line.slice(6)), broken };
}
