/** Tables of answers: profiles, bins, separations and structures become columns, and their curves become plots. */
import { describe, expect, it } from "vitest";
import { type AnalysisTable, analysisTable, tableLines } from "../../src/analysis/table.js";
import { analysisPlot } from "../../src/cli/output/analysis-plot.js";

const tableText = (table: AnalysisTable): string => [...tableLines(table)].join("").replaceAll("\r\n", "\n");
const textOf = (answer: object): string => tableText(analysisTable(answer as never));
const PROFILE = { results: [{ of: "ux", moments: "ux", coordinates: { y: [0, 1] }, mean: [2, 3], count: [4, 4] }] };
const SEPARATIONS = {
  separations: [
    { axis: "x", nodes: 1, length: 0.5, longitudinal: { "2": 0.25, "3": -0.125 } },
    { axis: "x", nodes: 2, length: 1, longitudinal: { "2": 0.5, "3": -0.25 } },
  ],
};

describe("tables of answers", () => {
  it.each([
    [JSON.stringify(PROFILE), "y,mean,count\n0,2,4\n1,3,4\n"],
    [
      JSON.stringify(SEPARATIONS),
      "axis,nodes,length,longitudinal.2,longitudinal.3\nx,1,0.5,0.25,-0.125\nx,2,1,0.5,-0.25\n",
    ],
    [
      '{"edges":[-1,0,1],"separations":[{"axis":"x","nodes":2,"length":0.5,"scalar":{"2":9},"pdf":{"scalar":{"density":[0.2,0.3],"counts":[4,6],"below":1,"above":0}}}]}',
      "axis,part,nodes,length,from,to,density,count\nx,scalar,2,0.5,-1,0,0.2,4\nx,scalar,2,0.5,0,1,0.3,6\n",
    ],
    [
      '{"results":[{"of":"p","edges":[0,1,2],"counts":[5,6],"weights":[1,2]}]}',
      "from,to,count,weight\n0,1,5,1\n1,2,6,2\n",
    ],
    [
      '{"results":[{"of":"p","on":"ux","edges":[0,1],"counts":[5],"weights":[2.5],"mean":[7],"variance":[8]}]}',
      "from,to,count,weight,mean,variance\n0,1,5,2.5,7,8\n",
    ],
    [
      '{"results":[{"of":["p","q"],"edges":[[0,1],[2,3]],"counts":[[9]],"weights":[[0.5]]}]}',
      "from,to,from2,to2,count,weight\n0,1,2,3,9,0.5\n",
    ],
    [
      '{"results":[{"of":"p","highest":[{"value":2,"at":[1,2,3]}],"lowest":[]}]}',
      "side,value,at.0,at.1,at.2\nhighest,2,1,2,3\n",
    ],
    [
      '{"results":[{"of":"p","at":[0.1,0.9],"values":[[1,2],[3,4]],"passes":3,"coordinates":{"y":[5,6]}}]}',
      "y,at.0,at.1,values.0,values.1\n5,0.1,0.9,1,2\n6,0.1,0.9,3,4\n",
    ],
    [
      '{"results":[{"of":"p","edges":[0,1,2],"coordinates":{"y":[5,6]},"counts":[[1,2],[3,4]],"weights":[[5,6],[7,8]]}]}',
      "y,from,to,count,weight\n5,0,1,1,5\n5,1,2,2,6\n6,0,1,3,7\n6,1,2,4,8\n",
    ],
    // The speed is of each k, the count of realisations of each y.
    [
      '{"results":[{"of":"p","coordinates":{"y":[5,6],"k":[0,1],"omega":[8]},"E":[[[1],[3]],[[5],[7]]],' +
        '"convection_velocity":[[null,10],[null,20]],"realisations":[30,40]}]}',
      "omega,k,y,E,convection_velocity,realisations\n8,0,5,1,,30\n8,1,5,3,10,30\n8,0,6,5,,40\n8,1,6,7,20,40\n",
    ],
    ['{"k":[0,1],"E":[2,3],"frames":[{"frame":0},{"frame":1}],"nyquist":1}', "k,E\n0,2\n1,3\n"],
    [
      '{"times":[1],"particles":[2],"mean_square":[3],"mean_square_axes":[[1,1,1]],"velocity_square":[4],' +
        '"autocorrelation":[5],"increment_histogram":{"edges":[0,1],"counts":{"x":[[6]]}}}',
      "time,particles,mean_square,mean_square.x,mean_square.y,mean_square.z,velocity_square,autocorrelation," +
        "increment_histogram.edges.0,increment_histogram.edges.1,increment_histogram.counts.x.0\n1,2,3,1,1,1,4,5,0,1,6\n",
    ],
    [
      '{"wall_units":{"u_tau":2,"nu":3,"y_plus":[0,7]},"results":[{"of":"u.x","coordinates":{"y":[5,6]},"mean":[8,9]}]}',
      "y,mean,u_tau,nu,y_plus\n5,8,2,3,0\n6,9,2,3,7\n",
    ],
    [
      '{"wall_units":{"y_plus":[0,7]},"results":[{"of":["a","b"],"coordinates":{"y":[5,6]},"mean":[[8,9],[1,2]]}]}',
      "y,mean.a,mean.b,y_plus\n5,8,1,0\n6,9,2,7\n",
    ],
    ['{"structures":[{"nodes":2,"properties":{"max(p,q)":{"mean":1}}}]}', 'nodes,"properties.max(p,q).mean"\n2,1\n'],
  ])("%s", (answer, text) => {
    expect(textOf(JSON.parse(answer))).toBe(text);
  });

  it("have a row for each place of two axes, and number and quantity of each of several reductions", () => {
    const both = { results: [{ of: "ux", coordinates: { y: [5], x: [1, 2] }, mean: [[3, 4]] }] };
    expect(textOf(both)).toBe("x,y,mean\n1,5,3\n2,5,4\n");
    const two = analysisTable({ results: [...PROFILE.results, { ...PROFILE.results[0], of: {}, budget: "uy" }] });
    expect(tableText(two)).toBe("reduction,of,y,mean,count\n0,ux,0,2,4\n0,ux,1,3,4\n1,uy,0,2,4\n1,uy,1,3,4\n");
    const pair = { of: ["ux", "p"], coordinates: { y: [0] }, matrix: [[5]] };
    const last = tableText(analysisTable({ results: [...PROFILE.results, pair] }))
      .split("\n")
      .at(-2);
    expect(last).toMatch(/^1,"ux, p",0,/);
    expect(analysisPlot(two, "").match(/>mean u[xy]</g)).toEqual([">mean ux<", ">mean uy<"]);
  });

  it("are drawn in the order of their places, as absolute values where a logarithm needs them", () => {
    const around = analysisTable({ results: [{ of: "p", coordinates: { r_x: [0, 1, -1] }, rho: [1, 0.5, 0.25] }] });
    const [, path = ""] = /points="([^"]*)"/.exec(analysisPlot(around, "")) ?? [];
    const places = path.split(" ").map((pair) => Number(pair.split(",")[0]));
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(new Set(places).size).toBe(3);
    expect(analysisPlot(analysisTable(SEPARATIONS), "")).toContain(">|longitudinal.3| x<");
  });

  it.each([
    ["p", { of: "p", edges: [0, 1, 3, 4], counts: [1, 1, 1], weights: [1, 3, 1] }, "80.0,350.0 285.0,30.0 490.0,350.0"],
    ["q", { of: "p", on: "q", edges: [0, 1, 3], counts: [1, 1], mean: [1, 3] }, "80.0,350.0 490.0,30.0"],
    ["wavelength", { of: "p", coordinates: { k: [0, 1, 2] }, E: [9, 2, 3] }, "80.0,30.0 490.0,350.0"],
  ])("are drawn over %s: bins at their middles, spectra by wavelength if it is stated", (axis, result, points) => {
    const svg = analysisPlot(analysisTable({ results: [result], wavelength: [null, 6, 3] }), "");
    expect(svg.match(/<polyline points="[^"]*"/g)).toEqual([`<polyline points="${points}"`]);
    expect(svg).toContain(`text-anchor="middle">${axis}<`);
  });
});

describe("plots of answers", () => {
  it("have a line for each curve and its name", () => {
    const svg = analysisPlot(analysisTable(SEPARATIONS as never), "a < b");
    expect(svg.match(/<polyline/g)).toHaveLength(2);
    expect(svg).toContain("longitudinal.2 x");
    expect(svg).toContain("a &#60; b");
    expect(svg).not.toContain("NaN");
  });

  it("are refused without a curve", () => {
    expect(() => analysisPlot(analysisTable({ structures: [{ nodes: 1 }] } as never), "")).toThrow("no curve");
  });
});
