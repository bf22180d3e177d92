/** Levels of datasets: found in stores next to the dataset, or made from queries of its nodes. */
import { setImmediate } from "node:timers/promises";
import { cellWidths } from "../../kernels/cells.js";
import type { Dataset, Triple } from "../../storage/dataset/dataset.js";
import { statusOf } from "../../storage/dataset/files.js";
import {
  fieldsWithLevels,
  type LevelQuantity,
  type LevelSet,
  levelFolders,
  levelQuantity,
  openLevels,
  readHistograms,
} from "../../storage/levels/level-store.js";
import { LevelWriter } from "../../storage/levels/level-writer.js";
import type { Engine, LevelWeights, MakeControl, RequestedLevels } from "../contract/query.js";

const widthsOf = ({ axes }: Dataset) => axes.map(cellWidths) as unknown as LevelSet["widths"];

/** The levels of the datasets that are served, opened again when their stores have changed. */
export class FoundLevels {
  readonly #state: string;
  readonly #known = new WeakMap<Dataset, { readonly version: string; readonly set: LevelSet | null }>();

  constructor(state: string) {
    this.#state = state;
  }

  of(dataset: Dataset): LevelSet | null {
    const folders = levelFolders(dataset, this.#state);
    const version = folders.map((one) => statusOf(`${one}/zarr.json`)?.ctimeMs ?? "").join();
    const known = this.#known.get(dataset);
    if (known?.version === version) return known.set;
    const set = version === "," || version === "" ? null : openLevels(dataset, widthsOf(dataset), folders);
    this.#known.set(dataset, { version, set });
    return set;
  }
}

/** Weights of the nodes of a level, and of the nodes that have a value. */
export async function weightsOf(set: LevelSet, quantity: LevelQuantity, frame: number): Promise<LevelWeights> {
  const { widths } = set;
  const sum = (numbers: Float64Array): number => numbers.reduce((all, one) => all + one, 0);
  const known = (await readHistograms(set, quantity, frame)).map(({ weights }) => sum(weights));
  const all = widths.reduce((product, one) => product * sum(one), 1);
  return { weights: { all, least: widths.reduce((product, one) => product * Math.min(...one), 1) }, known };
}

/** Makes levels frame by frame; frames of an interrupted run are kept. */
export async function makeLevels(
  engine: Pick<Engine, "start">,
  dataset: Dataset,
  state: string,
  requested: readonly RequestedLevels[],
  ahead: number,
  { progress = () => undefined, ...control }: MakeControl,
): Promise<void> {
  const writer = await LevelWriter.open(dataset, widthsOf(dataset), levelFolders(dataset, state));
  const common = { ...control, deadlineMs: 600_000, dataset };
  const made = [
    ...fieldsWithLevels(dataset).map((own) => ({ own, field: own.text })),
    ...requested.map(({ text, components, ...more }) => ({ own: levelQuantity(text, components), ...more })),
  ];
  const frames = dataset.time.count;
  try {
    for (const [q, { own, field, ...more }] of made.entries())
      for (let frame = 0; frame < frames; frame++) {
        if (await writer.has(own, frame)) continue;
        const read = async (first: Triple, count: Triple, out: Float32Array): Promise<void> => {
          const nodes = { field, frame, first, count, stride: [1, 1, 1] as const };
          const query = { operation: "GetAnyCutoutWeb", dataset: dataset.name, nodes, ...more } as const;
          const result = await engine.start(query, common).finish();
          let at = 0;
          for await (const part of result.stream ?? result.values) {
            out.set(part, at);
            at += part.length;
          }
          result.release();
          // Lets other requests run between two boxes.
          await setImmediate();
        };
        await writer.write(own, frame, read, ahead, (part) => progress((q + (frame + part) / frames) / made.length));
      }
    await writer.finish(made.map(({ own }) => own));
  } finally {
    writer.close();
  }
}
