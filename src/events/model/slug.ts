/** Slugs: the part of an address that stands for a name. */

/** Lower case letters, digits and hyphens; `item` when the name has none of them. */
export function slugOf(name: string): string {
  const plain = name.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  return plain.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "") || "item";
}
