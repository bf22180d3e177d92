/** Levels of frames of 512^3 and 1024^3 nodes: making them, first pictures, and searches and surfaces that skip. */
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { type RunningService, startService } from "../dist/main.js";
import { loadConfig } from "../dist/shared/config.js";
import { boxesOf } from "../dist/storage/levels/level-sums.js";
import { makeCube } from "./ask.js";
import { type BenchOptions, type Row, summarise } from "./row.js";
import { startOurs } from "./server-process.js";

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

/** A set of `nodes`^3 nodes, and the scalar whose largest 2 % are searched and enclosed. */
interface Cube {
  readonly nodes: number;
  readonly fields: readonly ["velocity", "pressure"] | readonly ["pressure"];
  readonly scalar: string;
  readonly sampled: string;
}

const LARGE: Cube = { nodes: 512, fields: ["velocity", "pressure"], scalar: "norm(u)", sampled: "u.x" };
const QUICK: Cube = { ...LARGE, nodes: 128 };
const LARGER: Cube = { nodes: 1024, fields: ["pressure"], scalar: "p", sampled: "p" };

/** Rows `levels`: at 512^3 by time and count, with the aims; at 1024^3, with pressure alone, by count. */
export async function benchLevels({ quick }: BenchOptions): Promise<Row[]> {
  const rows: Row[] = [];
  for (const cube of quick ? [QUICK] : [LARGE, LARGER]) rows.push(...(await benchCube(cube, cube !== LARGER)));
  return rows;
}

async function benchCube({ nodes, fields, scalar, sampled: what }: Cube, isTimed: boolean): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), "fieldprobe-bench-"));
  const name = `cube${nodes}`;
  const rows: Row[] = [];
  const row = (text: string, unit: string, value: number, aim = "") => {
    const params = { nodes, ...(aim === "" ? {} : { aim }) };
    rows.push({ bench: "levels", case: text, backend: "fieldprobe", unit, params, ...summarise([value]) });
  };
  const settings = { PORT: "0", DATA: folder, STATE: join(folder, "state"), CACHE_BYTES: String(600 * 2 ** 20) };
  /** Each step has a service of its own, whose cache is empty of what it reads. */
  const alone = async (step: Step, before: Step = async () => {}) => {
    const limits = { QUERY_POINTS: String(2 ** 31 - 1), QUERY_DEADLINE_MS: "3600000" };
    const service = await startService(loadConfig({ ...settings, ...limits }, {}), pino({ level: "error" }), true);
    try {
      await before(service);
      return await costOf(service, () => step(service));
    } finally {
      await service.close();
    }
  };
  const ask = async ({ url }: Pick<RunningService, "url">, members: object): Promise<Response> => {
    const body = JSON.stringify({ dataset: name, frame: 0, ...members });
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${url}/api/ask`, { method: "POST", headers, body });
    if (!answer.ok) throw new Error(await answer.text());
    return answer;
  };
  /** Asks, and leaves an answer that may be larger than memory. */
  const drain = async (service: Pick<RunningService, "url">, members: object): Promise<void> => {
    for await (const _ of (await ask(service, members)).body as AsyncIterable<Uint8Array>);
  };
  const sampled = { call: "grid", what, format: "f32", level: "auto" };
  const [samples, wide] = [Math.min(128, nodes / 4), fields.length === 1 ? 1 : 3];
  const planeAt = (service: Pick<RunningService, "url">, z: number) =>
    drain(service, { ...sampled, format: "png", z, samples });
  try {
    await makeCube(folder, name, [nodes, 32], { fields });
    const frame = 4 * (fields.length === 1 ? 1 : 4) * nodes ** 3;
    const reading = isTimed ? await alone((service) => readBoxes(service, name, nodes)) : null;
    const making = await alone(({ engine }) => engine.makeLevels(engine.find(name) as never, [], {}));
    const store = join(folder, name, `${name}.levels`);
    const size = readdirSync(store, { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .reduce((sum, one) => sum + statSync(join(one.parentPath, one.name)).size, 0);
    if (reading !== null) {
      row("frame by boxes", "ms of CPU", reading.cpu);
      row("making", "ms of CPU", making.cpu);
      row("making", "of the time of reading", making.ms / reading.ms, "<= 1.3");
      const cold = await startOurs(join(folder, "state"), undefined, folder);
      const since = performance.now();
      await planeAt({ url: `http://127.0.0.1:${cold.port}` }, 3);
      row("first plane of a process", "ms", performance.now() - since, "<= 300");
      cold.process.kill();
    }
    row("making", "frames read", making.bytes / frame, "1");
    row("space", "of the frame", size / frame, "<= 0.16");
    // Half a period away, no brick is shared.
    const plane = await alone(...([3, 6].map((z) => (service) => planeAt(service, z)) as [Step, Step]));
    const volume = await alone((service) => drain(service, { ...sampled, samples }));
    for (const [text, { ms, cpu, bytes }, bricks, aim] of [
      ["plane", plane, (samples / 32) ** 2, "<= 300"],
      ["volume", volume, (samples / 32) ** 3, "<= 1500"],
    ] as const) {
      if (isTimed) row(`first ${text}`, "ms", ms, aim);
      if (isTimed) row(`first ${text}`, "ms of CPU", cpu);
      row(`first ${text}`, "of its bricks read", bytes / (wide * BRICK_BYTES * bricks), "<= 1.2");
    }
    // The value that 2 % of the volume exceed.
    let value = 0;
    await alone(async (service) => {
      const answer = await ask(service, { ...sampled, what: scalar, samples: 48, level: isTimed ? 0 : "auto" });
      const values = new Float32Array(await answer.arrayBuffer()).sort();
      value = Number(values[Math.floor(0.98 * values.length)]?.toFixed(4));
    });
    const where = `${scalar} > ${value}`;
    const found = await alone(async (service) => {
      const { total } = (await (await ask(service, { call: "find", where, limit: 1 })).json()) as { total: number };
      row(where, "of the volume", total / nodes ** 3);
    });
    row(`find ${where}`, "of its fields read", found.bytes / (4 * wide * nodes ** 3), "<= 0.4");
    const surface = { call: "nodes", what: scalar, isovalue: value, format: "f32" };
    const enclosing = await alone((service) => drain(service, surface));
    if (isTimed) row("isosurface of it", "ms of CPU", enclosing.cpu);
    row("isosurface of it", "of the bricks read", enclosing.bytes / (4 * wide * nodes ** 3), "<= 0.4");
    if (!isTimed) return rows;
    await alone(async (service) => {
      const since = performance.now();
      for (let i = 0; i < 20; i++) await planeAt(service, 3 + i / 10);
      row("play of a plane", "pictures/s", 20_000 / (performance.now() - since), ">= 10");
    });
    return rows;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
