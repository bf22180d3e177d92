/** This file derives the queries of each figure from the view; the page sends, shows and copies the same queries. */

import { shortestFloat32 } from "../../float32/format.js";
import { DERIVATIVES, INTERPOLATIONS, type OperationName } from "../../operations.js";
import { quantityOf } from "../../quantities.js";
import { type Slice, slicePath } from "./api.js";
import { axisOf, type DatasetFacts, offers } from "./facts.js";
import { operationOf, type PointQuery } from "./point-query.js";
import { AXES, type ViewState } from "./view-state.js";

/** The spatial option in use for a quantity. */
export function methodOf(state: ViewState): string {
  return (quantityOf(state.field).methods as readonly string[]).includes(state.values)
    ? state.values
    : state.derivatives;
}

/** The slice shown, as a path of the service. */
export function slicePathOf(state: ViewState): string {
  return slicePath(state.dataset, {
    field: state.field,
    axis: state.axis,
    at: shortestFloat32(state.at),
    time: shortestFloat32(state.time),
    method: methodOf(state),
    temporalInterpolation: state.temporal,
    nodes: state.nodes,
  });
}

/** The same plane as points of an operation, for clients that speak SOAP. */
export function planeQuery(state: ViewState, slice: Slice): PointQuery {
  const { rows, columns } = slice;
  const points = new Float32Array(3 * rows.count * columns.count);
  const axis = AXES.indexOf(state.axis);
  const across = AXES.indexOf(columns.axis);
  const up = AXES.indexOf(rows.axis);
  for (let i = 0; i < points.length / 3; i++) {
    const row = Math.floor(i / columns.count);
    points[3 * i + axis] = state.at;
    points[3 * i + up] = rows.origin + row * rows.spacing;
    points[3 * i + across] = columns.origin + (i - row * columns.count) * columns.spacing;
  }
  return fieldQuery(state, points);
}

function fieldQuery(state: ViewState, points: Float32Array, time: number | readonly number[] = state.time): PointQuery {
  return {
    operation: quantityOf(state.field).operation,
    dataset: state.dataset,
    parameters: { time, spatialInterpolation: methodOf(state), temporalInterpolation: state.temporal },
    points,
  };
}

/** Operations of the probe with the options they are compared over; those the dataset cannot answer are left out. */
export function probeOperations(
  facts: DatasetFacts,
): readonly { operation: OperationName; methods: readonly string[] }[] {
  const point: OperationName = offers(facts, "GetVelocityAndPressure") ? "GetVelocityAndPressure" : "GetVelocity";
  return [
    { operation: point, methods: INTERPOLATIONS },
    { operation: "GetVelocityGradient", methods: DERIVATIVES } as const,
    { operation: "GetPressureGradient", methods: DERIVATIVES } as const,
    { operation: "GetPressureHessian", methods: DERIVATIVES } as const,
    { operation: "GetVelocityHessian", methods: DERIVATIVES } as const,
  ].filter(({ operation }) => offers(facts, operation)) as { operation: OperationName; methods: readonly string[] }[];
}

/** One operation at the probe. */
export function probeQuery(state: ViewState, operation: OperationName, method: string): PointQuery {
  return {
    operation,
    dataset: state.dataset,
    parameters: { time: state.time, spatialInterpolation: method, temporalInterpolation: state.temporal },
    points: Float32Array.from(state.probe),
  };
}

const PROFILE_POINTS = 256;

/** The quantity shown, along a line through the probe from end to end of the domain. */
export function profileQuery(state: ViewState, facts: DatasetFacts): PointQuery {
  const axis = AXES.indexOf(state.line);
  const { first, length } = axisOf(facts, state.line);
  const points = new Float32Array(3 * (PROFILE_POINTS + 1));
  for (let i = 0; i <= PROFILE_POINTS; i++) {
    points.set(state.probe, 3 * i);
    points[3 * i + axis] = first + (length * i) / PROFILE_POINTS;
  }
  return fieldQuery(state, points);
}

const SERIES_PER_STEP = 8;
const SERIES_MAX = 512;

/** The quantity shown, at the probe over all times. */
export function seriesQuery(state: ViewState, facts: DatasetFacts): PointQuery {
  const { count, first, last } = facts.times;
  const intervals = Math.min(SERIES_MAX, SERIES_PER_STEP * (count - 1));
  const times = Array.from({ length: intervals + 1 }, (_, i) => {
    return Math.fround(intervals === 0 ? first : first + ((last - first) * i) / intervals);
  });
  return fieldQuery(state, Float32Array.from(state.probe), times);
}

/** Where the particles start: at the probe, on the profile's line, or spread over the plane of the slice. */
function seedPoints(state: ViewState, facts: DatasetFacts): Float32Array {
  if (state.seeds === "point") return Float32Array.from(state.probe);
  if (state.seeds === "line") {
    const axis = AXES.indexOf(state.line);
    const { first, length } = axisOf(facts, state.line);
    const points = new Float32Array(3 * state.count);
    for (let i = 0; i < state.count; i++) {
      points.set(state.probe, 3 * i);
      points[3 * i + axis] = first + (length * (i + 0.5)) / state.count;
    }
    return points;
  }
  const side = Math.max(1, Math.round(Math.sqrt(state.count)));
  const [across, up] = AXES.filter((name) => name !== state.axis).map((name) => axisOf(facts, name));
  const points = new Float32Array(3 * side * side);
  for (let i = 0; i < side * side; i++) {
    points[3 * i + AXES.indexOf(state.axis)] = state.at;
    for (const [axis, place] of [
      [across, i % side],
      [up, Math.floor(i / side)],
    ] as const) {
      if (axis !== undefined)
        points[3 * i + AXES.indexOf(axis.name)] = axis.first + (axis.length * (place + 0.5)) / side;
    }
  }
  return points;
}

/** The particles as set: parameters by the table row of the chosen operation. */
export function particleQuery(state: ViewState, facts: DatasetFacts): PointQuery {
  const given: Readonly<Record<string, string | number>> = {
    StartTime: state.time,
    EndTime: Math.fround(Math.min(state.time + state.dt * state.steps, facts.times.last)),
    dt: Math.fround(state.dt),
    nt: Math.max(1, Math.min(state.steps, Math.floor((facts.times.last - state.time) / state.dt + 1e-3))),
    Tp: Math.fround(state.tp),
    spatialInterpolation: state.values,
  };
  const names = operationOf({ operation: state.tracker }).request.map((member) => member.name);
  return {
    operation: state.tracker,
    dataset: state.dataset,
    parameters: Object.fromEntries(
      names.filter((name) => Object.hasOwn(given, name)).map((name) => [name, given[name]]),
    ),
    points: seedPoints(state, facts),
  };
}
