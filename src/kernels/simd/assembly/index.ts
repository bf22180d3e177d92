/** Exports of the module. It keeps no state: every function works in memory that its caller owns. */
export { boxAverage } from "./average";
export { coverNodal, coverTensor } from "./cover";
export { nodal } from "./nodal";
export { orderByBrick } from "./order";
export { tensor } from "./tensor";
export { values } from "./values";
