/** Types of the used part of `h5wasm-plugins`, which ships none. */
declare module "h5wasm-plugins" {
  /** The folder of the package, as a file URL. */
  export const base_url: string;
}
