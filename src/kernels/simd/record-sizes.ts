/**
 * States the bytes of the records that host and module share; both compile this file, and `assembly/records.ts` checks
 * them.
 */
export const AXIS_BYTES = 24;
export const FIELD_BYTES = 52;
export const FRAMES_BYTES = 60;
export const PACKET_BYTES = 32;
export const TERM_BYTES = 48;
export const TAP_BYTES = 24;
