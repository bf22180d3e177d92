/** Follows structures through the frames of a question. */
import type { GroupAnswer } from "../../../analysis/reductions.js";
import { addShared, followed, type LabelledFrame, type Link, linksOf, volumesOf } from "../../../analysis/tracks.js";
import { isStaggered } from "../../../engine/contract/dataset.js";
import { wrong } from "../faults.js";
import { type AnalysedNodes, framesIn, nodesOfFrame, pooled } from "./analysed-nodes.js";
import { type Analysis, momentsOf } from "./analysis.js";

/** Nodes compared between two checks of the clock. */
const COMPARED = 2 ** 18;

/** Structures of a frame: their counts, their descriptions, and the number of each node's, from 1, or 0. */
export interface FrameStructures {
  readonly counts: GroupAnswer;
  readonly described: readonly GroupAnswer[];
  readonly numbers: Int32Array | null;
}

/** The structures of all frames, with their tracks and the links between frames. Throws RequestError. */
export async function trackedStructures(
  analysis: Analysis,
  structuresOf: (nodes: AnalysedNodes) => Promise<FrameStructures>,
  least: number,
): Promise<GroupAnswer> {
  const { nodes, slices } = analysis;
  const { frames, publicFrames, base } = nodes;
  if (base.times.some((time, k) => k > 0 && time <= base.times[k - 1]))
    throw wrong("time", "structures are followed forwards: times ascend");
  const volumeOf = volumesOf(base);
  const links: (readonly Link[])[] = [];
  const found: FrameStructures[] = [];
  let before: LabelledFrame | null = null;
  for (const k of frames.keys()) {
    const one = await structuresOf(nodesOfFrame(nodes, k));
    const volumes = one.described.map(({ volume }) => volume as number);
    const now: LabelledFrame = { labels: one.numbers as Int32Array, volumes };
    if (before !== null) {
      const [last, shared] = [before, new Map<number, number>()];
      const add = (from: number, to: number) => addShared(last.labels, now.labels, [from, to], volumeOf, shared);
      await slices.each(now.labels.length, add, COMPARED);
      links.push(linksOf(shared, last.volumes, volumes, least));
    }
    before = now;
    found.push({ ...one, numbers: null });
  }
  const listed = found.map(({ described }) => described.length);
  const { frames: follow, tracks } = followed(listed, links);
  const at = framesIn(nodes);
  const structures = found.flatMap(({ described }, k) =>
    described.map((one, i) => ({ ...at[k], number: i + 1, ...follow[k]?.[i], ...one })),
  );
  return {
    ...(await undersampled(analysis, structures)),
    ...{ frames: at.map((one, k) => ({ ...one, ...found[k]?.counts })), count: structures.length },
    links: links.flatMap((list, k) => list.map((link) => ({ frame: publicFrames[k], ...link }))),
    tracks: tracks.map(({ first, last, ...ends }, i) => {
      const [first_frame, last_frame] = [publicFrames[first], publicFrames[last]];
      return { track: i + 1, first_frame, last_frame, ...ends };
    }),
    structures,
  };
}

/** A warning if the flow goes further between frames than the median structure is long, the cube root of its volume. */
async function undersampled(analysis: Analysis, structures: readonly GroupAnswer[]): Promise<GroupAnswer> {
  const { nodes, dataset } = analysis;
  const { names, times } = nodes.base;
  const lengths = structures.map(({ volume }) => Math.cbrt(volume as number)).sort((a, b) => a - b);
  const known = names.fields.velocity === 3 && !isStaggered(dataset, "velocity") && nodes.weights === "volume";
  if (!known || lengths.length === 0) return {};
  const [[speed] = []] = await momentsOf(analysis, pooled(nodes), ["norm(u)"]);
  const step = Math.max(...times.slice(1).map((time, k) => time - times[k]));
  const [way, length] = [(speed?.max ?? 0) * step, lengths[Math.floor((lengths.length - 1) / 2)]];
  if (!(way > length)) return {};
  const text = `between frames the flow moves up to ${way.toPrecision(3)}, more than the median structure is long, ${length.toPrecision(3)}`;
  return { warnings: [`${text}: tracks may jump`] };
}
