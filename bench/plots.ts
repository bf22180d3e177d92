/**
 * `npm run bench:plots -- ROWS.json ...`: draws points per second against order, request size and dataset size into
 * docs/performance.
 */
import { readFileSync } from "node:fs";
import { collect, type Plot, short, ticksOf, writePlots } from "./draw.js";
import type { Row } from "./row.js";

const ORDERS = new Map([
  ["lag4", 4],
  ["lag6", 6],
  ["lag8", 8],
]);

function plots(rows: readonly Row[]): Plot[] {
  const batches = rows.filter(({ bench }) => bench === "kernel");
  const orders = collect(rows, (row) => {
    const x = row.bench === "peer" ? ORDERS.get(row.case) : undefined;
    return x === undefined ? null : { name: row.backend, x };
  });
  const sizes = collect(batches, ({ case: name, params }) =>
    name.endsWith("-batch") && params.nodes === 256 ? { name: name.slice(0, 4), x: Number(params.points) } : null,
  );
  const cubes = collect(batches, ({ case: name, params }) =>
    name === "lag8-batch" && params.points === 200_000 ? { name: "lag8", x: Number(params.nodes) } : null,
  );
  return [
    {
      file: "order.svg",
      title: "Points/s on one core, three components, 64^3 nodes",
      x: "nodes per axis of the stencil",
      ticks: ticksOf(orders, String),
      series: orders,
    },
    {
      file: "request-size.svg",
      title: "Points/s on one core, random points, sort included, 256^3 nodes",
      x: "points per request",
      ticks: ticksOf(sizes, short),
      series: sizes,
    },
    {
      file: "dataset-size.svg",
      title: "Points/s on one core, 200 000 random points, sort included",
      x: "nodes per axis of the cube",
      ticks: ticksOf(cubes, String),
      series: cubes,
    },
  ];
}

const rows = process.argv.slice(2).flatMap((file) => JSON.parse(readFileSync(file, "utf8")) as Row[]);
writePlots(plots(rows));
