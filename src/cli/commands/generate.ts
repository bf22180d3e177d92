/** `fieldprobe generate`: demonstration, test and benchmark datasets. */
import { closeSync, existsSync, openSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import { type ChannelReport, writeChannel } from "#tools/channel/channel.js";
import { type CubeKind, type CubeOptions, writeCube } from "#tools/generate/cube.js";
import { type FrameReport, writeIsotropic } from "#tools/generate/isotropic.js";
import { spectrumPlot } from "#tools/generate/spectrum-plot.js";
import { meanSpectrum } from "#tools/generate/turbulence-statistics.js";
import { isFftLength } from "../../analysis/fft-lengths.js";
import type { Manifest } from "../../storage/catalog/manifest.js";
import type { Triple } from "../../storage/dataset/dataset.js";
import { NAME_PATTERN } from "../../storage/dataset/descriptor.js";
import { FILTERS, type Filter } from "../../storage/hdf5/writer.js";
import { MisuseError, NUMBER, pathArgument, wholeNumber } from "../input/arguments.js";
import { PROGRESS_HELP, progressOf } from "../output/progress.js";

const MAX_NODES = 8192;

const checked =
  (read: (text: string) => number, isRight: (value: number) => boolean, needed: string) => (text: string) => {
    const value = read(text);
    if (isRight(value)) return value;
    throw new InvalidArgumentError(`${needed} is needed.`);
  };
const powerOfTwo = checked(wholeNumber(8, 256), (n) => Number.isInteger(Math.log2(n)), "a power of two from 8 to 256");
const isSimulated = (nodes: number) => nodes % 2 === 0 && isFftLength(nodes);
const simulatedNodes = checked(wholeNumber(8, 512), isSimulated, "an even number 2^a 3^b 5^c from 8 to 512");
const numberIn = (text: string) => (NUMBER.test(text.trim()) ? Number(text) : Number.NaN);
const positive = checked(numberIn, (value) => value > 0 && Number.isFinite(value), "a positive number");

function triple(min: number): (text: string) => Triple {
  return (text) => {
    const [x, y = x, z = x, ...rest] = text.split(",").map(wholeNumber(min, MAX_NODES));
    if (x === undefined || y === undefined || z === undefined || rest.length > 0 || text.split(",").length === 2)
      throw new InvalidArgumentError("one number or three, separated by commas, are needed.");
    return [x, y, z];
  };
}

const seed = (defaultSeed: number) =>
  new Option("--seed <number>", "seed of the random numbers")
    .argParser(wholeNumber(0, 0xffffffff))
    .default(defaultSeed);

interface GeneratorFlags {
  readonly steps: number;
  readonly seed: number;
  readonly out: string;
  readonly name?: string;
}

interface CubeFlags extends GeneratorFlags {
  readonly nodes: Triple;
  readonly chunk?: Triple;
  readonly filter: Filter;
  readonly smooth?: boolean;
}

/** @throws MisuseError if the folder cannot become a dataset of the name */
function destinationOf(out: string, name: string): { folder: string; name: string } {
  const folder = resolve(out);
  if (!NAME_PATTERN.test(name))
    throw new MisuseError(`--name ${name}: 1 to 64 letters, digits, "_", "." and "-" are needed`);
  if (existsSync(join(folder, "dataset.json")))
    throw new MisuseError(`--out ${out}: the folder already holds a dataset`);
  return { folder, name };
}

/** Fails before hours of simulation. Throws the error of the operating system. */
function checkWritable(path: string): void {
  const isThere = existsSync(path);
  closeSync(openSync(path, "a"));
  if (!isThere) rmSync(path);
}

async function generateCube(kind: CubeKind, flags: CubeFlags): Promise<void> {
  const { nodes, steps, filter, seed, chunk = null } = flags;
  const size = nodes[0] === nodes[1] && nodes[1] === nodes[2] ? `${nodes[0]}` : nodes.join("x");
  const destination = destinationOf(flags.out, flags.name ?? `${kind}${size}`);
  const options: CubeOptions = { kind, nodes, steps, chunk, filter, seed, ...destination };
  const progress = progressOf(destination.name);
  report(destination, await writeCube(options, progress.update).finally(progress.stop));
}

interface IsotropicFlags extends GeneratorFlags {
  readonly nodes: number;
  readonly viscosity: number;
  readonly spinUp: number;
  readonly spectrum?: string;
  readonly packed?: boolean;
}

async function generateIsotropic(flags: IsotropicFlags): Promise<void> {
  const { nodes, viscosity, seed, spinUp, steps: frames, packed = false } = flags;
  const destination = destinationOf(flags.out, flags.name ?? `isotropic${nodes}`);
  if (flags.spectrum !== undefined) checkWritable(flags.spectrum);
  const aliases = flags.name === undefined ? [`iso${nodes}`] : [];
  const progress = progressOf(destination.name);
  const options = { nodes, viscosity, seed, spinUp, frames, aliases, packed, ...destination };
  const { manifest, reports, kmax } = await writeIsotropic(options, progress.update).finally(progress.stop);
  if (flags.spectrum !== undefined) writeFileSync(flags.spectrum, spectrumPlot(meanSpectrum(reports), kmax));
  process.stdout.write(`${flowTable(reports)}\n`);
  report(destination, manifest);
}

function flowTable(reports: readonly FrameReport[]): string {
  const lines = ["  time  energy  dissipation   input  Re_lambda  skewness  kmax*eta  turnover"];
  const cell = (value: number, digits: number, width: number) => value.toFixed(digits).padStart(width);
  for (const { time, energy, dissipation, input, reynolds, skewness, resolution, turnover } of reports) {
    const flow = `${cell(time, 1, 6)}${cell(energy, 4, 8)}${cell(dissipation, 4, 13)}${cell(input, 4, 8)}`;
    const more = `${cell(reynolds, 1, 11)}${cell(skewness, 3, 10)}${cell(resolution, 3, 10)}${cell(turnover, 2, 10)}`;
    lines.push(flow + more);
  }
  const shells = [...meanSpectrum(reports)].map((energy, k) => `${String(k).padStart(5)}  ${energy.toExponential(3)}`);
  return [...lines, "shell  mean energy", ...shells.slice(1)].join("\n");
}

interface ChannelFlags extends GeneratorFlags {
  readonly nodes: Triple;
  readonly lengths: readonly [number, number];
  readonly reynolds: number;
  readonly spinUp: number;
  readonly averaged: number;
}

/** Powers of two along x and z, for the transforms. */
function channelNodes(text: string): Triple {
  const nodes = triple(8)(text);
  powerOfTwo(String(nodes[0]));
  powerOfTwo(String(nodes[2]));
  return nodes;
}

function lengthPair(text: string): readonly [number, number] {
  const [x, z, ...rest] = text.split(",").map(positive);
  if (x === undefined || z === undefined || rest.length > 0)
    throw new InvalidArgumentError("two numbers, separated by a comma, are needed.");
  return [x, z];
}

async function generateChannel(flags: ChannelFlags): Promise<void> {
  const { out, name, steps: frames, ...physics } = flags;
  const destination = destinationOf(out, name ?? "turbulent-channel");
  const progress = progressOf(destination.name);
  const options = { ...physics, frames, ...destination };
  const { manifest, report: averages } = await writeChannel(options, progress.update).finally(progress.stop);
  process.stdout.write(`${channelTable(averages, flags.reynolds)}\n`);
  report(destination, manifest);
}

function channelTable({ y, profiles, bulk }: ChannelReport, reynolds: number): string {
  const cell = (value: number, digits: number) => value.toFixed(digits).padStart(9);
  const lines = [`bulk velocity ${bulk.toFixed(3)}`, "       y+        U    u_rms    v_rms    w_rms      -uv"];
  for (let j = 0; 2 * j < y.length; j++) {
    const mean = (of: Float64Array, sign = 1) => ((of[j] ?? 0) + sign * (of[y.length - 1 - j] ?? 0)) / 2;
    const rms = [profiles.uu, profiles.vv, profiles.ww].map((of) => cell(Math.sqrt(mean(of)), 3)).join("");
    const plus = cell(reynolds * (1 + (y[j] ?? 0)), 2);
    lines.push(`${plus}${cell(mean(profiles.u), 3)}${rms}${cell(-mean(profiles.uv, -1), 3)}`);
  }
  return lines.join("\n");
}

function report(destination: { folder: string; name: string }, manifest: Manifest): void {
  const files = Object.entries(manifest.files);
  process.stdout.write(`${destination.name} in ${destination.folder}\n`);
  for (const [path, { bytes, sha256 }] of files) process.stdout.write(`  ${path}  ${bytes} bytes  sha256 ${sha256}\n`);
}

const FILTER = new Option("--filter <filter>", "checksum or compression").choices(FILTERS).default("fletcher32");

function generator(name: string, about: string, named = "kind and nodes"): Command {
  return new Command(name)
    .description(about)
    .requiredOption("--out <folder>", "dataset folder to make", pathArgument)
    .option("--name <name>", `name of the dataset (default: ${named})`)
    .addHelpText("after", PROGRESS_HELP)
    .exitOverride();
}

function cubeCommand(name: string, about: string): Command {
  return generator(name, about)
    .requiredOption("--nodes <n>", "nodes, one number or nx,ny,nz; every axis has the period 2 pi", triple(2))
    .option("--steps <n>", "stored frames, 0.1 apart from t = 0", wholeNumber(1, 1_000_000), 1)
    .option("--chunk <n>", "nodes of an HDF5 chunk, one number or nx,ny,nz (default: 32)", triple(1))
    .addOption(FILTER);
}

const FORMULAS = [
  ["abc", "Arnold-Beltrami-Childress flow, decaying; velocity and pressure"],
  ["taylor-green", "Taylor-Green vortex, decaying; velocity and pressure"],
  ["mhd", "conducting flow; velocity, pressure, magnetic field and vector potential"],
  ["mixing", "mixing flow; velocity, pressure, density and temperature"],
] as const;

function isotropicCommand(): Command {
  const about = "forced isotropic turbulence by direct numerical simulation; velocity, pressure and force";
  return generator("isotropic", about)
    .option("--nodes <n>", "nodes along each axis: even, 2^a 3^b 5^c", simulatedNodes, 32)
    .option("--steps <n>", "stored frames, 0.2 apart, three of them guards", wholeNumber(4, 10_000), 15)
    .option("--viscosity <nu>", "kinematic viscosity", positive, 0.036)
    .option("--spin-up <time>", "simulated time before the first stored frame", positive, 40)
    .option("--packed", "store 16-bit integers with a scale for each component instead of float32")
    .option("--spectrum <file>", "draw the mean energy spectrum as SVG", pathArgument)
    .addOption(seed(5))
    .action(generateIsotropic);
}

function channelCommand(): Command {
  const about = "turbulent flow between two walls by direct numerical simulation; velocity and pressure";
  return generator("channel", about, "turbulent-channel")
    .option("--nodes <nx,ny,nz>", "nodes; those along x and z are powers of two", channelNodes, [32, 49, 32])
    .option("--lengths <x,z>", "periods along x and z in half heights", lengthPair, [Math.PI, Math.PI / 2])
    .option("--reynolds <number>", "friction velocity times half height over viscosity", positive, 110)
    .option("--spin-up <time>", "simulated time before averages begin", positive, 6)
    .option("--averaged <time>", "simulated time of the averages; the stored frames are its last ones", positive, 10)
    .option("--steps <n>", "stored frames, 0.025 apart, guards included", wholeNumber(4, 10_000), 20)
    .addOption(seed(1))
    .action(generateChannel);
}

export function generateCommand(): Command {
  const command = new Command("generate").addCommand(isotropicCommand()).addCommand(channelCommand());
  for (const [kind, about] of FORMULAS)
    command.addCommand(cubeCommand(kind, about).action((flags) => generateCube(kind, { ...flags, seed: 0 })));
  const random = cubeCommand("random", "random velocity and pressure")
    .option("--smooth", "a few standing waves instead of white noise")
    .addOption(seed(1))
    .action((flags: CubeFlags) => generateCube(flags.smooth === true ? "smooth" : "random", flags));
  return command.addCommand(random);
}
