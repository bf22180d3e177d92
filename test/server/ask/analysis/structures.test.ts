/** Structures of the shipped turbulence are those published, across seams, and labels are a NumPy array. */
import { describe, expect, it } from "vitest";
import { useTestData } from "../../../support/service.js";
import { type AnyAnswer, ask as askOf } from "../ask.js";

const service = await useTestData();

const post = (body: object) => askOf(service, { dataset: "isotropic32", call: "structures", ...body });
const ask = async (body: object) => (await post(body)).json() as Promise<AnyAnswer>;
const asked = { time: 0.6, where: "norm(omega) > 2 * rms(norm(omega))" };
const sizes = ({ structures }: AnyAnswer): string =>
  Int32Array.from(structures, ({ nodes }: AnyAnswer) => nodes)
    .sort()
    .reverse()
    .join(" ");
const h = Math.PI / 16;

describe("structures of vorticity at 0.6", () => {
  it.each([
    [6, "1113 90 72 41 2 1 1 1"],
    [18, "1206 72 42 1"],
    [26, "1278 42 1"],
  ])("across seams, with %i neighbours, are those published", async (connectivity, published) => {
    const answer = await ask({ ...asked, connectivity });
    expect(2 * answer.means["rms(norm(omega))"]).toBeCloseTo(3.4815719743, 9);
    expect(answer.nodes).toBe(1321);
    expect(sizes(answer)).toBe(published);
  });

  it("end at the faces of a region that is not the whole period", async () => {
    const region = { x: `0:${30.5 * h}`, y: `0:${32 * h}`, z: `0:${32 * h}` };
    const open = await ask({ time: 0.6, where: "norm(omega) > 3.4815719743", ...region, connectivity: 6 });
    expect(open.structures.some(({ wraps }: AnyAnswer) => wraps[0])).toBe(false);
    expect(open.structures.some(({ wraps }: AnyAnswer) => wraps[1] || wraps[2])).toBe(true);
  });

  it("have volumes, boxes, centres and properties that fit together", async () => {
    const answer = await ask({ ...asked, connectivity: 26, what: ["norm(omega)", "1"], least: 2 });
    expect(answer.count).toBe(2);
    for (const { nodes, volume, properties, box, centre } of answer.structures) {
      expect(volume / nodes / h ** 3).toBeCloseTo(1, 12);
      expect(properties["1"].integral).toBeCloseTo(volume, 12);
      const w = properties["norm(omega)"];
      expect(w.min).toBeGreaterThan(3.4815719743);
      expect(w.mean).toBeGreaterThan(w.min);
      expect(w.max).toBeGreaterThan(w.mean);
      centre.forEach((at: number, a: number) => {
        const [low, high] = [box[0][a], box[1][a]];
        expect(high).toBeGreaterThanOrEqual(low);
        expect([at, at + 2 * Math.PI].some((one) => one >= low && one <= high)).toBe(true);
      });
    }
    const below = await ask({ time: 0.6, where: "-norm(omega) < -3.4815719743", connectivity: 26, least: 2 });
    expect(sizes(below)).toBe(sizes(answer));
  });

  it("have labels by their places in the list", async () => {
    const list = await ask({ ...asked, least: 2 });
    const response = await post({ ...asked, least: 2, labels: true, format: "npy" });
    expect(response.headers.get("content-type")).toBe("application/x-npy");
    expect(response.headers.get("fieldprobe-shape")).toBe("32,32,32");
    const bytes = Buffer.from(await response.arrayBuffer());
    const head = 10 + bytes.readUInt16LE(8);
    expect(bytes.subarray(10, head).toString()).toContain(
      "'descr': '<i4', 'fortran_order': False, 'shape': (32, 32, 32)",
    );
    const labels = new Int32Array(Uint8Array.from(bytes.subarray(head)).buffer);
    const counted = list.structures.map((_: unknown, i: number) => labels.filter((label) => label === i + 1).length);
    expect(counted).toEqual(list.structures.map(({ nodes }: AnyAnswer) => nodes));
    expect(labels.filter((label) => label > list.count)).toHaveLength(0);
  });

  it.each([
    [{ frame: "all", where: "p > 0", labels: true }, "labels: they are of one frame, and several are followed."],
    [{ time: 0.6, where: "p > 0", connectivity: 7 }, "connectivity: expected one of 6, 18, 26"],
    [{ time: 0.6, where: "p* > 0" }, "where: "],
    [{ time: 0.6, where: "p > 0", what: ["bad"] }, "nothing has the name bad"],
    [{ time: 0.6, where: "p > much" }, "where: nothing has the name much"],
  ])("%j is refused", async (body, text) => {
    const { status, detail } = await ask(body);
    expect([status, detail]).toEqual([400, expect.stringContaining(text)]);
    expect(detail.split("\n")).toHaveLength(1);
  });
});
