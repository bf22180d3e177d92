/** Types of the part of `sax` that is used here; it ships none. */
declare module "sax" {
  interface Parser {
    onopentag: (tag: { readonly name: string }) => void;
    onclosetag: (name: string) => void;
    ontext: (text: string) => void;
    onerror: (error: Error) => void;
    write(text: string): Parser;
    close(): void;
  }
  export function parser(strict: boolean): Parser;
}
