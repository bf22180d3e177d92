/** Tables of answers: profiles, bins, separations and structures become columns, and their curves become plots. */
import { describe, expect, it } from "vitest";
import { type AnalysisTable, analysisTable, tableLines } from "../../src/analysis/table.js";
import { analysisPlot } from "../../src/cli/output/analysis-plot.js";

const tableText = (table: AnalysisTable): string => [...tableLines(table)].join("");

const textOf = (answer: object): string => tableText(analysisTable(answer as never));
const profile = (members: object) => ({ results: [{ of: "ux", coordinates: { y: [0, 1] }, ...members }] });
const PROFILE = profile({ moments: "ux", mean: [2, 3], count: [4, 4] });
const SEPARATIONS = {
  separations: [
    { axis: "x", nodes: 1, length: 0.5, longitudinal: { "2": 0.25, "3": -0.125 } },
    { axis: "x", nodes: 2, length: 1, longitudinal: { "2": 0.5, "3": -0.25 } },
  ],
};

describe("tables of answers", () => {
  it.each([
    [PROFILE, "y,mean,count\n0,2,4\n1,3,4\n"],
    [SEPARATIONS, "axis,nodes,length,longitudinal.2,longitudinal.3\nx,1,0.5,0.25,-0.125\nx,2,1,0.5,-0.25\n"],
    [
      { results: [{ of: "p", edges: [0, 1, 2], counts: [5, 6], weights: [1, 2] }] },
      "from,to,count,weight\n0,1,5,1\n1,2,6,2\n",
    ],
    [
      { results: [{ of: "p", on: "ux", edges: [0, 1], counts: [5], weights: [2.5], mean: [7], variance: [8] }] },
      "from,to,count,weight,mean,variance\n0,1,5,2.5,7,8\n",
    ],
    [
      {
        results: [
          {
            of: ["p", "q"],
            edges: [
              [0, 1],
              [2, 3],
            ],
            counts: [[9]],
            weights: [[0.5]],
          },
        ],
      },
      "from,to,from2,to2,count,weight\n0,1,2,3,9,0.5\n",
    ],
    [profile({ at: [0.2, 0.5], values: [[1], [3]] }), "y,at.0,at.1,values.0\n0,0.2,0.5,1\n1,0.2,0.5,3\n"],
    [profile({ on: "q", edges: [5, 6], mean: [[1], [2]] }), "y,on,edges.0,edges.1,mean.0\n0,q,5,6,1\n1,q,5,6,2\n"],
    [profile({ mean: [1, 2], central: { 5: [7, 8] } }), "y,mean,central.5\n0,1,7\n1,2,8\n"],
    [
      profile({ coordinates: { k: [0], omega: [3, 4] }, E: [[5, 6]], c: [9], no: [1, 2] }),
      "omega,k,E,c\n3,0,5,9\n4,0,6,9\n",
    ],
    [
      { nyquist: 9, k: [1, 2], E: [3, 4], frames: [{ frame: 0 }, { frame: 1 }], mean_over: ["x", "y"] },
      "k,E\n1,3\n2,4\n",
    ],
    [
      { results: [{ of: "p", highest: [{ value: 2, at: [1, 2, 3] }], lowest: [] }] },
      "side,value,at.0,at.1,at.2\nhighest,2,1,2,3\n",
    ],
    [{ structures: [{ nodes: 2, properties: { "max(p,q)": { mean: 1 } } }] }, '"nodes","x"\n'],
  ])("%j", (answer, text) => {
    if ("structures" in answer) expect(textOf(answer)).toBe('nodes,"properties.max(p,q).mean"\n2,1\n');
    else expect(textOf(answer)).toBe(text);
  });

  it("have a row for each place of two axes, and the number of each of several reductions", () => {
    const both = { results: [{ of: "ux", coordinates: { y: [5], x: [1, 2] }, mean: [[3, 4]] }] };
    expect(textOf(both)).toBe("x,y,mean\n1,5,3\n2,5,4\n");
    expect(textOf({ results: [PROFILE.results[0], PROFILE.results[0]] })).toMatch(/^reduction,/);
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
