// What scene.py packed, unpacked: typed arrays instead of base64.

export function unpack(text, Kind) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Kind(bytes.buffer);
}

export function readScene(text) {
  const scene = JSON.parse(text);
  if (scene.version !== 2) throw new Error(`this player reads scenes of version 2, not ${scene.version}`);
  return {
    ...scene,
    time: unpack(scene.time, Float64Array),
    positions: unpack(scene.positions, Float32Array), // frame by frame, body by body: x y z [m]
    quaternions: unpack(scene.quaternions, Float32Array), // likewise: x y z w
    contact: scene.contact && {
      ...scene.contact,
      points: unpack(scene.contact.points, Float32Array), // frame by frame, point by point: x y z [m]
      forces: unpack(scene.contact.forces, Float32Array), // likewise [N]
    },
    channels: scene.channels.map((channel) => ({
      ...channel,
      series: channel.series.map((s) => ({ ...s, x: unpack(s.x, Float32Array), y: unpack(s.y, Float32Array) })),
    })),
  };
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
