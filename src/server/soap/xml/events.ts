/** What the reader meets in a document, and what it says of bytes at hand that are no event. */
export const START = 1;
export const END = 2;
export const TEXT = 3;
export const DONE = 4;
export type XmlEvent = typeof START | typeof END | typeof TEXT | typeof DONE;

/** Inside the reader: the token at hand is not complete yet; something was passed over that is no event. */
export const MORE = 0;
export const AGAIN = -1;
