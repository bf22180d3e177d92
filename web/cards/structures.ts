/** Connected sets of nodes where a condition holds: their number, and their volumes by rank. */
import { volumeOfCells } from "../state/dataset.js";
import { plainNumber, shortNumber } from "../state/format.js";
import { conditionInput, conditionOf } from "./around.js";
import type { CardKind } from "./card.js";

interface Structure {
  readonly volume: number;
  readonly nodes: number;
}

export const structures: CardKind = {
  name: "Structures",
  isAvailable: ({ axes }) => axes.every(({ nodes }) => nodes > 1),
  isOfFixedQuantity: true,
  question: (set, what, time) => ({
    ...{ dataset: set.name, call: "structures", where: conditionOf(set, what), time },
  }),
  content(set, what, answers) {
    const whole = volumeOfCells(set);
    const all = answers.map(([, answer]) => answer.structures as readonly Structure[]);
    const [first] = all;
    const together = first.reduce((sum, { volume }) => sum + volume, 0);
    const percent = (volume: number) => `${plainNumber((100 * volume) / whole, 3)} % of the box`;
    const rows: (readonly [string, string])[] = [
      ["Structures", String(first.length)],
      ["Together", percent(together)],
    ];
    if (first.length > 0)
      rows.push(["Largest", `${shortNumber(first[0].volume)}, ${percent(first[0].volume)}, ${first[0].nodes} nodes`]);
    return {
      title: `Structures of ${conditionOf(set, what)}`,
      chart: {
        x: { label: "rank", isLog: true },
        y: { label: "volume", isLog: true },
        curves: answers.map(([, , label], i) => ({
          label: label ?? "",
          points: all[i].map(({ volume }, rank): [number, number] => [rank + 1, volume]),
        })),
      },
      rows,
    };
  },
  options: (set) => conditionInput(set, "Condition of structures"),
};
