/** Scans a folder or an address of one dataset. */
import { expect } from "vitest";
import { scanFolders } from "../../src/storage/catalog/scan-folders.js";
import type { Dataset } from "../../src/storage/dataset/dataset.js";

/** The only dataset at a place; whatever is refused fails the test. */
export function onlyDataset(place: string): Dataset {
  const { datasets, problems } = scanFolders([place], { chunkBytes: 2 ** 26 });
  expect([problems, datasets.length]).toEqual([[], 1]);
  return datasets[0] as Dataset;
}
