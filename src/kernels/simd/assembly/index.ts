/** Exports the functions of the module. It keeps no state: every function works in memory that its caller owns. */
export { nodal } from "./nodal";
export { combinePacket, gatherPacket, nextPacket } from "./packets";
export { spline } from "./spline";
export { tensor } from "./tensor";
export { values } from "./values";
