/** Addresses in the memory of the text module. A row of a table of literals is an address and a length. */

export const POWERS = 1024;
export const WHOLE_POWERS = 1216;
/** A function's second result and its reason to stop: two 32-bit words. */
export const OUTCOME = 1296;
export const TAGS = 1312;
export const TAG_ROWS = 8;
export const TAG_LITERALS = 1376;
export const TAG_BYTES = 2704;
export const SEPARATORS = 4096;
export const SEPARATOR_ROWS = 512;
export const SEPARATOR_LITERALS = 8192;
export const SEPARATOR_BYTES = 4080;
export const NUMBERS = 12_288;
export const NUMBER_BYTES = 53_248;
/** Text; what follows it may be read, but means nothing. */
export const TEXT = 65_536;
export const TEXT_BYTES = 130_048;
export const PAGES = 3;

/** Reasons to stop reading: no room left, the text ends inside an item, or the next item has another form. */
export const FULL = 0;
export const SHORT = 1;
export const ODD = 2;
export const LONGEST_NUMBER = 64;
