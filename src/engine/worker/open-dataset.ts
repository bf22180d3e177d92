/** Open datasets of a thread: their files, the brick sources of their fields, the schemes of their grids. */
import { type Accelerator, createScheme } from "../../kernels/index.js";
import type { Scheme } from "../../kernels/types.js";
import type { StoredBricks as OpenFiles } from "../../storage/bricks/brick-reader.js";
import { NOT_CACHED } from "../../storage/bricks/cache.js";
import {
  AXIS_NAMES,
  axesOfField,
  type Dataset,
  type FieldName,
  fieldOf,
  isInStore,
  sourceNumber,
} from "../../storage/dataset/dataset.js";
import type { OtherDataset } from "../contract/task.js";
import type { BrickSource } from "./brick-source.js";
import { makeForGrid } from "./refusals.js";

/** Datasets that a thread keeps open; the least recently used one is closed. */
const MAX_OPEN = 16;

export interface SchemeSettings {
  readonly fd8Legacy: boolean;
  readonly accelerator: Accelerator | undefined;
}

/** The open datasets by the number of their first field in the brick cache; tasks bring them as `Carried`. */
export class OpenDatasets<Carried> {
  readonly #settings: SchemeSettings;
  readonly #read: (carried: Carried) => Dataset;
  readonly #openFiles: ((dataset: Dataset) => OpenFiles) | null;
  readonly #open = new Map<number, OpenDataset>();

  /** @param openFiles opens the files of a dataset; null: this thread uses only bricks that the cache holds */
  constructor(
    settings: SchemeSettings,
    read: (carried: Carried) => Dataset,
    openFiles: ((dataset: Dataset) => OpenFiles) | null,
  ) {
    this.#settings = settings;
    this.#read = read;
    this.#openFiles = openFiles;
  }

  of({ source, dataset, others = [] }: Omit<OtherDataset<Carried>, "name">): OpenDataset {
    const found = this.#open.get(source) ?? this.#make(source, this.#read(dataset));
    this.#open.delete(source);
    this.#open.set(source, found);
    if (this.#open.size > MAX_OPEN) {
      const [oldest, dropped] = this.#open.entries().next().value as [number, OpenDataset];
      this.#open.delete(oldest);
      dropped.close();
    }
    for (const one of others) found.others.set(one.name, this.of(one));
    return found;
  }

  #make(source: number, dataset: Dataset): OpenDataset {
    return new OpenDataset(source, dataset, this.#settings, this.#openFiles?.(dataset) ?? null);
  }
}

export class OpenDataset {
  readonly dataset: Dataset;
  /** Datasets that expressions of the last task name besides. */
  readonly others = new Map<string, OpenDataset>();
  readonly #source: number;
  readonly #settings: SchemeSettings;
  readonly #sources = new Map<FieldName, BrickSource>();
  readonly #schemes = new Map<string, Scheme>();
  /** Null if only cached bricks are used. */
  readonly #files: OpenFiles | null;

  constructor(source: number, dataset: Dataset, settings: SchemeSettings, files: OpenFiles | null) {
    this.dataset = dataset;
    this.#source = source;
    this.#settings = settings;
    this.#files = files;
  }

  source(name: FieldName): BrickSource {
    const known = this.#sources.get(name);
    const field = fieldOf(this.dataset, name);
    if (known || !field) return known as BrickSource;
    const files = this.#files;
    const source: BrickSource = {
      source: this.#source + sourceNumber(this.dataset, name),
      components: field.components,
      bricking: field.bricking,
      load: (frame, brick, into) => {
        if (files === null) throw NOT_CACHED;
        files.readBrick(name, frame, brick, into);
      },
      fetched: isInStore(this.dataset) && files !== null ? (bricks) => files.fetched(name, bricks) : undefined,
    };
    this.#sources.set(name, source);
    return source;
  }

  /** The scheme of a kernel on the grid of the dataset or a part. Throws RequestError if an axis has too few nodes. */
  scheme(kernel: string, method: string, part?: FieldName): Scheme {
    const axes = part === undefined ? this.dataset.axes : axesOfField(this.dataset, part);
    const key = `${kernel} ${method} ${axes === this.dataset.axes ? "" : part}`;
    const known = this.#schemes.get(key);
    if (known) return known;
    const { fd8Legacy, accelerator } = this.#settings;
    const make = () => createScheme(kernel, method, axes, { fd8Legacy }, accelerator);
    const made = makeForGrid(tooSmall(this.dataset, method), "spatialInterpolation", make);
    this.#schemes.set(key, made);
    return made;
  }

  close(): void {
    this.#files?.close();
  }
}

function tooSmall({ name, axes }: Dataset, method: string): string {
  const planes = axes.flatMap(({ nodes, periodic }, a) => (nodes === 1 && !periodic ? [AXIS_NAMES[a]] : []));
  const text = `The grid of "${name}" is too small for ${method}`;
  if (planes.length === 0) return `${text}.`;
  return `${text}: it has one node along ${planes.join(" and ")}, and is not said to be periodic, thus constant, there.`;
}
