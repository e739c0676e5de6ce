// The last minute of a live motion: states to go back to, and the curves of the plots.

const LONG = 60; // [s]
const RATE = 30; // rows per simulated second
const MOST = LONG * RATE;

export class Record {
  /** `curves`: which numbers of which array each series is; `groups`: the colours of joints by name. */
  constructor(curves, groups) {
    this.times = new Float64Array(MOST);
    this.states = [];
    this.channels = curves.map(({ title, unit, from, at, names, factor }) => ({
      title, unit, from, at, factor,
      series: names.map((name) => ({ name, ...(groups.has(name) && { group: groups.get(name) }), all: new Float64Array(MOST) })),
    }));
    this.clear();
  }

  clear() {
    this.count = 0;
    this.states.length = 0;
    this.cut();
  }

  get start() {
    return this.count ? this.times[0] : 0;
  }

  get end() {
    return this.count ? this.times[this.count - 1] : 0;
  }

  /** A row: its time, what restores it, and the arrays that curves read. `always`: also sooner than rows usually follow. */
  add(time, state, arrays, always = false) {
    while (this.count && this.times[this.count - 1] >= time) this.count--; // what came after it did not happen
    if (!always && this.count > 1 && time - this.times[this.count - 2] < 1 / RATE) this.count--; // the newest row moves along
    if (this.count === MOST) this.shift();
    this.states.length = this.count;
    this.states.push(state);
    this.times[this.count] = time;
    for (const { from, at, factor, series } of this.channels) {
      for (const [k, one] of series.entries()) one.all[this.count] = factor * (at[k] < 0 ? sum(arrays[from]) : arrays[from][at[k]]);
    }
    this.count++;
    this.cut();
  }

  shift() {
    this.times.copyWithin(0, 1);
    this.states.shift();
    for (const { series } of this.channels) for (const one of series) one.all.copyWithin(0, 1);
    this.count--;
  }

  cut() {
    const x = this.times.subarray(0, this.count);
    for (const { series } of this.channels) for (const one of series) Object.assign(one, { x, y: one.all.subarray(0, this.count) });
  }

  /** The row whose time is nearest. */
  nearest(time) {
    let best = 0;
    for (let k = 1; k < this.count; k++) if (Math.abs(this.times[k] - time) < Math.abs(this.times[best] - time)) best = k;
    return best;
  }

  csv() {
    const quoted = (text) => `"${text.replaceAll('"', '""')}"`;
    const all = this.channels.flatMap(({ title, unit, series }) => series.map((one) => ({ ...one, head: `${title}: ${one.name} [${unit}]` })));
    const head = ["t [s]", ...all.map((one) => one.head)].map(quoted).join(",");
    const rows = Array.from({ length: this.count }, (_, k) => [this.times[k], ...all.map((one) => one.y[k])].join(","));
    return [head, ...rows, ""].join("\r\n");
  }
}

const sum = (values) => values.reduce((a, b) => a + b, 0);
