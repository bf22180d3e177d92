/** Levels of a frame of 512^3 nodes and four components: making them, first pictures, and a search that skips. */
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { type RunningService, startService } from "../dist/main.js";
import { loadConfig } from "../dist/shared/config.js";
import { writeCube } from "../dist/tools/generate/cube.js";
import { type BenchOptions, type Row, summarise } from "./row.js";

const BRICK_BYTES = 4 * 32 ** 3;

/** What a step takes: milliseconds, of CPU too, and bytes read from files. */
interface Cost {
  readonly ms: number;
  readonly cpu: number;
  readonly bytes: number;
}

async function costOf(service: RunningService, step: () => Promise<unknown>): Promise<Cost> {
  const [since, cpu, bytes] = [performance.now(), process.cpuUsage(), service.engine.status().bytesRead];
  await step();
  const { user, system } = process.cpuUsage(cpu);
  return {
    ms: performance.now() - since,
    cpu: (user + system) / 1000,
    bytes: service.engine.status().bytesRead - bytes,
  };
}

/** Rows `levels`. */
export async function benchLevels({ quick }: BenchOptions): Promise<Row[]> {
  const nodes = quick ? 128 : 512;
  const folder = mkdtempSync(join(tmpdir(), "fieldprobe-bench-"));
  const name = `cube${nodes}`;
  const shape = {
    kind: "smooth",
    nodes: [nodes, nodes, nodes],
    steps: 1,
    chunk: [64, 64, 64],
    filter: "none",
    seed: 1,
  };
  const rows: Row[] = [];
  const row = (what: string, unit: string, value: number) => {
    const params = { nodes };
    rows.push({ ...{ bench: "levels", case: what, backend: "fieldprobe", unit, params }, ...summarise([value]) });
  };
  const settings = { PORT: "0", DATA: folder, STATE: join(folder, "state"), CACHE_BYTES: String(600 * 2 ** 20) };
  /** Each step has a service of its own, whose cache is empty. */
  const alone = async (step: (service: RunningService) => Promise<unknown>): Promise<Cost> => {
    const limits = { QUERY_POINTS: String(2 ** 24), QUERY_DEADLINE_MS: "600000" };
    const service = await startService(loadConfig({ ...settings, ...limits }, {}), pino({ level: "error" }), true);
    try {
      return await costOf(service, () => step(service));
    } finally {
      await service.close();
    }
  };
  const ask = async ({ url }: RunningService, members: object): Promise<unknown> => {
    const body = JSON.stringify({ dataset: name, frame: 0, ...members });
    const answer = await fetch(`${url}/api/ask`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    if (!answer.ok) throw new Error(await answer.text());
    const bytes = Buffer.from(await answer.arrayBuffer());
    return answer.headers.get("content-type")?.startsWith("application/json") ? JSON.parse(bytes.toString()) : bytes;
  };
  try {
    await writeCube({ ...shape, name, folder: join(folder, name) } as never, () => undefined);
    const moments = { call: "statistics", what: "u.x, u.y, u.z, p" };
    const where = "norm(u) > 1.6";
    const reading = await alone((service) => ask(service, moments));
    const searched = await alone((service) => ask(service, { call: "find", where, limit: 1 }));
    const sampled = { call: "grid", what: "u.x", format: "f32" };
    const aliased = await alone((service) => ask(service, { ...sampled, samples: nodes / 8 }));
    const making = await alone(({ engine }) => engine.makeLevels(engine.find(name) as never, [], {}));
    const store = join(folder, name, `${name}.levels`);
    const size = readdirSync(store, { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .reduce((sum, one) => sum + statSync(join(one.parentPath, one.name)).size, 0);
    row("frame by statistics", "ms of CPU", reading.cpu);
    row("making", "ms of CPU", making.cpu);
    row("making", "frames read", making.bytes / (16 * nodes ** 3));
    row("space", "of the frame", size / (16 * nodes ** 3));
    const plane = await alone((service) =>
      ask(service, { ...sampled, format: "png", z: 3, samples: nodes / 4, level: "auto" }),
    );
    row("first plane", "ms", plane.ms);
    // Two layers of bricks at most, of a vector.
    row("first plane", "of its bricks read", plane.bytes / (3 * BRICK_BYTES * (nodes / 4 / 32) ** 2));
    const volume = await alone((service) => ask(service, { ...sampled, samples: nodes / 4, level: "auto" }));
    row("first volume", "ms", volume.ms);
    row("first volume", "of its bricks read", volume.bytes / (3 * 4 * (nodes / 4) ** 3));
    row("volume without levels", "frames of u read", aliased.bytes / (12 * nodes ** 3));
    const found = await alone((service) => ask(service, { call: "find", where, limit: 1 }));
    row("find above a norm", "of the bytes without levels", found.bytes / searched.bytes);
    await alone(async (service) => {
      const since = performance.now();
      const pictures = 20;
      for (let i = 0; i < pictures; i++)
        await ask(service, { ...sampled, format: "png", z: 3 + i / 10, samples: nodes / 4, level: "auto" });
      row("play of a plane", "pictures/s", (1000 * pictures) / (performance.now() - since));
    });
    return rows;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
