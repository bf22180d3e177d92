/** Makes what analyses compute with: passes over nodes, values at points, and paths, within the life of a request. */
import type { Merged } from "../../../analysis/plan.js";
import type { SpectrumSums } from "../../../analysis/spectrum.js";
import type { Dataset } from "../../../engine/contract/dataset.js";
import type { Query, Result } from "../../../engine/contract/query.js";
import type { RequestLife } from "../../http/request-life.js";
import type { Service } from "../../http/service.js";
import { DRAWN_RECORDS, evaluatorFor } from "../points/point-columns.js";
import { pathsFor } from "../points/values-along.js";
import type { AnalysedNodes } from "./analysed-nodes.js";
import { bytesOfReduction } from "./analysis-memory.js";
import type { Means } from "./statistics.js";

export function meansFor(life: RequestLife, service: Service, dataset: Dataset): Means {
  const finish = async (query: Pick<Query, "reduction" | "spectrum">, places: AnalysedNodes): Promise<Result> => {
    const { first, stride, frames, base, field } = places;
    const [nx, ny, nz] = base.extent;
    const nodes = { field, frame: frames[0] as number, first, count: [nx, ny, nz], stride } as const;
    if (query.reduction) await life.admitMemory(bytesOfReduction(query.reduction));
    const evaluation = life.start({ operation: "GetAnyCutoutWeb", dataset: dataset.name, nodes, ...query });
    await life.enter();
    const result = await evaluation.finish();
    life.forget(evaluation);
    result.release();
    // What is made of it is work of the main thread.
    await life.slices.pause();
    return result;
  };
  return {
    reduce: async (reduction, places) => (await finish({ reduction }, places)).reduced as Merged,
    sum: async (query, places) => (await finish({ spectrum: query }, places)).sums as SpectrumSums,
    evaluate: evaluatorFor(life, dataset),
    admit: (points) => life.reserve(points, DRAWN_RECORDS),
    paths: pathsFor(life, dataset),
    slices: life.slices,
    most: service.config.limits["analysis.numbers"],
  };
}
