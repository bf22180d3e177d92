/** Stores of `fieldprobe convert`, by the attribute that holds their descriptor. */
import { DataError } from "../../shared/errors.js";
import { type DescriptorInput, parseDescriptor } from "../dataset/descriptor.js";
import { type Contents, Findings, type Layout } from "./layout.js";

/** The attribute of the root that holds the descriptor. */
export const DESCRIPTOR_ATTRIBUTE = "fieldprobe_descriptor";
/** The name in it that means the store itself. */
export const STORE_ITSELF = "{store}";

export const convertedStore: Layout = {
  producer: "fieldprobe",
  recognise(contents: Contents) {
    const text = contents.texts("/", DESCRIPTOR_ATTRIBUTE)?.join("");
    if (text === undefined) return null;
    let written: DescriptorInput;
    try {
      written = JSON.parse(text, (key, value) => (key === "file" ? ownName(value, contents.name) : value));
    } catch (cause) {
      if (cause instanceof DataError) throw cause;
      throw new DataError(`its attribute ${DESCRIPTOR_ATTRIBUTE} is not readable as JSON`, cause);
    }
    const { schemaVersion: _, name, ...plan } = Object(written) as DescriptorInput;
    const parsed = parseDescriptor(JSON.stringify({ schemaVersion: 1, name: name ?? "unnamed", ...plan }));
    if ("problems" in parsed) throw new DataError(`its description fails: ${parsed.problems.join("; ")}`);
    const findings = new Findings();
    findings.addReason(`everything: from the attribute ${DESCRIPTOR_ATTRIBUTE}.`);
    return { plan, findings, name };
  },
};

/** A store is untrusted: its descriptor may name only the store itself. */
function ownName(file: unknown, name: string): string {
  if (file !== STORE_ITSELF) throw new DataError(`its attribute ${DESCRIPTOR_ATTRIBUTE} names another file`);
  return name;
}
