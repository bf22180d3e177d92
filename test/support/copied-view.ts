/** Copies the Zarr view of a dataset over HTTP into a folder, and serves the copy. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { RunningService } from "../../src/main.js";
import { scratchFolder } from "./scratch.js";
import { serveTestData } from "./service.js";

/** Serves copies of the views of datasets, without what is derived from their fields. */
export async function serveCopies(url: string, names: readonly string[]): Promise<RunningService> {
  const folder = scratchFolder();
  for (const name of names) {
    const copy = async (path: string): Promise<Buffer> => {
      const answer = await fetch(`${url}/zarr/${name}/${path}`);
      const [bytes, to] = [Buffer.from(await answer.arrayBuffer()), join(folder, `${name}.zarr`, path)];
      mkdirSync(dirname(to), { recursive: true });
      writeFileSync(to, bytes);
      return bytes;
    };
    const { metadata } = JSON.parse(String(await copy("zarr.json"))).consolidated_metadata;
    for (const path of Object.keys(metadata).filter((one) => !one.startsWith("derived"))) {
      const { shape, chunk_grid } = JSON.parse(String(await copy(`${path}/zarr.json`)));
      const counts = (shape as number[]).map((length, d) => length / chunk_grid.configuration.chunk_shape[d]);
      const places = counts.reduce<readonly number[][]>(
        (all, count) => all.flatMap((place) => Array.from({ length: Math.ceil(count) }, (_, i) => [...place, i])),
        [[]],
      );
      for (const place of places) await copy(`${path}/${place.join(".")}`);
    }
  }
  return serveTestData([], { DATA: folder });
}
