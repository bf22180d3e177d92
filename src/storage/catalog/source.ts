/** Opens a dataset named on the command line: a folder, a descriptor, or a bare file. */
import { readdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { isAddress } from "../../shared/addresses.js";
import { DataError } from "../../shared/errors.js";
import type { Dataset } from "../dataset/dataset.js";
import { questionText } from "../dataset/descriptor.js";
import { DESCRIPTOR_NAME, isStore } from "../dataset/folder-names.js";
import type { Refused } from "../dataset/scan.js";
import type { Answers } from "../recognise/answers.js";
import { flagsOf, openLines } from "../recognise/draft.js";
import { isComplete, recognise } from "../recognise/recognise.js";
import { StoreStates } from "../remote/store-states.js";
import { describeApart } from "./apart.js";
import { confirmationFor, isChangedConfirmation, waitsFor } from "./confirmation.js";
import { admit } from "./gate.js";
import { describeFolder, nameOf } from "./scan-folders.js";
import type { Description } from "./verify.js";

/**
 * Verifies the dataset at a path.
 * @param descriptors folder of descriptors, which may hold confirmations
 * @throws DataError with all problems, a line each
 */
export function openSource(
  path: string,
  chunkBytes: number,
  answers: Answers = {},
  descriptors: string | null = null,
): Dataset {
  if (isAddress(path)) return admitted(path, atAddress(path, answers, descriptors), chunkBytes);
  const location = resolve(path);
  const status = statSync(location, { throwIfNoEntry: false });
  if (status === undefined) throw new DataError(`${path}: there is no such file or folder`);
  const isFolder = status.isDirectory() && !isStore(readdirSync(location));
  const descriptor = isFolder ? join(location, DESCRIPTOR_NAME) : location;
  if (statSync(descriptor, { throwIfNoEntry: false }) === undefined)
    throw new DataError(`${path}: there is no ${DESCRIPTOR_NAME} in the folder`);
  const description = isChangedConfirmation(descriptor)
    ? describedBy(descriptor)
    : bareFile(location, answers, descriptors);
  return admitted(path, description, chunkBytes);
}

/** The stores, files and descriptors at or below an address; the address itself if there are none. */
export function placesAt(address: string): readonly string[] {
  const place = address.replace(/\/+$/, "");
  return StoreStates.with([place], (states) => states.placesAt(place, new Map()));
}

function admitted(path: string, description: Description | Refused, chunkBytes: number): Dataset {
  const outcome = "problems" in description ? description : admit(description, chunkBytes);
  if ("problems" in outcome) throw new DataError(`${path}: ${outcome.problems.join(`\n${path}: `)}`);
  return outcome.dataset;
}

/** @throws DataError for a folder that does not hold exactly one dataset */
function atAddress(path: string, answers: Answers, descriptors: string | null): Description | Refused {
  const address = path.replace(/\/+$/, "");
  return StoreStates.with([address], (states) => {
    const places = states.placesAt(address, new Map());
    const [place = address] = places;
    const problem = states.problemAt(place);
    if (problem !== null) return { problems: [problem] };
    if (basename(place) === DESCRIPTOR_NAME && places.length === 1) return describeFolder(place, "");
    if (place === address) return bareFile(address, answers, descriptors);
    return { problems: [`there is no ${DESCRIPTOR_NAME} in the folder; name one of what it holds, e.g. ${place}`] };
  });
}

export function describedBy(location: string): Description | Refused {
  return basename(location) === DESCRIPTOR_NAME ? describeFolder(location, "") : describeApart(location, "", ["/"]);
}

/** A bare file, as confirmed, as its format defines it, or as the user describes and confirms it. */
function bareFile(location: string, answers: Answers, descriptors: string | null): Description | Refused {
  const path = isAddress(location) ? location : realpathSync(location);
  const { yes: _, despite: __, ...said } = answers;
  const isSaid = Object.values(said).some((answer) => answer !== undefined);
  const confirmed = isSaid ? null : confirmationFor(location, descriptors);
  if (confirmed !== null) return describedBy(confirmed);
  const found = recognise(path, answers, nameOf(location));
  if (found === null)
    throw new DataError(`${basename(location)}: its layout is not recognised; fieldprobe inspect shows what it holds`);
  const { descriptor, warnings } = found;
  const open = openLines(descriptor.questions);
  if (open.length > 0) {
    const lines = open.map((line) => `open question about ${questionText(line)}`);
    return { problems: [`${waitsFor(location, found, descriptors)} (or the flags ${flagsOf(open)})`, ...lines] };
  }
  if (!isComplete(found) && answers.yes !== true)
    throw new DataError(`${waitsFor(location, found, descriptors)} --yes confirms it`);
  const folder = isAddress(path) ? "." : dirname(path);
  return {
    ...{ descriptor: { ...descriptor, questions: [] }, folder, location, digest: "", warnings },
    ...(answers.despite === undefined ? {} : { despite: answers.despite }),
  };
}
