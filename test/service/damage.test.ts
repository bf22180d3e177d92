/**
 * Damage seen from outside: only queries that touch it fail, a file that changes fails them all, and the rest goes on.
 */
import { readFileSync, renameSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { connect } from "../../src/client/index.js";
import { ask as askOf } from "../server/ask/ask.js";
import { stateGrid, writeHdf5 } from "../support/cubes.js";
import { operationQuestion } from "../support/operation-questions.js";
import { folderIn, scratchFolder } from "../support/scratch.js";
import { serveTestData } from "../support/service.js";

const SCRATCH = scratchFolder();
const N = 64;
const EDGE = 16;
const value = (x: number, y: number, z: number, c: number) => Math.fround(Math.sin(x + 7 * y + 31 * z + 101 * c));

async function writeCube(path: string): Promise<void> {
  const data = new Float32Array(3 * N ** 3);
  for (let i = 0; i < data.length; i++) {
    const node = Math.floor(i / 3);
    data[i] = value(node % N, Math.floor(node / N) % N, Math.floor(node / N ** 2), i % 3);
  }
  const spec = { name: "velocity", data, shape: [N, N, N, 3], chunks: [EDGE, EDGE, EDGE, 3] };
  await writeHdf5(path, (file) => {
    stateGrid(file);
    file.create_dataset({ ...spec, compression: 3, compression_opts: [] });
  });
}

const folder = folderIn(SCRATCH, "data");
for (const name of ["damaged", "replaced", "refused"]) await writeCube(join(folder, `${name}.h5`));
const bytes = readFileSync(join(folder, "damaged.h5"));
const middle = bytes.length >> 1;
bytes[middle] = (bytes[middle] as number) ^ 0x10;
writeFileSync(join(folder, "damaged.h5"), bytes);
const service = await serveTestData([folder], { STATE: scratchFolder(), EVENTS: "off" }, false);
const soap = await connect(service.url);
afterAll(() => service.close());

const request = (dataset: string, point: readonly [number, number, number]) =>
  ({ dataset, time: 0, spatialInterpolation: "None", temporalInterpolation: "None", points: [point] }) as const;

const CENTRES = Array.from({ length: (N / EDGE) ** 3 }, (_, i): [number, number, number] => {
  const at = [i % 4, Math.floor(i / 4) % 4, Math.floor(i / 16)].map((chunk) => chunk * EDGE + EDGE / 2);
  return at as [number, number, number];
});

describe("a damaged chunk", () => {
  it("fails a job, of which the typed client says why", async () => {
    const { id } = await soap.submit("damaged", "statistics", { what: "u", time: 0 });
    await expect(soap.result(id)).rejects.toThrow("velocity of frame 0 cannot be read");
  });

  it("fails the queries that touch it with DataError, again and again, and no others", async () => {
    const bad: [number, number, number][] = [];
    for (const point of CENTRES) {
      const answer = await soap.GetVelocity(request("damaged", point)).catch((error: unknown) => error);
      if (answer instanceof Error) {
        expect(answer).toMatchObject({ code: "DataError", message: expect.not.stringContaining(SCRATCH) });
        bad.push(point);
      } else {
        expect([...(answer as { values: Float32Array }).values]).toEqual([0, 1, 2].map((c) => value(...point, c)));
      }
    }
    expect(bad).toHaveLength(1);
    for (let i = 0; i < 20; i++)
      await expect(soap.GetVelocity(request("damaged", bad[0] as [number, number, number]))).rejects.toMatchObject({
        code: "DataError",
      });
  });
});

describe("a file replaced while it is served", () => {
  it("fails what is not in the cache yet, and leaves other datasets alone", async () => {
    const [first, second] = CENTRES as [[number, number, number], [number, number, number]];
    await soap.GetVelocity(request("replaced", first));
    const path = join(SCRATCH, "data", "replaced.h5");
    await writeCube(`${path}.partial`);
    renameSync(`${path}.partial`, path);
    await expect(soap.GetVelocity(request("replaced", second))).rejects.toMatchObject({ code: "DataError" });
    const { values } = await soap.GetVelocity(request("damaged", first));
    expect([...values]).toEqual([0, 1, 2].map((c) => value(...first, c)));
  });
});

describe("a dataset whose files have changed and are refused", () => {
  const path = join(SCRATCH, "data", "refused.h5");
  const [centre = [0, 0, 0]] = CENTRES;
  const { dataset, ...members } = request("refused", centre);
  const ask = () => askOf(service, { dataset, call: "values", ...operationQuestion("GetVelocity", members) });

  it("is 503 until they are mended, a fault of the server, and has its page", async () => {
    const whole = readFileSync(path);
    expect((await ask()).status).toBe(200);
    truncateSync(path, whole.length >> 1);
    await service.reload();
    const answer = await ask();
    expect(await answer.json()).toMatchObject({
      status: 503,
      code: "DataError",
      detail: expect.stringMatching(/^refused is not served now: its files have changed and are refused/),
    });
    expect(answer.headers.get("retry-after")).toBe("30");
    expect((await fetch(`${service.url}/view/refused`)).status).toBe(200);
    await expect(soap.GetVelocity(request("refused", centre))).rejects.toMatchObject({ code: "DataError" });
    writeFileSync(path, whole);
    await service.reload();
    expect((await ask()).status).toBe(200);
  });
});
