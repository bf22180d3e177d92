/** Movies: pictures of a canvas, encoded by the browser, as MP4 (ISO/IEC 14496-12) in which all last equally long. */
import { joined } from "./download.js";

const words = (...numbers: readonly number[]) =>
  Uint8Array.from(numbers.flatMap((one) => [one >>> 24, one >>> 16, one >>> 8, one]));
const ascii = (text: string) => new TextEncoder().encode(text);

function box(name: string, ...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return joined([words(parts.reduce((sum, { length }) => sum + length, 8)), ascii(name), ...parts]);
}

const MATRIX = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000];
/** Profile 0, level 4, 8 bits, BT.709. */
const VP9 = words(0x01000000, 0x00288201, 0x01010000);

/**
 * An MP4 of encoded pictures, `rate` a second, of which those of `keys`, numbered from 1, need no earlier one. `avc`: the
 * record of a decoder of H.264; null for VP9.
 */
export function mp4Of(
  chunks: readonly Uint8Array[],
  keys: readonly number[],
  rate: number,
  [width, height]: readonly number[],
  avc: Uint8Array | null,
): Uint8Array<ArrayBuffer> {
  const n = chunks.length;
  const [scale, length] = [1000 * rate, 1000 * n];
  const start = box("ftyp", ascii("isom"), words(512), ascii("isomiso2mp41"));
  const config = avc === null ? box("vpcC", VP9) : box("avcC", avc);
  const size = words(0, 1, 0, 0, 0, 0, (width << 16) | height, 0x480000, 0x480000, 0);
  const name = words(0x10000, 0, 0, 0, 0, 0, 0, 0, 0x18);
  const entry = box(avc === null ? "vp09" : "avc1", size, name, Uint8Array.of(255, 255), config);
  const sizes = box("stsz", words(0, 0, n, ...chunks.map((one) => one.length)));
  const places = joined([sizes, box("stsc", words(0, 1, 1, n, 1)), box("stco", words(0, 1, start.length + 8))]);
  const times = joined([box("stts", words(0, 1, n, 1000)), box("stss", words(0, keys.length, ...keys))]);
  const table = box("stbl", box("stsd", words(0, 1), entry), times, places);
  const data = box("dinf", box("dref", words(0, 1), box("url ", words(1))));
  const kind = box("hdlr", words(0, 0), ascii("vide"), words(0, 0, 0), Uint8Array.of(0));
  const content = box("minf", box("vmhd", words(1, 0, 0)), data, table);
  const media = box("mdia", box("mdhd", words(0, 0, 0, scale, length, 0x55c40000)), kind, content);
  const head = words(3, 0, 0, 1, 0, length, 0, 0, 0, 0, ...MATRIX, width << 16, height << 16);
  const whole = words(0, 0, 0, scale, length, 0x10000, 0x01000000, 0, 0, ...MATRIX, 0, 0, 0, 0, 0, 0, 2);
  const track = box("trak", box("tkhd", head), media);
  return joined([start, box("mdat", ...chunks), box("moov", box("mvhd", whole), track)]);
}

/** Encodes pictures of a canvas, `rate` a second, none of which is lost. Throws Error if the browser cannot. */
export async function movieOf(canvas: HTMLCanvasElement, rate: number) {
  const { width, height } = canvas;
  if (!("VideoEncoder" in globalThis))
    throw new Error("Browsers encode movies only for pages by HTTPS or of this machine.");
  const kinds = ["avc1.640028", "vp09.00.40.08"].map((codec) => ({
    ...{ codec, width, height, bitrate: 12e6, framerate: rate },
  }));
  const can = await Promise.all(kinds.map((kind) => VideoEncoder.isConfigSupported(kind)));
  const kind = kinds.find((_, i) => can[i].supported);
  if (kind === undefined) throw new Error("This browser encodes neither H.264 nor VP9.");
  const [chunks, keys]: [Uint8Array[], number[]] = [[], []];
  let avc: Uint8Array | null = null;
  const encoder = new VideoEncoder({
    output(chunk, { decoderConfig } = {}) {
      const bytes = new Uint8Array(chunk.byteLength);
      chunk.copyTo(bytes);
      if (chunks.push(bytes) && chunk.type === "key") keys.push(chunks.length);
      if (decoderConfig?.description !== undefined) avc = new Uint8Array(decoderConfig.description as ArrayBuffer);
    },
    // A failure rejects the next flush.
    error: () => {},
  });
  encoder.configure(kind);
  let count = 0;
  return {
    async add(): Promise<void> {
      const frame = new VideoFrame(canvas, { timestamp: Math.round((1e6 * count) / rate) });
      encoder.encode(frame, { keyFrame: count++ % 30 === 0 });
      frame.close();
      await encoder.flush();
    },
    end(): Blob {
      encoder.close();
      return new Blob([mp4Of(chunks, keys, rate, [width, height], avc)], { type: "video/mp4" });
    },
  };
}
