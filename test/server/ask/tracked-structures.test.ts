/** Structures followed through frames: boxes that move over a seam, merge, split, are born and die. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { descriptor, type Index, writeDescriptor, writeField, writeHdf5 } from "../../support/cubes.js";
import { scratchFolder } from "../../support/scratch.js";
import { useTestData } from "../../support/service.js";
import { type AnyAnswer, ask, jsonOf, type Members } from "./ask.js";

const FRAMES = 5;
/** x of the rows that a box has, by frame; all have 2 by 3 nodes of y and z, but the first has 3 by 3, the last one. */
const MOVING = [0, 1, 2, 3, 4].map((t) => [8, 9, 10].map((x) => (x + t) % 12));
const PAIR = [
  [0, 1, 2, 4, 5, 6],
  [0, 1, 2, 4, 5, 6],
  [0, 1, 2, 3, 4, 5, 6],
  [0, 1, 2, 3, 4, 5, 6],
  [0, 1, 2, 3, 5, 6],
];
const isIn = ({ x, y, z, t }: Index): boolean =>
  (z < 3 && y < 3 && MOVING[t]?.includes(x) === true) ||
  (z < 3 && y >= 5 && y < 7 && PAIR[t]?.includes(x) === true) ||
  (z === 8 && y === 8 && x === 6 && (t === 2 || t === 3));

const folder = scratchFolder();
const density = { file: "boxes.h5", path: "/c", dimensions: ["t", "z", "y", "x"] as const };
await writeHdf5(join(folder, "boxes.h5"), (file) =>
  writeField(file, "/c", { ...density, lengths: { t: FRAMES }, value: (index) => (isIn(index) ? 1 : 0) }),
);
const time = { origin: 0, step: 1, count: FRAMES };
writeDescriptor(folder, { ...descriptor("boxes", { fields: { density } }), time });
const service = await useTestData([folder], { STATE: scratchFolder() }, false);

const ALL = { call: "structures", dataset: "boxes", where: "density > mean(density)", frame: "all" };
const question = (members: Members): Promise<AnyAnswer> => ask(service, members).then(jsonOf);

it("are linked by the volumes that they share, and followed where each is the other's largest", async () => {
  const { frames, structures, links, tracks, question: asked } = await question(ALL);
  expect(asked).toMatchObject({ track_overlap: 0 });
  expect(frames.map(({ count }: AnyAnswer) => count)).toEqual([3, 3, 3, 3, 3]);
  expect(frames[2]).toMatchObject({ frame: 2, time: 2, nodes: 42 + 27 + 1, missing: 0 });
  const rows = structures.map((one: AnyAnswer) =>
    [one.frame, one.number, one.volume, one.track, one.parents, one.children].join(" "),
  );
  expect(rows).toEqual([
    ...["0 1 27 1  1", "0 2 18 2  1", "0 3 18 3  1"],
    ...["1 1 27 1 1 1", "1 2 18 2 1 1", "1 3 18 3 1 1"],
    ...["2 1 42 2 2 1", "2 2 27 1 1 1", "2 3 1 4 0 1"],
    ...["3 1 42 2 1 2", "3 2 27 1 1 1", "3 3 1 4 1 0"],
    ...["4 1 27 1 1 ", "4 2 24 2 1 ", "4 3 12 5 1 "],
  ]);
  expect(links.map((one: AnyAnswer) => [one.frame, one.from, one.to, one.volume, one.overlap])).toEqual([
    ...[
      [0, 1, 1, 18, 18 / 27],
      [0, 2, 2, 18, 1],
      [0, 3, 3, 18, 1],
    ],
    ...[
      [1, 1, 2, 18, 18 / 27],
      [1, 2, 1, 18, 1],
      [1, 3, 1, 18, 1],
    ],
    ...[
      [2, 1, 1, 42, 1],
      [2, 2, 2, 18, 18 / 27],
      [2, 3, 3, 1, 1],
    ],
    ...[
      [3, 1, 2, 24, 1],
      [3, 1, 3, 12, 1],
      [3, 2, 1, 18, 18 / 27],
    ],
  ]);
  const [first_frame, last_frame] = [0, 4];
  expect(tracks).toEqual([
    { track: 1, first_frame, last_frame, begin: "censored", end: "censored" },
    { track: 2, first_frame, last_frame, begin: "censored", end: "censored" },
    { track: 3, first_frame, last_frame: 1, begin: "censored", end: "merge" },
    { track: 4, first_frame: 2, last_frame: 3, begin: "birth", end: "death" },
    { track: 5, first_frame: 4, last_frame, begin: "split", end: "censored" },
  ]);
  // The box that moves by one node in a unit of time, over the seam.
  const centres = structures.filter(({ track }: AnyAnswer) => track === 1).map(({ centre }: AnyAnswer) => centre[0]);
  for (const [t, x] of centres.entries()) expect(Math.cos((Math.PI / 6) * (x - 9 - t))).toBeCloseTo(1, 9);
});

it("need the overlap that is asked, after the least nodes", async () => {
  const strict = await question({ ...ALL, track_overlap: 0.7, least: 2 });
  const ends = strict.tracks.map((one: AnyAnswer) => [one.first_frame, one.last_frame, one.begin, one.end].join(" "));
  const moving = ["0 0 censored death", "1 1 birth death", "2 2 birth death", "3 3 birth death", "4 4 birth censored"];
  const pair = ["0 4 censored censored", "0 1 censored merge", "4 4 split censored"];
  expect(ends.toSorted()).toEqual([...moving, ...pair].toSorted());
});

it("have the same bits in a job, and warn where the flow is faster than they are long", async () => {
  const how = { where: "norm(omega) > 2*rms(norm(omega))", frame: "2:5", least: 3, what: "p" };
  const url = `${service.url}/api/datasets/isotropic32/structures`;
  const post = (more: Members): Promise<Response> =>
    fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...how, ...more }),
    });
  const whole = await (await post({})).text();
  const { id } = await jsonOf(await post({ job: true }));
  await (await fetch(`${service.url}/api/jobs/${id}/events`)).text();
  expect(await (await fetch(`${service.url}/api/jobs/${id}/result`)).text()).toBe(whole);
  const answer = JSON.parse(whole);
  // One threshold for all frames: the root of the mean of omega^2 over them.
  const one = await question({ call: "statistics", dataset: "isotropic32", what: "dot(omega, omega)", frame: "2:5" });
  expect(answer.means["rms(norm(omega))"]).toBeCloseTo(Math.sqrt(one.results[0].mean), 6);
  const far = await question({ call: "structures", dataset: "isotropic32", ...how, frame: [0, 11] });
  expect(far.warnings?.[0]).toMatch(/^between frames the flow moves up to/);
  const csv = await (await post({ format: "csv" })).text();
  expect(csv.split("\n")[0]).toMatch(/^frame,time,number,track,parents,children,nodes,volume,/);
  expect(csv.split("\n").length).toBe(answer.count + 2);
});

it.each([
  [{ frame: 1, track_overlap: 0.5 }, "track_overlap: it is of structures in several frames"],
  [{ track_overlap: 1 }, "track_overlap: expected 0 to below 1, not 1"],
  [{ frame: [2, 1] }, "time: structures are followed forwards"],
])("refuse %j in one line", async (members, words) => {
  const response = await ask(service, { ...ALL, ...members });
  expect([response.status, (await response.json()).detail]).toEqual([400, expect.stringContaining(words)]);
});
