/** Declares what is used of `h5wasm-plugins`, which ships no types. */
declare module "h5wasm-plugins" {
  /** The folder of the package, as a file URL. */
  export const base_url: string;
}
