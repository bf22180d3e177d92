/** The service of grids of several kinds, which NumPy has too. */
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import type { RunningService } from "../../../src/main.js";
import { type GridKind, type MadeGrid, makeGrid } from "../../support/analysis-data.js";
import { scratchFolder } from "../../support/scratch.js";
import { serveTestData } from "../../support/service.js";
import { ask } from "./ask.js";

/** Serves grids, with `steps` frames and other folders, from the first test of a group to its last. */
export function useGrids(kinds: readonly GridKind[], steps = 4, others: readonly string[] = [], hasJobs = false) {
  const folder = scratchFolder();
  const made = new Map<GridKind, MadeGrid>();
  let service: RunningService;
  beforeAll(async () => {
    for (const kind of kinds) made.set(kind, await makeGrid(kind, folder, steps));
    const settings = hasJobs ? { STATE: join(folder, "state") } : {};
    service = await serveTestData([...others, ...kinds.map(({ name }) => join(folder, name))], settings, !hasJobs);
  }, 60_000);
  afterAll(() => service.close());
  return { made, folder, ask: (question: unknown) => ask(service, question), url: () => service.url };
}
