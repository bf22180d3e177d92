/** The entry of the worker threads of the events module runs the task function that the pool names. */
import { workerData } from "node:worker_threads";
import { createRenderer } from "./http/render-task.js";
import type { RenderSetup } from "./http/render-thread.js";

/** Task function of upkeep. */
export { maintain } from "./upkeep.js";

/** Task function of long representations. */
export const render = createRenderer((workerData ?? {}) as RenderSetup);
