/**
 * Transforms lines side by side: a register of two float64 holds one number of two lines, real and imaginary parts
 * apart. The module keeps no state: every function works in memory that its caller owns.
 */
export { transformRows } from "./passes";
export { packRows, placeRows, takeRows, unpackRows } from "./real";
export { clear, copy, multiply } from "./velocity";
