/** `npm run bench:cluster`: what a cluster costs against one process, in turn in one run, and its tail with a stopped worker. */
import { fileURLToPath } from "node:url";
import type { Engine, Query } from "../dist/engine/query.js";
import { ask, openOn, pointsIn } from "./ask.js";
import { type Cluster, missingServer, openGateway, startCluster } from "./cluster-processes.js";
import { randomNumbers } from "./field.js";
import { quantile, type Row, readOptions, report, summarise } from "./row.js";

const POINTS = 1_000_000;
const PERIOD = 2 * Math.PI;
const CACHE_BYTES = 128 * 1024 * 1024;
const DATA = fileURLToPath(new URL("../data", import.meta.url));
/** Points of a message that are compared. */
const MESSAGE_POINTS = [32_768, 65_536] as const;
/** Rounds before the first query is measured, and before others: a process runs code that is not compiled for hundreds of messages. */
const WARM_UP = { first: 100, others: 2, quick: 2 } as const;
const COMMON = { dataset: "isotropic32", time: 0.31 } as const;
const HEDGE_MS = 100;
/** So few points go out as one batch: the time of a query is that of its batch. */
const SMALL = 1024;

/** Milliseconds that a query took, and that all processors spent on it. */
interface Cost {
  readonly wall: number;
  readonly cpu: number;
}

async function costOf(engine: Engine, cluster: Cluster, query: Query, points: Float32Array): Promise<Cost> {
  const before = process.cpuUsage();
  const elsewhere = cluster.cpu();
  const { milliseconds } = await ask(engine, query, points);
  const { user, system } = process.cpuUsage(before);
  return { wall: milliseconds, cpu: (user + system) / 1000 + cluster.cpu() - elsewhere };
}

/** Rows of one query: one process, then the cluster with messages of each size, and their ratios round by round. */
async function costRows(
  query: Query,
  alone: Engine,
  gateways: ReadonlyMap<number, Engine>,
  cluster: Cluster,
  points: Float32Array,
  { rounds, warmUp }: { readonly rounds: number; readonly warmUp: number },
): Promise<Row[]> {
  const contestants: [messagePoints: number, engine: Engine, costs: Cost[]][] = [[0, alone, []]];
  for (const [messagePoints, engine] of gateways) contestants.push([messagePoints, engine, []]);
  for (let round = -warmUp; round < rounds; round++) {
    for (const [, engine, costs] of contestants) {
      const cost = await costOf(engine, cluster, query, points);
      if (round >= 0) costs.push(cost);
    }
  }
  const single = (contestants[0] as (typeof contestants)[number])[2];
  return contestants.flatMap(([messagePoints, , costs]) =>
    (["cpu", "wall"] as const).flatMap((of): Row[] => {
      const { spatialInterpolation = "None", temporalInterpolation = "None" } = query;
      const asked = { points: POINTS, spatial: spatialInterpolation, temporal: temporalInterpolation };
      const name = `${query.operation} ${of === "cpu" ? "CPU" : "wall"}`;
      const figures = costs.map((cost) => cost[of]);
      if (messagePoints === 0) {
        const params = { ...asked, workers: 2 };
        return [{ bench: "cluster", case: name, backend: "one process", unit: "ms", params, ...summarise(figures) }];
      }
      const row = { bench: "cluster", backend: "cluster", params: { ...asked, workers: 2, messagePoints } } as const;
      const ratios = figures.map((figure, i) => figure / (single[i] as Cost)[of]);
      return [
        { ...row, case: name, unit: "ms", ...summarise(figures) },
        { ...row, case: `${name} cluster/one`, unit: "ratio", ...summarise(ratios) },
      ];
    }),
  );
}

/** Response times before and after the worker that the points belong to was stopped. */
async function stoppedRows(points: Float32Array, queries: number): Promise<Row[]> {
  const cluster = await startCluster(["w1", "w2", "w3"]);
  const gateway = await openGateway(cluster, { HEDGE_MS: String(HEDGE_MS) });
  try {
    const query = { ...COMMON, operation: "GetVelocityHessian", spatialInterpolation: "Fd4Lag4" } as const;
    const small = points.subarray(0, 3 * SMALL);
    for (let i = 0; i < 5; i++) await ask(gateway, query, points.subarray(0, 600_000));
    const many = async (): Promise<number[]> => {
      const times: number[] = [];
      for (let i = 0; i < queries; i++) times.push((await ask(gateway, query, small)).milliseconds);
      return times;
    };
    await many();
    const usual = await many();
    const running = ask(gateway, query, small);
    let victim: string | undefined;
    while (victim === undefined) {
      await new Promise((resolve) => setImmediate(resolve));
      victim = gateway.status().peers.find(({ outstanding }) => outstanding > 0)?.name;
    }
    await running;
    const child = cluster.workers.get(victim);
    child?.kill("SIGSTOP");
    const stopped = await many();
    child?.kill("SIGCONT");
    const params = { points: SMALL, workers: 3, queries, hedgeMs: HEDGE_MS };
    const row = (name: string, value: number): Row => ({
      bench: "cluster",
      case: name,
      backend: "cluster",
      value,
      unit: "ms",
      spread: 0,
      rounds: 1,
      params,
    });
    const batch = quantile(usual, 0.5);
    return [
      row("query p50, all workers", batch),
      row("query p50, one stopped", quantile(stopped, 0.5)),
      row("query p99, one stopped", stopped.toSorted((a, b) => b - a)[Math.floor(stopped.length / 101)] as number),
      row("bound of p99: hedge + 3 p50", HEDGE_MS + 3 * batch),
    ];
  } finally {
    await gateway.close(1000);
    cluster.close();
  }
}

const options = readOptions();
const reason = missingServer();
const rows: Row[] = [];
if (reason !== null) process.stdout.write(`cluster skipped: ${reason}\n`);
else {
  const points = pointsIn(randomNumbers(17), POINTS, -1.5 * PERIOD, 3 * PERIOD);
  const cluster = await startCluster(["w1", "w2"]);
  const alone = await openOn(DATA, 2, CACHE_BYTES);
  const gateways = new Map<number, Engine>();
  try {
    for (const size of MESSAGE_POINTS)
      gateways.set(size, await openGateway(cluster, { HEDGE_MS: "10000", MESSAGE_POINTS: String(size) }));
    const rounds = options.quick ? 3 : 9;
    const queries: Query[] = (["Lag4", "Lag6", "Lag8"] as const).flatMap((spatialInterpolation) =>
      (["None", "PCHIP"] as const).map((temporalInterpolation) => {
        return { ...COMMON, operation: "GetVelocity", spatialInterpolation, temporalInterpolation } as const;
      }),
    );
    const hessian = { ...COMMON, operation: "GetVelocityHessian", spatialInterpolation: "Fd4Lag4" } as const;
    queries.push({ ...hessian, temporalInterpolation: "None" }, { ...hessian, temporalInterpolation: "PCHIP" });
    if (options.quick) queries.splice(1, 6);
    for (const [i, query] of queries.entries()) {
      const warmUp = options.quick ? WARM_UP.quick : i === 0 ? WARM_UP.first : WARM_UP.others;
      rows.push(...(await costRows(query, alone, gateways, cluster, points, { rounds, warmUp })));
    }
  } finally {
    for (const engine of [...gateways.values(), alone]) await engine.close(1000);
    cluster.close();
  }
  rows.push(...(await stoppedRows(points, 100)));
}
report(rows, options);
