/** The exports of the module. Addresses are byte offsets in the memory; `work` is the work area of the calling thread. */
export interface Module {
  tensor(
    order: number,
    derivatives: number,
    axes: number,
    terms: number,
    termCount: number,
    slots: number,
    fields: number,
    fieldCount: number,
    positions: number,
    count: number,
    out: number,
    components: number,
    work: number,
  ): void;
  nodal(
    reach: number,
    axes: number,
    taps: number,
    tapCount: number,
    slots: number,
    fields: number,
    fieldCount: number,
    positions: number,
    count: number,
    out: number,
    components: number,
    work: number,
  ): void;
  coverTensor(
    first: number,
    low: number,
    span: number,
    axes: number,
    terms: number,
    termCount: number,
    fields: number,
    positions: number,
    count: number,
    marks: number,
    list: number,
    length: number,
  ): number;
  coverNodal(
    reach: number,
    axes: number,
    taps: number,
    tapCount: number,
    fields: number,
    positions: number,
    count: number,
    marks: number,
    list: number,
    length: number,
  ): number;
  orderByBrick(
    axes: number,
    x: number,
    y: number,
    z: number,
    positions: number,
    count: number,
    keys: number,
    order: number,
    work: number,
  ): void;
}
