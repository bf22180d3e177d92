/** The part of WebAssembly that the engine uses; the types of Node 20 do not have it. */
declare namespace WebAssembly {
  class Memory {
    constructor(descriptor: { initial: number; maximum?: number; shared?: boolean });
    readonly buffer: ArrayBufferLike;
  }
}
