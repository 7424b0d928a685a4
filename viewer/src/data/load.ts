/** The analysis out of the page it travels in. */
import type { Analysis } from "../generated/analysis.ts";

export class DataError extends Error {}

/** Reads the data block; throws DataError with words for a reader. */
export async function load(block: HTMLElement | null): Promise<Analysis> {
  const raw = block?.textContent.trim() ?? "";
  if (block === null || raw === "") {
    throw new DataError("This page holds no analysis. `dyno report RUN` writes one that does.");
  }
  const text = block.dataset.encoding === "gzip+base64" ? await unpack(raw) : raw;
  const data = JSON.parse(text) as Analysis;
  const format: string = data.format;
  if (format !== "dyno-analysis/1") {
    throw new DataError(
      `This page reads dyno-analysis/1, the data says ${format}. \`make build\` builds both alike.`,
    );
  }
  return data;
}

async function unpack(base64: string): Promise<string> {
  const packed = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(plain).text();
}
