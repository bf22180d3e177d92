/** Exports the functions of the text module. It keeps no state: every function works in memory that its caller owns. */
export { readTriples } from "./read-triples";
export { writeRecords } from "./write-records";
