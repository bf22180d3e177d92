/** Entry of the worker threads of the events module; the pool names the task function. */
import { workerData } from "node:worker_threads";
import { createRenderer } from "./http/render-task.js";
import type { RenderSetup } from "./http/render-thread.js";

export { maintain } from "./upkeep.js";

export const render = createRenderer((workerData ?? {}) as RenderSetup);
