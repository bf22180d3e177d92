/** Movies: pictures of a canvas, encoded by the browser, as a file in which all last equally long. */

/** Encodes pictures of a canvas, `rate` a second, none of which is lost. Throws Error if the browser cannot. */
export async function movieOf(canvas: HTMLCanvasElement, rate: number) {
  if (!("VideoEncoder" in globalThis))
    throw new Error("Browsers encode movies only for pages by HTTPS or of this machine.");
  const {
    BufferTarget,
    CanvasSource,
    Mp4OutputFormat,
    Output,
    Quality,
    WebMOutputFormat,
    getFirstEncodableVideoCodec,
  } = await import("mediabunny");
  const { width, height } = canvas;
  const quality = new Quality("high");
  const codec = await getFirstEncodableVideoCodec(["avc", "vp9"], { width, height, quality, frameRate: rate });
  if (codec === null) throw new Error("This browser encodes neither H.264 nor VP9.");
  const format = codec === "avc" ? new Mp4OutputFormat() : new WebMOutputFormat();
  const target = new BufferTarget();
  const output = new Output({ format, target });
  const source = new CanvasSource(canvas, { codec, quality, keyFrameInterval: 1 });
  output.addVideoTrack(source, { frameRate: rate });
  await output.start();
  let count = 0;
  return {
    ending: format.fileExtension,
    add: () => source.add(count++ / rate, 1 / rate),
    async end(): Promise<Blob> {
      await output.finalize();
      return new Blob([target.buffer as ArrayBuffer], { type: format.mimeType });
    },
  };
}
