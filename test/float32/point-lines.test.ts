import { describe, expect, it } from "vitest";
import { PointLines } from "../../src/float32/point-lines.js";

function csv(text: string): number[] {
  const lines = new PointLines();
  for (const line of text.split("\n")) lines.add(line);
  return Array.from(lines.rows, lines.columns.includes("t") ? Number : Math.fround);
}

describe("lines of points", () => {
  it("reads three numbers a line, with or without a header, in every notation", () => {
    expect(csv("1,2,3\n")).toEqual([1, 2, 3]);
    expect(csv("x,y,z\n1,2,3\n-4.5, .5 ,+6e-1\n")).toEqual([1, 2, 3, -4.5, 0.5, Math.fround(0.6)]);
    expect(csv("# x y z\r\n1,2,3\r\n\r\n4,5,6")).toEqual([1, 2, 3, 4, 5, 6]);
    expect(csv("\uFEFFx,y,z\n1,2,3")).toEqual([1, 2, 3]);
    expect(csv("x [m], Y, z (10)\n1,2,3")).toEqual([1, 2, 3]);
    expect(() => csv("x,y+,z\n1,2,3")).toThrow("does not name one column each x, y and z");
    expect(csv("# 3 columns\n1,2,3")).toEqual([1, 2, 3]);
    expect(csv("1.0e+00 2 3\n4\t5\t6\n 7;8; 9\n")).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(csv('"x","y","z"\n"1","-2.5","3e1"\n1,"2",3')).toEqual([1, -2.5, 30, 1, 2, 3]);
    expect(csv("")).toEqual([]);
  });

  it("rounds every number once", () => {
    // Just above the midpoint of 1 and the next float32; a double holds the midpoint alone.
    expect(
      csv("1.000000059604644775390625000001,-1.000000059604644775390625000001,1.000000059604644775390625"),
    ).toEqual([1 + 2 ** -23, -1 - 2 ** -23, 1]);
  });

  it("takes columns by the names of a header, in any order and among others", () => {
    expect(csv("z,y,x\n3,2,1\n")).toEqual([1, 2, 3]);
    expect(csv("id;x;name;y;z\n7;1;a b;2;3\n")).toEqual([1, 2, 3]);
    expect(csv('"Points:2","Points:1","Points:0","speed"\n3,2,1,nan\n')).toEqual([1, 2, 3]);
    expect(csv("# Y X Z\n2 1 3\n2, 1, 3\n2;1; 3\n")).toEqual([1, 2, 3, 1, 2, 3, 1, 2, 3]);
    expect(csv("name\tx\ty\tz\nsite 2\t1\t2\t3\n")).toEqual([1, 2, 3]);
    expect(csv("pos_x,pos_z,pos_y\n1,3,2")).toEqual([1, 2, 3]);
    expect(csv('"z","name","y","x"\n3,"a, ""b"", c",2,1\n6,5" pipe,5,"4"')).toEqual([1, 2, 3, 4, 5, 6]);
    expect(csv('x;y;z;"a;b"\n1;2;3;"c, d"\n4;5;6;7')).toEqual([1, 2, 3, 4, 5, 6]);
    expect(csv("# made by a.m\n\nx , y , z\n1 , 2,3")).toEqual([1, 2, 3]);
    expect(csv("VX,vz,vy,t,x,y,z\n5,7,6,0.1,1,2,3")).toEqual([1, 2, 3, 0.1, 5, 6, 7]);
  });

  it.each<[string, (text: string) => Buffer]>([
    ["UTF-8", (text) => Buffer.from(text)],
    ["UTF-16", (text) => Buffer.from(text, "utf16le")],
    ["UTF-16, the high byte first", (text) => Buffer.from(text, "utf16le").swap16()],
  ])("reads bytes in %s, in parts of any length, with a byte order mark and without", (_, encode) => {
    for (const [mark, step] of [
      ["\uFEFF", 3],
      ["", 1000],
    ] as const) {
      const bytes = encode(`${mark}x [µm],y,z\r\n1,2,3\r\n4,5,6`);
      const lines = new PointLines();
      for (let at = 0; at < bytes.length; at += step)
        lines.addBytes(bytes.subarray(at, at + step), at + step >= bytes.length);
      expect([...lines.rows]).toEqual([1, 2, 3, 4, 5, 6]);
      expect(lines.header.units).toEqual([{ name: "x", unit: "µm" }]);
    }
    expect(() => new PointLines().addBytes(encode("1".repeat(5000)), false)).toThrow("a line is too long");
  });

  it("knows the units of columns", () => {
    const lines = new PointLines();
    lines.add("x [m],speed [kn],y,Z (mm),time [ms],vx [m/s],vy,vz");
    expect(lines.header.units.map(({ name, unit }) => `${name} ${unit}`)).toEqual(["x m", "z mm", "t ms", "vx m/s"]);
  });

  it.each([
    ...["x,y,y", "x,y", "a,b,c", "x,y,z,pos_x", "# x y"].map((header) => [header, "each x, y and z"]),
    ...["x,y,z,vx", "vy,vx,x,y,z", "x,y,z,vx,vx,vy,vz"].map((header) => [header, "each vx, vy and vz"]),
    ["x,y,z,t,time", "t"],
  ])("refuses the header %s", (header, columns) =>
    expect(() => csv(header)).toThrow(`does not name one column ${columns}`),
  );

  it.each(["#", "%"])(
    "passes over lines that begin with %j before the first point, and takes a header there",
    (mark) => {
      const text = "# a.mph, of vx\n# y x z\n# in metres\n2 1 3\n5 4 6".replaceAll("#", mark);
      expect(csv(text)).toEqual([1, 2, 3, 4, 5, 6]);
      expect(csv(`name,x,y,z\n${mark}a,1,2,3\n${mark},4,5,6`)).toEqual([1, 2, 3, 4, 5, 6]);
      expect(csv(`# name x y z\n${mark}a 1 2 3`)).toEqual([1, 2, 3]);
      expect(csv(`# name x y z\na 1 2 3\n${mark}b 4 5 6`)).toEqual([1, 2, 3, 4, 5, 6]);
      for (const text of ["1 2 3\n#4 5 6", "1 2 3\n# half\n4 5 6", "x,y,z\n#1,2,3", "n,x,y,z\n#a,1,2"])
        expect(() => csv(text.replace("#", mark))).toThrow("line 2: three numbers expected");
    },
  );

  it.each([
    ["0,1,2,3\n1,4,5,6\n2,2,2,2", "name the columns in a header"],
    ["1,1,2,3\n2,4,5,6", "name the columns in a header"],
    ["1,2,3,0\n1,4,5,0\n", null],
    ["0,1,2,3", null],
    ["i,x,y,z\n0,1,2,3\n1,4,5,6", null],
    ["x,y,z,t\n0,1,2,3\n1,4,5,6", null],
    ["0,1,2\n3,4,5", "line 1 numbers the columns as pandas does"],
    ['"0";"1";"2"\n3;4;5', "line 1 numbers the columns as pandas does"],
    ["0,1,2,3\n5,6,7,8", "line 1 numbers the columns as pandas does"],
    ["0.0,1.0,2.0\n3,4,5", null],
    ["x,y,z\n0,1,2\n3,4,5", null],
    ["0,1,2", null],
  ])("of %j, columns without names that may be numbered are asked about: %s", (text, reason) => {
    const lines = new PointLines();
    for (const line of text.split("\n")) lines.add(line);
    if (reason !== null) expect(() => lines.requireNamed()).toThrow(reason);
    else lines.requireNamed();
  });

  it("reads more points than its first buffer holds", () => {
    const lines = Array.from({ length: 5000 }, (_, i) => `${i},${i + 0.5},${-i}`);
    const points = csv(`x,y,z\n${lines.join("\n")}`);
    expect(points.length).toBe(15_000);
    expect(points.slice(3 * 4999)).toEqual([4999, 4999.5, -4999]);
  });

  it.each([
    ["1,2\n", "line 1"],
    ["1,2,3\n1,2,3,4\n", "line 2"],
    ["x,y,z,vx,vy,vz\n1,2,3,1e39,5,6\n", "line 2"],
    ["x,y,z\n1,two,3\n", "line 2"],
    ["name,x,y,z\nsite 12,3.5,4.2\n", "line 2"],
    ["name\tx\ty\tz\nsite 2\t11\t105\n", "line 2"],
    ["id;x;y;z\n2;3,5;11\n", "line 2"],
    ["1,5 2\n", "line 1"],
    ["1,2,\n", "line 1"],
    ["1,2,0x10\n", "line 1"],
    ["1,2,NaN\n", "line 1"],
    ["1 2 3\n4,5,6\n7 8\n", "line 3"],
    ['"1,5","2","3"\n', "line 1"],
    ['x,y,z\n"1,5","2","3"\n', "line 2"],
    ['"1","","3"\n', "line 1"],
    ["nan,nan,nan\n1,2,3\n", "line 1"],
    ["1,5;2,5;3,5\n", "line 1"],
    ["1,,3\n", "line 1"],
    ["1,2,3\n\n1e39,2,3\n", "line 3"],
    ["# x,y,z\n# as measured\n1,2\n", "line 3"],
  ])("refuses %j and says where", (text, where) => {
    expect(() => csv(text)).toThrow(where);
  });
});
