/** Subjects of the messages; the permissions in deploy/nats.conf are written against these. */

const ROOT = "fp.v1";

export const SUBJECTS = {
  /** Evaluations for one node. */
  evaluate: (node: string) => `${ROOT}.n.${node}.eval`,
  /** Cancellations and enquiries for one node. */
  control: (node: string) => `${ROOT}.n.${node}.ctl`,
  /** Evaluations for any node that has the dataset. */
  any: (dataset: string) => `${ROOT}.any.${datasetToken(dataset)}`,
  /** Where a node says every second that it lives. */
  heartbeat: (node: string) => `${ROOT}.hb.${node}`,
  heartbeats: `${ROOT}.hb.*`,
} as const;

/** Queue group of the nodes on the `any` subjects. */
export const WORKERS_GROUP = "fp-workers";

/** What a name of a node may be: one token of a subject. */
export const NODE_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** A dataset's name as one token: letters, digits and - stay, anything else becomes its code in hexadecimal between _. */
function datasetToken(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9-]/gu, (character) => `_${character.codePointAt(0)?.toString(16)}_`);
}
