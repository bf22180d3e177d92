/** This file turns paths of particles into line segments inside the box, wrapped at periodic faces. */
import type { Trajectories } from "../state/api.js";
import type { AxisFacts } from "../state/facts.js";

export interface PathSegments {
  /** x, y, z of particle `p` at record `k`: `positions[3 * (k * particles + p)]`, inside the box. */
  readonly positions: Float32Array;
  /** Pairs of vertices; those that end at record `k` are `starts[k] .. starts[k + 1] - 1`. */
  readonly pairs: Uint32Array;
  readonly starts: Uint32Array;
  /** Longest segment along any axis, as a fraction of the box there. */
  readonly longest: number;
}

/** Colours of particles in a row differ by a part of the way from red to violet; their saturation and lightness. */
const HUES = 0.85;
const SATURATION = 0.8;
const LIGHTNESS = 0.55;

/** The pixel of a particle in its own colour, red in the lowest byte; grey once it has left. */
export function particlePixel(particle: number, particles: number, left = false): number {
  const hue = (12 * HUES * particle) / particles;
  const reach = left ? 0 : SATURATION * Math.min(LIGHTNESS, 1 - LIGHTNESS);
  const part = (offset: number) => {
    const k = (offset + hue) % 12;
    return Math.round(255 * (LIGHTNESS - reach * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return ((255 << 24) | (part(4) << 16) | (part(8) << 8) | part(0)) >>> 0;
}

/** A segment longer than this part of the box crosses a face, or cannot be told from one that does. */
const LONGEST = 0.5;

/** Segments that 3-D draws at most: software takes seconds for more. */
const MOST_SEGMENTS = 20_000;
/** Steps of each path that it draws in any case. */
const LEAST_TRAIL = 8;

/** The last steps of each path that 3-D draws, so many that its segments are not too many. */
export function drawnTrail(particles: number): number {
  return Math.max(LEAST_TRAIL, Math.floor(MOST_SEGMENTS / particles));
}

/** Lays out the segments of all paths, record by record, so that a part of the time is a part of `pairs`. */
export function pathSegments(
  { times, particles, positions: given }: Trajectories,
  axes: readonly AxisFacts[],
): PathSegments {
  const records = times.length;
  const positions = new Float32Array(3 * records * particles);
  for (let k = 0; k < records; k++) {
    for (let p = 0; p < particles; p++) {
      for (const [c, axis] of axes.entries()) {
        const value = given[3 * (p * records + k) + c];
        const turns = axis.periodic ? Math.floor((value - axis.first) / axis.length) : 0;
        positions[3 * (k * particles + p) + c] = value - turns * axis.length;
      }
    }
  }
  const pairs: number[] = [];
  const starts = new Uint32Array(records + 1);
  let longest = 0;
  for (let k = 1; k < records; k++) {
    starts[k] = pairs.length;
    for (let p = 0; p < particles; p++) {
      const to = k * particles + p;
      const from = to - particles;
      let reach = 0;
      for (const [c, axis] of axes.entries()) {
        const step = Math.abs(positions[3 * to + c] - positions[3 * from + c]);
        // Nothing moves along an axis without extent.
        reach = Math.max(reach, step === 0 ? 0 : step / axis.length);
      }
      if (!(reach <= LONGEST)) continue;
      longest = Math.max(longest, reach);
      pairs.push(from, to);
    }
  }
  starts[records] = pairs.length;
  return { positions, pairs: Uint32Array.from(pairs), starts, longest };
}
