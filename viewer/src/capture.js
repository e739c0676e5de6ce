// A picture of the 3D view, and a film of one passage; both leave as files, nothing is sent anywhere.

export function leave(blob, name) {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

export const fileName = (title, ending) => `${title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "") || "kumitate"}.${ending}`;

/** The view with its background, which the page draws by itself, on a canvas. */
function composed(stage, canvas) {
  const source = stage.renderer.domElement;
  Object.assign(canvas, { width: source.width, height: source.height });
  const c = canvas.getContext("2d");
  const [middle, wide] = [source.width / 2, Math.hypot(source.width, source.height)];
  const sky = c.createRadialGradient(middle, 0.12 * source.height, 0, middle, 0.12 * source.height, wide);
  sky.addColorStop(0, stage.colors.top);
  sky.addColorStop(1, stage.colors.bottom);
  c.fillStyle = sky;
  c.fillRect(0, 0, source.width, source.height);
  stage.draw(); // a WebGL canvas can be read only right after it was drawn
  c.drawImage(source, 0, 0);
  return canvas;
}

export function savePicture(stage, title) {
  composed(stage, document.createElement("canvas")).toBlob((blob) => leave(blob, fileName(title, "png")), "image/png");
}

/** Records the motion from its begin to its end at the chosen speed; `done` is called when the file has left. */
export function saveFilm(stage, clock, title, done) {
  const canvas = composed(stage, document.createElement("canvas"));
  const kind = ["video/mp4", "video/webm"].find((type) => MediaRecorder.isTypeSupported(type)) ?? "video/webm";
  const recorder = new MediaRecorder(canvas.captureStream(60), { mimeType: kind, videoBitsPerSecond: 12_000_000 });
  const parts = [];
  const before = { looping: clock.looping, playing: clock.playing };
  recorder.addEventListener("dataavailable", (event) => parts.push(event.data));
  recorder.addEventListener("stop", () => {
    leave(new Blob(parts, { type: kind }), fileName(title, kind.slice(6)));
    clock.set(before);
    done();
  });
  clock.set({ looping: false, playing: false });
  clock.seek(clock.start);
  clock.set({ playing: true });
  recorder.start();
  const frame = () => {
    if (recorder.state !== "recording") return;
    composed(stage, canvas);
    if (clock.playing) requestAnimationFrame(frame);
    else recorder.stop();
  };
  requestAnimationFrame(frame);
  return () => recorder.state === "recording" && recorder.stop();
}
