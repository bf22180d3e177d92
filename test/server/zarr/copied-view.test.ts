/** A copy of the view of a dataset is served unasked, with its axes, ends, times, units, viscosity and numbers. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { RunningService } from "../../../src/main.js";
import { writeDatasets } from "../../browser/datasets.js";
import { serveCopies } from "../../support/copied-view.js";
import { descriptor, writeDescriptor, writeField, writeHdf5 } from "../../support/cubes.js";
import { scratchFolder } from "../../support/scratch.js";
import { SHIPPED_DATA, serveTestData } from "../../support/service.js";

const NAMES = ["isotropic32", "turbulent-channel", "walled", "walls", "perforated", "layer", "magnetised", "cells"];
let [service, copies] = [] as unknown as [RunningService, RunningService];

beforeAll(async () => {
  // Cells between a wall and an open end, in a box that moves.
  const folder = scratchFolder();
  const dimensions = ["t", "z", "y", "x", "c"] as const;
  await writeHdf5(join(folder, "f.h5"), (file) =>
    writeField(file, "/u", { dimensions, lengths: { x: 12, y: 9, z: 10, t: 3 }, value: ({ n }) => Math.sin(n) }),
  );
  writeDescriptor(
    folder,
    descriptor("cells", {
      axes: {
        x: { nodes: 12, origin: 0.05, spacing: 0.1, faces: ["wall", "open"], edges: [0, 1.2] },
        y: { coordinates: [0, 1, 2, 4, 6, 9, 12, 16, 20], edges: [-0.5, 22], faces: "open" },
        z: { nodes: 10, origin: 1, spacing: 0.2, periodic: true },
      },
      time: { values: [0, 0.1, 0.3] },
      ...{ viscosity: 1e-3, frameVelocity: [0, 0, 0.5], dnsStep: 0.01, openFaces: "stop" },
      fields: { velocity: { file: "f.h5", path: "/u", dimensions } },
    }),
  );
  service = await serveTestData([folder, join(SHIPPED_DATA, "../turbulent-channel"), ...(await writeDatasets())]);
  copies = await serveCopies(service.url, NAMES);
});
afterAll(() => Promise.all([service.close(), copies.close()]));

/** What a service says of a dataset, and what it answers between nodes at its last time. */
async function answersOf({ url }: RunningService, name: string) {
  const { axes, fields, units, times, ...about } = await (await fetch(`${url}/api/datasets/${name}`)).json();
  const points = Array.from({ length: 40 }, (_, i) =>
    axes.map(({ first, last }: Record<"first" | "last", number>, a: number) => {
      return first + (0.1 + 0.8 * ((0.37 * (i + 1) * (a + 1.3)) % 1)) * (last - first);
    }),
  );
  const body = { what: ["u", "A"], points, time: times.stored.at(-1), method: "Lag4", derivatives: "Fd4" };
  const values = await fetch(`${url}/api/datasets/${name}/values`, {
    ...{ method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) },
  });
  const { title, source, viscosity, frameVelocity, dnsStep, openFaces } = about;
  const stated = { title, source, viscosity, frameVelocity, dnsStep, openFaces, axes, fields, units };
  return { ...stated, times: times.stored, rows: (await values.json()).rows };
}

it.each(NAMES)("%s", async (name) => {
  const own = await answersOf(service, name);
  expect(own.rows).toHaveLength(40);
  expect(await answersOf(copies, name)).toEqual(own);
});
