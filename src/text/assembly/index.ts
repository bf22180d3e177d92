/** Functions of the text module; they work in memory that the caller owns. */
export { readTriples } from "./read-triples";
export { writeRecords } from "./write-records";
