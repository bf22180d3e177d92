/** The subjects of the messages; deploy/nats.conf grants permissions on them. */

const ROOT = "fp.v1";

/** The subjects by purpose. */
export const SUBJECTS = {
  /** Evaluations for one peer. */
  evaluate: (peer: string) => `${ROOT}.n.${peer}.eval`,
  /** Cancellations and enquiries for one peer. */
  control: (peer: string) => `${ROOT}.n.${peer}.ctl`,
  /** Evaluations for any peer that has the dataset. */
  any: (dataset: string) => `${ROOT}.any.${datasetToken(dataset)}`,
  /** Heartbeats of one peer. */
  heartbeat: (peer: string) => `${ROOT}.hb.${peer}`,
  heartbeats: `${ROOT}.hb.*`,
} as const;

/** Queue group of the peers on the `any` subjects. */
export const WORKERS_GROUP = "fp-workers";

/** The form of a peer's name: one token of a subject. */
export const PEER_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** A dataset's name as one token: letters, digits and - stay, anything else becomes its code in hexadecimal between _. */
function datasetToken(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9-]/gu, (character) => `_${character.codePointAt(0)?.toString(16)}_`);
}
