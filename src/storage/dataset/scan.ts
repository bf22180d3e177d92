/** Records of a scan of data folders: candidates, changes and datasets. */
import { sep } from "node:path";
import { shellText } from "../../shared/messages.js";
import type { Dataset } from "./dataset.js";

interface Reasons {
  /** Names and aliases of the refused dataset, if they are known. */
  readonly names?: readonly string[];
  /** Whether a person has to confirm its description. */
  readonly waits?: true;
  readonly sources?: readonly string[];
}

export interface Refusal extends Reasons {
  readonly location: string;
  readonly message: string;
}

export interface Refused extends Reasons {
  readonly problems: readonly string[];
}

/** Beginnings of refusals that concern the content of a file and callers are told: open questions, the unsupported. */
export const BY_CONTENT = /^(open question about|recognised as) /;

export interface Admitted {
  readonly dataset: Dataset;
  /** Files of its series that are not part of it yet. */
  readonly waiting: readonly Refusal[];
}

export type CandidateOutcome = Admitted | Refused;

/** A possible dataset, with the state of its files and the outcome of its examination. */
export interface Candidate {
  readonly location: string;
  /** Digest of everything that it may read; empty: every scan examines it. */
  readonly state: string;
  readonly outcome: CandidateOutcome;
}

export interface ScanChanges {
  readonly candidates: readonly (Omit<Candidate, "outcome"> & { readonly outcome: CandidateOutcome | null })[];
  readonly unreadable: readonly Refusal[];
  readonly folders: readonly string[];
}

export interface FolderScan {
  readonly datasets: readonly Dataset[];
  readonly problems: readonly Refusal[];
  readonly candidates: readonly Candidate[];
  /** Unreadable folders, which are also among the problems. */
  readonly unreadable: readonly Refusal[];
}

export function statesOf(scan: FolderScan | undefined): ReadonlyMap<string, string> {
  return new Map(scan?.candidates.map(({ location, state }) => [location, state]));
}

/** Listed times by location: growing files keep those that were taken. */
export function timesServed(scan: FolderScan | undefined): ReadonlyMap<string, Float64Array> {
  return new Map(scan?.datasets.flatMap(({ location, time: { values } }) => (values ? [[location, values]] : [])));
}

function isSame({ candidates, unreadable }: ScanChanges, previous: FolderScan): boolean {
  return (
    candidates.length === previous.candidates.length &&
    candidates.every(({ location, outcome }, i) => outcome === null && location === previous.candidates[i]?.location) &&
    JSON.stringify(unreadable) === JSON.stringify(previous.unreadable)
  );
}

/** Completes a scan with unchanged outcomes; returns the previous scan if nothing has changed. */
export function completeScan(changes: ScanChanges, previous: FolderScan | undefined): FolderScan {
  const { candidates, unreadable } = changes;
  if (previous !== undefined && isSame(changes, previous)) return previous;
  const known = new Map(previous?.candidates.map((candidate) => [candidate.location, candidate]));
  const whole = candidates.map(({ location, state, outcome }): Candidate => {
    return outcome === null ? (known.get(location) as Candidate) : { location, state, outcome };
  });
  const found = whole.flatMap(({ outcome }) => ("dataset" in outcome ? [outcome.dataset] : []));
  const refused = whole.flatMap(({ location, outcome }) => {
    if ("dataset" in outcome) return outcome.waiting;
    const { problems, ...named } = outcome;
    return problems.map((message) => ({ location, message, ...named }));
  });
  const { datasets, clashes } = withoutClashes(found);
  return { datasets, problems: [...unreadable, ...refused, ...clashes], candidates: whole, unreadable };
}

const MAX_WAITING = 20;

/** Lines of the log about refusals, and about the first files that wait for a person. */
export function linesAbout(problems: readonly Refusal[], folders: readonly string[]): string[] {
  const line = ({ location, message }: Refusal) => `${location}: ${message}`;
  const waiting = problems.filter(({ waits }) => waits === true);
  const more = waiting.length - MAX_WAITING;
  const held = folders.filter((folder) => waiting.some(({ location }) => location.startsWith(folder + sep)));
  return [
    ...problems.filter(({ waits }) => waits !== true).map(line),
    ...waiting.slice(0, MAX_WAITING).map(line),
    ...(more > 0 ? [`${more} more files need a look`] : []),
    ...held.map((folder) => {
      const own = waiting.filter(({ location }) => location.startsWith(folder + sep));
      const [apart = ""] = own.flatMap(({ message }) => / --descriptors ('[^']*'|\S+)/.exec(message)?.[0] ?? []);
      return `fieldprobe inspect --all ${shellText(folder)} --yes${apart} confirms all files that leave no line open`;
    }),
  ];
}

/** Removes datasets that share a name or alias: none is served. Letter case does not distinguish names. */
function withoutClashes(found: readonly Dataset[]): { datasets: Dataset[]; clashes: Refusal[] } {
  const claims = new Map<string, Dataset[]>();
  for (const dataset of found) {
    for (const name of new Set([dataset.name, ...dataset.aliases].map((claim) => claim.toLowerCase())))
      claims.set(name, [...(claims.get(name) ?? []), dataset]);
  }
  const refused = new Set<Dataset>();
  const clashes: Refusal[] = [];
  for (const [name, claimants] of claims) {
    if (claimants.length < 2) continue;
    for (const dataset of claimants) {
      refused.add(dataset);
      const others = claimants.filter((other) => other !== dataset).map((other) => other.location);
      clashes.push({
        location: dataset.location,
        names: [dataset.name, ...dataset.aliases],
        message: `the name "${name}" is also claimed by ${others.join(", ")}; none of them is served`,
      });
    }
  }
  const datasets = found.filter((dataset) => !refused.has(dataset));
  return { datasets: datasets.sort((a, b) => (a.name < b.name ? -1 : 1)), clashes };
}
