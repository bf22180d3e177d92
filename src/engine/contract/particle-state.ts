/**
 * State of a tracking batch between time slices: positions (and gradients of a flow map), velocities of particles with
 * drag or the state of adaptive steps, times of exits.
 */
import { DOPRI5_STATE } from "../../kernels/dopri5.js";
import { isOpen } from "../../kernels/exits.js";
import { FLOW_MAP_STATE } from "../../kernels/flow-map.js";
import type { Dataset } from "../../storage/dataset/dataset.js";
import type { Query } from "./query.js";

const NO_WALLS = [0, 1, 2].map(() => [false, false]) as unknown as Dataset["walls"];

/** The walls that keep particles inside: none if walls end paths. */
export const wallsOf = (query: Query, { walls }: Pick<Dataset, "walls">) => (query.walls === "stop" ? NO_WALLS : walls);

/** Numbers of each part of the state of one particle. */
export function particleNumbers(
  query: Query,
  dataset: Pick<Dataset, "axes" | "walls">,
): { readonly positionNumbers: number; readonly integratorNumbers: number; readonly exitNumbers: number } {
  const { flowMap, Tp, integrator } = query;
  const adaptive = integrator === "dopri5" ? DOPRI5_STATE : 0;
  return {
    positionNumbers: flowMap === undefined ? 3 : FLOW_MAP_STATE,
    integratorNumbers: Tp === undefined ? adaptive : 3,
    exitNumbers: isOpen(dataset.axes, wallsOf(query, dataset)) ? 1 : 0,
  };
}
