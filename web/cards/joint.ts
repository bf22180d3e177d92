/** Joint density of the invariants R and Q of the velocity gradient. */
import { hasVelocity } from "../state/dataset.js";
import { shortNumber } from "../state/format.js";
import { type CardKind, type Moments, resultsOf } from "./card.js";

interface Joint {
  readonly edges: readonly [readonly number[], readonly number[]];
  readonly counts: readonly (readonly number[])[];
}

export const joint: CardKind = {
  name: "Q–R",
  isAvailable: hasVelocity,
  isOfFixedQuantity: true,
  isOfOneTime: true,
  question: ({ name }, _, time) => ({
    ...{ dataset: name, time, call: "statistics" },
    reduce: [
      { moments: "Q", order: 2 },
      { joint: ["R", "Q"], bins: [120, 120], range: "auto" },
    ],
  }),
  content(_set, _, [[, answer]]) {
    const [moments, { edges, counts }] = resultsOf(answer) as [Moments, Joint];
    const [rEdges, qEdges] = edges;
    const size = Math.sqrt(moments.variance);
    // Most nodes are near zero: the tails of the table are cut.
    const [low, high] = [-6 * size, 12 * size];
    const rows = qEdges.slice(0, -1).flatMap((q, j) => (q >= low && q <= high ? [j] : []));
    const columns = rEdges.slice(0, -1).flatMap((r, i) => (Math.abs(r) <= 24 * size ** 1.5 ? [i] : []));
    const values = rows.flatMap((j) => columns.map((i) => (counts[i][j] > 0 ? Math.log10(counts[i][j]) : Number.NaN)));
    const x = [...columns.map((i) => rEdges[i]), rEdges[(columns.at(-1) ?? 0) + 1]];
    const y = [...rows.map((j) => qEdges[j]), qEdges[(rows.at(-1) ?? 0) + 1]];
    // Above this curve the velocity gradient has complex eigenvalues.
    const discriminant = Array.from({ length: 81 }, (_, i): [number, number] => {
      const q = -((i - 40) ** 2 / 1600) * Math.min(-low, -y[0] || 1);
      return [Math.sign(i - 40) * Math.sqrt((4 / 27) * -(q ** 3)), q];
    }).filter(([r]) => r >= x[0] && r <= (x.at(-1) as number));
    return {
      title: `Joint density of R and Q, log of counts`,
      chart: {
        x: { label: "R", domain: [x[0], x.at(-1) as number] },
        y: { label: "Q", domain: [y[0], y.at(-1) as number] },
        curves: [{ label: "27R² + 4Q³ = 0", points: discriminant, isDashed: true }],
        joint: { nx: columns.length, ny: rows.length, x, y, values },
      },
      rows: [["Standard deviation of Q", shortNumber(size)]],
    };
  },
};
