/**
 * Makes the plots of docs/performance from the rows of the benches: points per second against order, request size,
 * dataset size, worker threads and points in flight.
 */
import { collect, type Plot, short, ticksOf } from "./draw.js";
import type { Row } from "./row.js";

const ORDERS = new Map([
  ["lag4", 4],
  ["lag6", 6],
  ["lag8", 8],
]);

/** The plots; those whose rows are missing have no series. */
export function plotsOf(rows: readonly Row[]): Plot[] {
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
  const against = (name: string) =>
    collect(rows, ({ bench, case: question, params }) =>
      bench !== "scale" || params[name] === undefined ? null : { name: question, x: Number(params[name]) },
    );
  const workers = against("workers");
  const inFlight = against("inFlight");
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
    {
      file: "workers.svg",
      title: "Points/s over SOAP, two requests of 100 000 points at a time",
      x: "worker threads",
      ticks: ticksOf(workers, String),
      series: workers,
    },
    {
      file: "in-flight.svg",
      title: "Points/s over SOAP, all cores",
      x: "points in flight",
      ticks: ticksOf(inFlight, short),
      series: inFlight,
    },
  ];
}
