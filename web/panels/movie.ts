/** The movie takes a picture at each time that is played, and saves them as WebM or as a zip file of PNGs. */
import { pngOf } from "../figures/figure-file.js";
import { saveFile } from "../figures/save-file.js";

export type MovieKind = "webm" | "zip";

/** What is filmed. */
export interface FilmedView {
  readonly name: string;
  readonly frames: readonly number[];
  /** Pictures a second. */
  readonly speed: number;
  /** Shows a time, and resolves when everything on the page shows it. */
  readonly show: (time: number, signal: AbortSignal) => Promise<void>;
  /** The picture of what is shown. */
  readonly capture: () => Promise<HTMLCanvasElement>;
}

/** The form in which this browser encodes WebM; null if it does not. */
function webmType(): string | null {
  if (typeof MediaRecorder === "undefined") return null;
  const types = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm"];
  return types.find((type) => MediaRecorder.isTypeSupported(type)) ?? null;
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/**
 * Films a view and saves the movie.
 *
 * @param tell is called with the part that is done, from 0 to 1
 * @throws the reason of the signal if it aborts
 */
export async function film(
  kind: MovieKind,
  view: FilmedView,
  tell: (part: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const pictures: HTMLCanvasElement[] = [];
  for (const [i, time] of view.frames.entries()) {
    signal.throwIfAborted();
    await view.show(time, signal);
    pictures.push(await view.capture());
    tell((0.9 * (i + 1)) / view.frames.length);
  }
  const movie = kind === "webm" ? await encode(pictures, view.speed, signal) : await pack(pictures, view, signal);
  signal.throwIfAborted();
  saveFile(`${view.name}.${kind}`, movie);
  tell(1);
}

/** Lets the browser record the pictures, each for its time. */
async function encode(pictures: readonly HTMLCanvasElement[], speed: number, signal: AbortSignal): Promise<Blob> {
  const [first] = pictures;
  const mimeType = webmType();
  if (first === undefined || mimeType === null) throw new Error("This browser encodes no WebM; take the zip file.");
  const canvas = Object.assign(document.createElement("canvas"), { width: first.width, height: first.height });
  const pen = canvas.getContext("2d");
  const stream = canvas.captureStream(0);
  const [track] = stream.getVideoTracks() as CanvasCaptureMediaStreamTrack[];
  const recorder = new MediaRecorder(stream, { mimeType, videoBitsPerSecond: 12_000_000 });
  const parts: Blob[] = [];
  recorder.addEventListener("dataavailable", ({ data }) => parts.push(data));
  const ended = new Promise((resolve) => recorder.addEventListener("stop", resolve, { once: true }));
  recorder.start();
  for (const picture of [...pictures, ...pictures.slice(-1)]) {
    if (signal.aborted) break;
    pen?.drawImage(picture, 0, 0);
    track?.requestFrame();
    await pause(1000 / speed);
  }
  recorder.stop();
  await ended;
  return new Blob(parts, { type: "video/webm" });
}

/** Packs the pictures as PNG files. */
async function pack(
  pictures: readonly HTMLCanvasElement[],
  { name, frames }: FilmedView,
  signal: AbortSignal,
): Promise<Blob> {
  const { zipSync } = await import("fflate");
  const files: Record<string, Uint8Array> = {};
  const digits = String(pictures.length).length;
  for (const [i, picture] of pictures.entries()) {
    signal.throwIfAborted();
    const file = `${name}-${String(i + 1).padStart(digits, "0")}-t${Number((frames[i] ?? 0).toPrecision(6))}.png`;
    files[file] = new Uint8Array(await (await pngOf(picture)).arrayBuffer());
  }
  return new Blob([zipSync(files, { level: 0 }) as Uint8Array<ArrayBuffer>], { type: "application/zip" });
}
