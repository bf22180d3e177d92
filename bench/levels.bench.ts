/** Levels of a frame of 512^3 nodes and four components: making them, first pictures, and a search that skips. */
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { type RunningService, startService } from "../dist/main.js";
import { loadConfig } from "../dist/shared/config.js";
import { boxesOf } from "../dist/storage/levels/level-sums.js";
import { writeCube } from "../dist/tools/generate/cube.js";
import { type BenchOptions, type Row, summarise } from "./row.js";

type Step = (service: RunningService) => Promise<unknown>;

const BRICK_BYTES = 4 * 32 ** 3;

/** What a step takes: milliseconds, of CPU too, and bytes read from files. */
async function costOf(service: RunningService, step: () => Promise<unknown>) {
  const [since, cpu, bytes] = [performance.now(), process.cpuUsage(), service.engine.status().bytesRead];
  await step();
  const { user, system } = process.cpuUsage(cpu);
  const { bytesRead } = service.engine.status();
  return { ms: performance.now() - since, cpu: (user + system) / 1000, bytes: bytesRead - bytes };
}

/** Reads a frame as levels are made of it, two boxes of 64^3 nodes at a time. */
async function readBoxes({ engine }: RunningService, dataset: string, n: number): Promise<void> {
  const boxes = ["velocity", "pressure"].flatMap((field) => [...boxesOf([n, n, n])].map((box) => ({ field, ...box })));
  const lane = async (): Promise<void> => {
    for (let box = boxes.pop(); box !== undefined; box = boxes.pop()) {
      const nodes = { ...box, frame: 0, stride: [1, 1, 1] } as const;
      const result = await engine.start({ operation: "GetAnyCutoutWeb", dataset, nodes }, {}).finish();
      for await (const _ of result.stream ?? result.values);
      result.release();
    }
  };
  await Promise.all([lane(), lane()]);
}

/** Rows `levels`. */
export async function benchLevels({ quick }: BenchOptions): Promise<Row[]> {
  const nodes = quick ? 128 : 512;
  const folder = mkdtempSync(join(tmpdir(), "fieldprobe-bench-"));
  const name = `cube${nodes}`;
  const flow = { kind: "smooth", steps: 1, chunk: [32, 32, 32], filter: "none", seed: 1 };
  const shape = { ...flow, nodes: [nodes, nodes, nodes], name, folder: join(folder, name) };
  const rows: Row[] = [];
  const row = (what: string, unit: string, value: number) => {
    const of = { bench: "levels", case: what, backend: "fieldprobe", unit, params: { nodes } };
    rows.push({ ...of, ...summarise([value]) });
  };
  const settings = { PORT: "0", DATA: folder, STATE: join(folder, "state"), CACHE_BYTES: String(600 * 2 ** 20) };
  /** Each step has a service of its own, whose cache is empty of what it reads. */
  const alone = async (step: Step, before: Step = async () => {}) => {
    const limits = { QUERY_POINTS: String(2 ** 24), QUERY_DEADLINE_MS: "600000" };
    const service = await startService(loadConfig({ ...settings, ...limits }, {}), pino({ level: "error" }), true);
    try {
      await before(service);
      return await costOf(service, () => step(service));
    } finally {
      await service.close();
    }
  };
  const ask = async ({ url }: RunningService, members: object): Promise<ArrayBuffer> => {
    const body = JSON.stringify({ dataset: name, frame: 0, ...members });
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${url}/api/ask`, { method: "POST", headers, body });
    if (!answer.ok) throw new Error(await answer.text());
    return answer.arrayBuffer();
  };
  const sampled = { call: "grid", what: "u.x", format: "f32" };
  try {
    await writeCube(shape as never, () => undefined);
    const reading = await alone((service) => readBoxes(service, name, nodes));
    // The norm that 2 % of the volume exceed.
    let where = "";
    await alone(async (service) => {
      const norms = new Float32Array(await ask(service, { ...sampled, what: "norm(u)", samples: 48 })).sort();
      where = `norm(u) > ${norms[Math.floor(0.98 * norms.length)]?.toFixed(4)}`;
    });
    const searched = await alone((service) => ask(service, { call: "find", where, limit: 1 }));
    const aliased = await alone((service) => ask(service, { ...sampled, samples: nodes / 8 }));
    const making = await alone(({ engine }) => engine.makeLevels(engine.find(name) as never, [], {}));
    const store = join(folder, name, `${name}.levels`);
    const size = readdirSync(store, { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .reduce((sum, one) => sum + statSync(join(one.parentPath, one.name)).size, 0);
    row("frame by boxes", "ms", reading.ms);
    row("frame by boxes", "ms of CPU", reading.cpu);
    row("making", "ms", making.ms);
    row("making", "ms of CPU", making.cpu);
    row("making", "frames read", making.bytes / (16 * nodes ** 3));
    row("space", "of the frame", size / (16 * nodes ** 3));
    const planeAt = async (service: RunningService, z: number) => {
      await ask(service, { ...sampled, format: "png", z, samples: nodes / 4, level: "auto" });
    };
    row("first plane of a process", "ms", (await alone((service) => planeAt(service, 3))).ms);
    // Half a period away, no brick is shared.
    const plane = await alone(...([3, 6].map((z) => (service) => planeAt(service, z)) as [Step, Step]));
    row("first plane", "ms", plane.ms);
    row("first plane", "ms of CPU", plane.cpu);
    row("first plane", "of its bricks read", plane.bytes / (3 * BRICK_BYTES * (nodes / 4 / 32) ** 2));
    const volume = await alone((service) => ask(service, { ...sampled, samples: nodes / 4, level: "auto" }));
    row("first volume", "ms", volume.ms);
    row("first volume", "ms of CPU", volume.cpu);
    row("first volume", "of its bricks read", volume.bytes / (3 * 4 * (nodes / 4) ** 3));
    row("volume without levels", "frames of u read", aliased.bytes / (12 * nodes ** 3));
    const found = await alone((service) => ask(service, { call: "find", where, limit: 1 }));
    row("find above a norm", "of the bytes without levels", found.bytes / searched.bytes);
    await alone(async (service) => {
      const since = performance.now();
      for (let i = 0; i < 20; i++) await planeAt(service, 3 + i / 10);
      row("play of a plane", "pictures/s", 20_000 / (performance.now() - since));
    });
    return rows;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
