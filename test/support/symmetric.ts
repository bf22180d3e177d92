/** The components of a symmetric tensor in the order of answers: xx, yy, zz, xy, xz, yz. */
export const SYMMETRIC = [
  [0, 0],
  [1, 1],
  [2, 2],
  [0, 1],
  [0, 2],
  [1, 2],
] as const;
