/** Exports the functions of the module. It keeps no state: every function works in memory that its caller owns. */
export { addFrame } from "./combine";
export { intervalSums } from "./interval-sums";
export { coverNodal, coverTensor } from "./cover";
export { nodal } from "./nodal";
export { combinePacket, gatherPacket, nextPacket } from "./packets";
export { sortByBrick } from "./brick-order";
export { spline } from "./spline";
export { tensor } from "./tensor";
export { values } from "./values";
