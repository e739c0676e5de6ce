// What view/scene.py packed, unpacked: typed arrays behind JSON, deflated, in base64.

const KINDS = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f4: Float32Array, f8: Float64Array };
const MISSING = 65535; // the code of NaN

async function inflate(text) {
  const raw = atob(text.trim());
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

/** Rows that were rounded to steps of their range and stored as differences. */
function summed(buffer, at, [rows, length]) {
  const scale = new Float64Array(buffer, at, 2 * rows);
  const bytes = new Uint8Array(buffer, at + 16 * rows, 2 * rows * length);
  const values = new Float64Array(rows * length);
  for (let row = 0; row < rows; row++) {
    const [low, step] = [scale[row], scale[rows + row]];
    let code = 0;
    for (let k = row * length; k < (row + 1) * length; k++) {
      code = (code + bytes[k] + 256 * bytes[rows * length + k]) & 0xffff;
      values[k] = code === MISSING ? NaN : low + step * code;
    }
  }
  return values;
}

export async function readScene(text) {
  const buffer = await inflate(text);
  const length = new DataView(buffer).getUint32(0, true);
  const base = 8 * Math.ceil((4 + length) / 8);
  const scene = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)), (_, value) => {
    if (!value?.array) return value;
    const [kind, place, shape] = value.array;
    if (kind === "steps") return summed(buffer, base + place, shape);
    return new KINDS[kind](buffer, base + place, shape.reduce((a, b) => a * b, 1));
  });
  if (scene.version !== 3) throw new Error(`this player reads scenes of version 3, not ${scene.version}`);
  for (const channel of scene.channels) {
    const count = channel.series.length && channel.x.length / channel.series.length;
    for (const [k, series] of channel.series.entries()) {
      for (const axis of ["x", "y"]) series[axis] = channel[axis].subarray(k * count, (k + 1) * count);
    }
  }
  return scene;
}

/** The last index i with xs[i] <= x, at least 0. */
export function indexBefore(xs, x) {
  let low = 0;
  let high = xs.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (xs[middle] <= x) low = middle;
    else high = middle;
  }
  return low;
}

/** The value of a curve at x, by straight lines; NaN outside of it. */
export function valueAt({ x: xs, y: ys }, x) {
  const slack = 1e-6 * (1 + Math.abs(x));
  if (!xs.length || x < xs[0] - slack || x > xs[xs.length - 1] + slack) return NaN;
  const i = indexBefore(xs, x);
  if (i + 1 >= xs.length || xs[i + 1] === xs[i]) return ys[i];
  return ys[i] + ((ys[i + 1] - ys[i]) * (x - xs[i])) / (xs[i + 1] - xs[i]);
}

/** A number with about `digits` significant digits, without a long tail. */
export function tidy(value, digits = 4) {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) {
    return value.toExponential(Math.max(digits - 2, 1)).replace("e+", "e").replace("-", "−").replace("e-", "e−");
  }
  const decimals = Math.min(Math.max(digits - 1 - Math.floor(Math.log10(size)), 0), 4);
  return value.toFixed(decimals).replace("-", "−");
}

/** Round numbers in [low, high], about `count` of them. */
export function ticks(low, high, count) {
  const span = high - low;
  if (!(span > 0)) return { step: 1, values: [low] };
  const raw = span / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= 0.7 * raw);
  const values = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * span; k++) values.push(k * step);
  return { step, values };
}
