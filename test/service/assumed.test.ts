/** Answers that rest on accepted guesses say so in every interface: a header of HTTP, and a member of JSON. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { connect } from "../../src/client/index.js";
import { ask } from "../server/ask/ask.js";
import { descriptor, writeDescriptor, writeField, writeHdf5 } from "../support/cubes.js";
import { folderIn, scratchFolder } from "../support/scratch.js";
import { useTestData } from "../support/service.js";
import { call, getVelocity, PATH } from "../support/soap-service.js";

const SCRATCH = scratchFolder();
const HEADER = "guessed: order, spacing of x y";
const QUERY = { time: 0, spatialInterpolation: "None", temporalInterpolation: "None" } as const;

for (const name of ["guessed", "known"]) {
  const folder = folderIn(SCRATCH, name);
  await writeHdf5(join(folder, "u.h5"), (file) => writeField(file, "/u", { dimensions: ["z", "y", "x", "c"] }));
  const assumed = [
    { about: "order", question: "z y x c is a guess." },
    { about: "spacing", axes: ["x", "y"], question: "1 is a guess." },
  ];
  const fields = { velocity: { file: "u.h5", path: "/u", dimensions: ["z", "y", "x", "c"] } };
  const members = { time: { count: 1 }, fields, ...(name === "guessed" ? { assumed } : {}) };
  writeDescriptor(folder, descriptor(name, members));
}
const service = await useTestData([SCRATCH]);

const soap = (dataset: string) =>
  call({ url: service.url + PATH }, "1.1", getVelocity({ ...QUERY, time: "0", dataset }));

function api(dataset: string, accept: string): Promise<Response> {
  const how = { what: "u", time: 0, method: "nearest", time_method: "nearest", points: [[1, 2, 3]] };
  return ask(service, { dataset, call: "values", ...how }, accept);
}

it("names them in a header that clients which do not know it ignore", async () => {
  for (const answer of [
    await soap("guessed"),
    await api("guessed", "application/json"),
    await api("guessed", "text/csv"),
    await api("guessed", "application/octet-stream"),
  ]) {
    expect(answer.status).toBe(200);
    expect(answer.headers.get("fieldprobe-assumed")).toBe(HEADER);
    expect(answer.headers.get("fieldprobe-manifest")).toMatch(/^[0-9a-f]{64}$/);
  }
  for (const path of ["grid?what=norm(u)&time=0&z=3&samples=2", "nodes?frame=0&i=0:2&j=0:2&k=0:2&format=xmf"]) {
    const answer = await fetch(`${service.url}/api/datasets/guessed/${path}`);
    expect([path, answer.status, answer.headers.get("fieldprobe-assumed")]).toEqual([path, 200, HEADER]);
    await answer.arrayBuffer();
  }
  const client = await connect(service.url);
  const { values } = await client.GetVelocity({ dataset: "guessed", ...QUERY, points: [[1, 2, 3]] });
  expect(values).toHaveLength(3);
});

it("has no such header where everything is known", async () => {
  for (const answer of [await soap("known"), await api("known", "text/csv")])
    expect(answer.headers.has("fieldprobe-assumed")).toBe(false);
});
