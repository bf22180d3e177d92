/** Analyses as CSV and as NumPy files have the numbers of their JSON. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Dataset, File, ready } from "h5wasm/node";
import { parquetReadObjects } from "hyparquet";
import { describe, expect, it } from "vitest";
import { scratchFolder } from "../../../support/scratch.js";
import { useTestData } from "../../../support/service.js";
import { ask } from "../ask.js";

const service = await useTestData();

const post = (call: string, body: object, accept?: string) =>
  ask(service, { dataset: "isotropic32", call, ...body }, accept);

/** The columns of a NumPy file, read by the definition of its format. */
async function columnsOf(response: Response): Promise<Map<string, (number | string)[]>> {
  const bytes = Buffer.from(await response.arrayBuffer());
  const head = bytes.toString("latin1", 10, 10 + bytes.readUInt16LE(8));
  expect((10 + head.length) % 64).toBe(0);
  const types = [...head.matchAll(/\('([^']+)', '<([fU])(\d+)'\)/g)].map(([, name = "", kind, size]) => ({
    ...{ name, isText: kind === "U", size: Number(size) * (kind === "U" ? 4 : 1) },
  }));
  const rows = Number(/'shape': \((\d+),\)/.exec(head)?.[1]);
  const columns = new Map(types.map(({ name }) => [name, [] as (number | string)[]]));
  let at = 10 + head.length;
  for (let r = 0; r < rows; r++)
    for (const { name, isText, size } of types) {
      const letters = (): string =>
        Array.from({ length: size / 4 }, (_, i) => bytes.readUInt32LE(at + 4 * i))
          .filter((code) => code > 0)
          .map((code) => String.fromCodePoint(code))
          .join("");
      columns.get(name)?.push(isText ? letters() : bytes.readDoubleLE(at));
      at += size;
    }
  expect(at).toBe(bytes.length);
  return columns;
}

const PROFILE = { time: 0.6, over: ["x", "z"], reduce: [{ moments: "u.x" }] };
const SEPARATIONS = { time: 0.6, orders: [2, 3], separations: [1, 2, 4] };

async function variablesOf(response: Response): Promise<File> {
  const path = join(scratchFolder(), "table.nc");
  writeFileSync(path, Buffer.from(await response.arrayBuffer()));
  await ready;
  return new File(path, "r");
}

describe("forms of analyses", () => {
  it("refuse NetCDF of a table without rows, which CSV has", async () => {
    const asked = new URLSearchParams({ where: "p > 1e9", time: "0.6" });
    const url = `${service.url}/api/datasets/isotropic32/structures?${asked}`;
    const refused = await fetch(`${url}&format=nc`);
    expect([refused.status, (await refused.json()).member]).toEqual([400, "format"]);
    const csv = await fetch(`${url}&format=csv`);
    expect([csv.status, (await csv.text()).trim().split("\n").length]).toEqual([200, 1]);
  });

  it("have the profile and separations of JSON as NetCDF, along their axis and by number", async () => {
    const { results } = (await (await post("statistics", PROFILE)).json()) as { results: [Record<string, number[]>] };
    const answer = await post("statistics", PROFILE, "application/netcdf");
    expect(answer.headers.get("content-type")).toBe("application/netcdf");
    const profile = await variablesOf(answer);
    const read = (file: File, name: string) => [...((file.get(name) as Dataset).value as Float64Array)];
    expect(read(profile, "skewness")).toEqual(results[0].skewness);
    expect((profile.get("skewness") as Dataset).get_attached_scales(0)).toEqual(["/y"]);
    expect(profile.get_attribute("Conventions", true)).toBe("CF-1.11");
    profile.close();
    const { separations } = (await (await post("structure_functions", SEPARATIONS)).json()) as {
      separations: { axis: string; longitudinal: Record<2, number> }[];
    };
    const table = await variablesOf(await post("structure_functions", SEPARATIONS, "application/netcdf"));
    expect(read(table, "longitudinal_2")).toEqual(separations.map(({ longitudinal }) => longitudinal[2]));
    expect(read(table, "axis")).toEqual(separations.map(({ axis }) => "xyz".indexOf(axis)));
    expect((table.get("axis") as Dataset).get_attribute("flag_meanings", true)).toBe("x y z");
    expect((table.get("axis") as Dataset).get_attached_scales(0)).toEqual(["/row"]);
    table.close();
  });

  it("have the profile of JSON as CSV", async () => {
    const { results } = (await (await post("statistics", PROFILE)).json()) as { results: [Record<string, number[]>] };
    const csv = await post("statistics", PROFILE, "text/csv");
    expect(csv.headers.get("content-type")).toContain("text/csv");
    const [head = "", ...lines] = (await csv.text()).trimEnd().split("\r\n");
    const columns = head.split(",");
    expect(columns[0]).toBe("y");
    expect(lines).toHaveLength(32);
    lines.forEach((line, i) => {
      expect(Number(line.split(",")[columns.indexOf("skewness")])).toBe(results[0].skewness?.[i]);
    });
  });

  it("have the separations of JSON as NumPy and Parquet files, texts included", async () => {
    const { separations } = (await (await post("structure_functions", SEPARATIONS)).json()) as {
      separations: { axis: string; longitudinal: Record<string, number> }[];
    };
    const columns = await columnsOf(await post("structure_functions", SEPARATIONS, "application/x-npy"));
    expect(columns.get("axis")).toEqual(separations.map(({ axis }) => axis));
    expect(columns.get("longitudinal.3")).toEqual(separations.map(({ longitudinal }) => longitudinal["3"]));
    const file = await (await post("structure_functions", SEPARATIONS, "application/vnd.apache.parquet")).arrayBuffer();
    const rows = await parquetReadObjects({ file });
    expect(new Map(Object.keys(rows[0] ?? {}).map((name) => [name, rows.map((row) => row[name])]))).toEqual(columns);
  });

  it("refuse forms that there are not, in one line", async () => {
    expect((await post("statistics", PROFILE, "text/html")).status).toBe(406);
  });
});
