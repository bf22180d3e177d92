/**
 * Requests that mean harm or are broken, one per way: repeated by the conformance suite and, more often, by the soak.
 */
import type { HostileCase } from "./hostile-case.js";
import { HOSTILE_CONNECTIONS } from "./hostile-connections.js";
import { HOSTILE_DOCUMENTS } from "./hostile-documents.js";

export const HOSTILE: readonly HostileCase[] = [...HOSTILE_DOCUMENTS, ...HOSTILE_CONNECTIONS];
