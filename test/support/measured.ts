/** Puts measured or generated tables into a document, each below its mark. */
const MARK = /(<!-- (?:measured|generated): (\S+) -->\n)((?:\|.*\n)*)/g;

/** The document with the table of its name below every mark. @throws Error unless marks and tables have the same names */
export function withTables(text: string, tables: ReadonlyMap<string, string>): string {
  const marks = [...text.matchAll(MARK)].map((mark) => mark[2] as string);
  const names = [...tables.keys()];
  if (marks.toSorted().join() !== names.toSorted().join()) {
    throw new Error(`the document has the marks ${marks.join(", ")}, measured were ${names.join(", ")}`);
  }
  return text.replace(MARK, (_, mark, name) => mark + tables.get(name));
}
