/** Types of the used part of `sax`, which ships none. */
declare module "sax" {
  interface Parser {
    onopentag: (tag: { readonly name: string; readonly attributes: Readonly<Record<string, string>> }) => void;
    onclosetag: (name: string) => void;
    ontext: (text: string) => void;
    onerror: (error: Error) => void;
    error: Error | null;
    write(text: string): Parser;
    resume(): Parser;
    close(): void;
  }
  export function parser(strict: boolean, options?: { readonly lowercase?: boolean }): Parser;
}
