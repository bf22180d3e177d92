/** What the FFT module and its caller agree on; AssemblyScript reads this file too. */

/** Complex lines that are transformed side by side. */
export const LINES = 8;
/** Bytes of one number of each array, without imaginary parts. */
export const LINES_BYTES = 64;
/** Bytes of a pass of a plan: radix, m, s, and the address of its twiddle factors. */
export const PASS_BYTES = 16;
