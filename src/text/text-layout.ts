/**
 * States the addresses in the memory of the text module, which host and module share; a row of a table of literals is
 * an address and a length.
 */

/** Powers of ten as float64: 10^0 to 10^22. */
export const POWERS = 1024;
/** Powers of ten as 64-bit integers: 10^0 to 10^8. */
export const WHOLE_POWERS = 1216;
/** The place of a function's second result and of the reason why it stopped: two 32-bit words. */
export const OUTCOME = 1296;
/** Table of tags or separators, with a bounded number of rows, and their bytes. */
export const TABLE = 1312;
export const TABLE_ROWS = 32;
export const LITERALS = 1568;
export const LITERAL_BYTES = 6608;
/** Numbers, and room for them. */
export const NUMBERS = 8192;
export const NUMBER_BYTES = 57_344;
/** Text, and room for it; what follows it may be read, but means nothing. */
export const TEXT = 65_536;
export const TEXT_BYTES = 130_048;
/** Pages of 64 KiB of the memory. */
export const PAGES = 3;

/** Reasons why reading stopped: no room left, the text ends inside an item, or an item needs the reference. */
export const STOPPED_FULL = 0;
export const STOPPED_SHORT = 1;
export const STOPPED_ODD = 2;

/** Rules for items: white space may surround tags and numbers; numbers are those of JSON. */
export const SPACED = 1;
export const NARROW = 2;
