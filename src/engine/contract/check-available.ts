/** Refuses an operation on a dataset that lacks what the operation reads. */
import { RequestError } from "../../shared/errors.js";
import { missingFor, type Operation, publicRefusal } from "../../shared/operations.js";
import type { Dataset } from "../../storage/dataset/dataset.js";

/** @throws RequestError (Unsupported) that says what the dataset lacks */
export function checkAvailable(operation: Operation, dataset: Dataset): void {
  const lack = missingFor(operation, dataset);
  if (lack === null) return;
  const text = `${publicRefusal(operation)} "${dataset.name}" cannot answer ${operation.name}: ${lack}.`;
  throw new RequestError("Unsupported", text, { member: "dataset" });
}
