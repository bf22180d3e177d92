/** Compares spectra and filters of white noise with numpy.fft; they are skipped if it is not there. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningService } from "../../../../src/main.js";
import { writeCube } from "../../../../tools/generate/cube.js";
import { askNumpy, NUMPY, WITHOUT, writeRaw } from "../../../support/analysis-data.js";
import { scratchFolder } from "../../../support/scratch.js";
import { serveTestData } from "../../../support/service.js";
import { ask as askOf } from "../ask.js";

const NODES = [20, 18, 27] as const;
const QUANTITIES = ["u", "u.x", "u.y * u.z"];
const AXES = ["x", "y", "z"] as const;

const requests: readonly (readonly [call: string, given: readonly unknown[], body: object])[] = [
  ...QUANTITIES.map((of) => ["spectrum", [of, "shell", 0], { what: [of] }] as const),
  ...QUANTITIES.flatMap((of) =>
    AXES.flatMap((axis, a) =>
      (["line", "plane"] as const).map((kind) => ["spectrum", [of, kind, a], { what: [of], kind, axis }] as const),
    ),
  ),
  ...["helicity", "transfer"].map((name) => ["extra", [name], { terms: [name] }] as const),
  ...(["gaussian", "sharp", "tophat"] as const).flatMap((kind) =>
    [0.3, 0.95, 2.1].map((width) => ["filter", [kind, width], { kind, width }] as const),
  ),
];

function near(ours: unknown, oracle: unknown, path: string): void {
  if (Array.isArray(oracle)) {
    expect(ours, path).toHaveLength(oracle.length);
    for (const [i, one] of oracle.entries()) near((ours as unknown[])[i], one, `${path}[${i}]`);
  } else expect(Math.abs((ours as number) - (oracle as number)), `${path}: ${ours} for ${oracle}`).toBeLessThan(1e-12);
}

describe.skipIf(NUMPY === undefined)(`transforms agree with numpy.fft${WITHOUT}`, () => {
  const folder = scratchFolder();
  let service: RunningService;
  let answers: readonly unknown[];
  beforeAll(async () => {
    const cube = { kind: "random", nodes: NODES, steps: 1, chunk: [8, 16, 32], filter: "none", seed: 3 } as const;
    await writeCube({ ...cube, name: "noise", folder }, () => undefined);
    const velocity = join(folder, "velocity");
    await writeRaw(join(folder, "noise.h5"), "/velocity", velocity);
    const script = fileURLToPath(new URL("../../../analysis/spectral-oracle.py", import.meta.url));
    answers = askNumpy(script, { nodes: NODES, velocity, requests: requests.map(([call, given]) => [call, given]) });
    service = await serveTestData([folder]);
  }, 60_000);
  afterAll(() => service.close());

  const ask = async (call: string, body: object): Promise<Readonly<Record<string, unknown>>> =>
    (await askOf(service, { dataset: "noise", call, frame: [0], ...body })).json();

  it.each(requests.map(([call, given, body], i) => [call, given, body, i] as const))(
    "%s %j",
    async (call, given, body, i) => {
      if (call === "spectrum") near((await ask("spectrum", body)).E, answers[i], "E");
      else if (call === "extra")
        near((await ask("spectrum", body))[given[0] as string], answers[i], given[0] as string);
      else {
        const reduce = ["dot(filter(u), filter(u))", "tr(tau)", "Pi", "Pi^2"].map((moments) => ({ moments }));
        const { results } = await ask("statistics", { filter: body, derivatives: "spectral", reduce });
        const means = (results as readonly { readonly mean: number }[]).map(({ mean }) => mean);
        near(means, answers[i], "means");
      }
    },
  );
});
