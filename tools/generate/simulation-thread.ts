/** A thread that computes units of a simulation's stages, until the simulation ends it. */
import { workerData } from "node:worker_threads";
import { SimulationStages, type SimulationState } from "./navier-stokes-stages.js";
import { serve } from "./team.js";

const state = workerData as SimulationState & { readonly thread: number };
const stages = new SimulationStages(state, state.thread);
serve(state.words, (stage, unit) => stages.do(stage, unit));
