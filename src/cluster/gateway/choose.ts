/** Which node a batch goes to. */

import { hasCredit, loadOf, type Member, type Membership } from "./membership.js";
import type { Job } from "./shipment.js";

/** The node for a batch: null for any that listens, "later" when all have enough to do. */
export function chooseNode(membership: Membership, { parcel, refused, tries }: Job): Member | null | "later" {
  const busy = new Set([...tries].map(({ member }) => member));
  const all = membership.usable(parcel.header.generation).filter((member) => !busy.has(member));
  const fresh = all.filter(({ name }) => !refused.has(name));
  const usable = fresh.length > 0 ? fresh : all;
  if (usable.length === 0) return null;
  const trusted = usable.filter(({ suspect }) => !suspect);
  const free = (trusted.length > 0 ? trusted : usable).filter(hasCredit);
  if (free.length === 0) return "later";
  const suited = free.find(({ name }) => name === parcel.node);
  return suited ?? free.reduce((least, member) => (loadOf(member) < loadOf(least) ? member : least));
}
