/**
 * State of a tracking batch between time slices: positions (and gradients of a flow map), velocities of particles with
 * drag or the state of adaptive steps, times of exits.
 */
import { DOPRI5_STATE } from "../../kernels/dopri5.js";
import { isOpen } from "../../kernels/exits.js";
import { FLOW_MAP_STATE } from "../../kernels/flow-map.js";
import type { Dataset } from "../../storage/dataset/dataset.js";
import type { Query } from "./query.js";

/** Numbers of each part of the state of one particle. */
export function particleNumbers(
  { flowMap, Tp, integrator }: Query,
  { axes, walls }: Pick<Dataset, "axes" | "walls">,
): { readonly positionNumbers: number; readonly integratorNumbers: number; readonly exitNumbers: number } {
  const adaptive = integrator === "dopri5" ? DOPRI5_STATE : 0;
  return {
    positionNumbers: flowMap === undefined ? 3 : FLOW_MAP_STATE,
    integratorNumbers: Tp === undefined ? adaptive : 3,
    exitNumbers: isOpen(axes, walls) ? 1 : 0,
  };
}
