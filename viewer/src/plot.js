// One plot: curves on a canvas, a cursor at the current time, values under the pointer, a legend that reads the values out.
import { tidy, valueAt } from "./data.js";
import { drawScales } from "./scales.js";
import { colorOf, theme } from "./theme.js";

const MARGIN = { left: 54, right: 14, top: 10, bottom: 24 };
const DASHES = [[], [6, 3], [2, 3]];
const FONT = '11px system-ui, -apple-system, "Segoe UI", sans-serif';
const MOST_IN_TIP = 7;

function element(tag, className, text = "") {
  const node = document.createElement(tag);
  node.className = className;
  node.textContent = text;
  return node;
}

export class Plot {
  /** `actions`: scrub(time), hover(time or null), highlight(group or null). */
  constructor(holder, channel, domain, actions) {
    this.channel = channel;
    this.domain = domain;
    this.actions = actions;
    this.hidden = new Set();
    this.time = domain[0];
    this.hovered = null;
    this.pointer = null;
    const groups = channel.series.map((s) => s.group);
    this.linked = groups.every((g) => g !== undefined && g >= 0) && new Set(groups).size === groups.length;
    this.build(holder);
    new ResizeObserver(() => this.draw()).observe(this.area);
  }

  build(holder) {
    const { title, unit, series } = this.channel;
    const card = element("section", "plot");
    const heading = element("h2", "", title);
    if (unit) heading.append(element("span", "unit", `[${unit}]`));
    this.area = element("div", "area");
    this.area.setAttribute("role", "img");
    this.area.setAttribute("aria-label", `${title}${unit ? ` in ${unit}` : ""} over time: ${series.map((s) => s.name).join(", ")}`);
    this.base = element("canvas", "");
    this.over = element("canvas", "");
    this.tip = element("div", "tip");
    this.tip.hidden = true;
    this.area.append(this.base, this.over, this.tip);
    this.legend = element("div", "legend");
    const longest = Math.max(...series.map((s) => s.name.length), 0);
    this.legend.style.setProperty("--entry", `${Math.min(104 + 7.2 * longest, 220)}px`); // longer names are broken into lines
    this.values = series.map((s, k) => {
      const item = element("button", "entry");
      item.type = "button";
      item.title = `Show or hide ${s.name}`;
      item.setAttribute("aria-pressed", "true");
      const value = element("span", "value");
      item.append(element("span", "swatch"), element("span", "name", s.name), value);
      item.addEventListener("click", () => this.toggle(k, item));
      item.addEventListener("pointerenter", () => this.actions.highlight(s.group ?? null));
      item.addEventListener("pointerleave", () => this.actions.highlight(null));
      this.legend.append(item);
      return value;
    });
    card.append(heading, this.area, this.legend);
    holder.append(card);
    this.card = card;
    this.area.addEventListener("pointerdown", (event) => {
      this.area.setPointerCapture(event.pointerId);
      this.scrubbing = true;
      this.actions.scrub(this.timeAt(event));
    });
    this.area.addEventListener("pointermove", (event) => {
      this.pointer = { x: event.offsetX, y: event.offsetY };
      this.actions.hover(this.timeAt(event));
      if (this.scrubbing) this.actions.scrub(this.timeAt(event));
    });
    for (const name of ["pointerup", "pointercancel"]) this.area.addEventListener(name, () => (this.scrubbing = false));
    this.area.addEventListener("pointerleave", () => {
      this.pointer = null;
      this.actions.hover(null);
    });
  }

  toggle(k, item) {
    if (!this.hidden.delete(k)) this.hidden.add(k);
    item.setAttribute("aria-pressed", String(!this.hidden.has(k)));
    this.draw();
  }

  color(k) {
    return colorOf(this.linked ? this.channel.series[k].group : k);
  }

  dash(k) {
    return DASHES[Math.floor((this.linked ? this.channel.series[k].group : k) / theme().palette.length) % DASHES.length];
  }

  timeAt(event) {
    const { left } = this.area.getBoundingClientRect();
    const part = (event.clientX - left - MARGIN.left) / (this.width - MARGIN.left - MARGIN.right);
    const [start, end] = this.domain;
    return Math.min(Math.max(start + part * (end - start), start), end);
  }

  x(time) {
    const [start, end] = this.domain;
    return MARGIN.left + ((time - start) / (end - start || 1)) * (this.width - MARGIN.left - MARGIN.right);
  }

  y(value) {
    const [low, high] = this.range;
    return MARGIN.top + ((high - value) / (high - low)) * (this.height - MARGIN.top - MARGIN.bottom);
  }

  shown() {
    return this.channel.series.map((series, k) => ({ series, k })).filter(({ k }) => !this.hidden.has(k));
  }

  fitRange() {
    let low = Infinity;
    let high = -Infinity;
    for (const { series } of this.shown()) {
      for (const value of series.y) {
        if (!Number.isFinite(value)) continue;
        if (value < low) low = value;
        if (value > high) high = value;
      }
    }
    if (low > high) [low, high] = [-1, 1];
    const size = Math.max(Math.abs(low), Math.abs(high));
    // a constant is drawn as one, not as its rounding errors
    const pad = high - low > 1e-6 * size ? 0.08 * (high - low) : 0.1 * size || 1;
    const [least, most] = this.channel.reach ?? [-Infinity, Infinity]; // where impacts would press all else flat
    this.range = [Math.max(low - pad, least), Math.min(high + pad, most)];
    if (this.range[0] >= this.range[1]) this.range = [low - pad, high + pad];
  }

  context(canvas) {
    const ratio = devicePixelRatio || 1;
    const width = Math.round(this.width * ratio);
    const height = Math.round(this.height * ratio);
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const c = canvas.getContext("2d");
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, this.width, this.height);
    c.font = FONT;
    return c;
  }

  /** Everything but the cursor. */
  draw() {
    this.width = this.area.clientWidth;
    this.height = this.area.clientHeight;
    if (!this.width || !this.height) return;
    this.fitRange();
    const c = this.context(this.base);
    drawScales(c, this, MARGIN);
    c.save();
    c.beginPath();
    c.rect(MARGIN.left, MARGIN.top - 2, this.width - MARGIN.left - MARGIN.right, this.height - MARGIN.top - MARGIN.bottom + 4);
    c.clip();
    c.lineJoin = "round";
    c.lineWidth = this.channel.series.length > 12 ? 1.25 : 1.75;
    for (const { series, k } of this.shown().reverse()) {
      c.strokeStyle = this.color(k);
      c.setLineDash(this.dash(k));
      c.beginPath();
      let pen = false;
      for (let i = 0; i < series.x.length; i++) {
        const known = Number.isFinite(series.y[i]);
        if (known) c[pen ? "lineTo" : "moveTo"](this.x(series.x[i]), this.y(series.y[i]));
        pen = known;
      }
      c.stroke();
    }
    c.restore();
    [...this.legend.children].forEach((item, k) => item.style.setProperty("--color", this.color(k)));
    this.drawCursor();
  }

  show(time, hovered) {
    this.time = time;
    this.hovered = hovered;
    this.drawCursor();
  }

  drawCursor() {
    if (!this.range) return;
    const c = this.context(this.over);
    const { text, faint, plot } = theme();
    const line = (time, style, dash) => {
      c.strokeStyle = style;
      c.setLineDash(dash);
      c.beginPath();
      c.moveTo(this.x(time), MARGIN.top - 4);
      c.lineTo(this.x(time), this.height - MARGIN.bottom);
      c.stroke();
    };
    c.lineWidth = 1;
    if (this.hovered !== null) line(this.hovered, faint, [3, 3]);
    c.lineWidth = 1.5;
    line(this.time, text, []);
    c.setLineDash([]);
    const few = this.channel.series.length <= 12;
    for (const { series, k } of this.shown()) {
      const value = valueAt(series, this.time);
      if (!few || !Number.isFinite(value)) continue;
      c.fillStyle = this.color(k);
      c.strokeStyle = plot;
      c.lineWidth = 2;
      c.beginPath();
      c.arc(this.x(this.time), this.y(value), 4, 0, 2 * Math.PI);
      c.fill();
      c.stroke();
    }
    this.channel.series.forEach((series, k) => {
      const label = tidy(valueAt(series, this.time));
      if (this.values[k].textContent !== label) this.values[k].textContent = label;
    });
    this.showTip();
  }

  /** The values under the pointer; of many curves those nearest to it. */
  showTip() {
    this.tip.hidden = !this.pointer || this.hovered === null;
    if (this.tip.hidden) return;
    const rows = this.shown()
      .map(({ series, k }) => ({ name: series.name, k, value: valueAt(series, this.hovered) }))
      .filter(({ value }) => Number.isFinite(value))
      .sort((a, b) => Math.abs(this.y(a.value) - this.pointer.y) - Math.abs(this.y(b.value) - this.pointer.y))
      .slice(0, MOST_IN_TIP)
      .sort((a, b) => b.value - a.value);
    this.tip.replaceChildren(
      element("div", "when", `${tidy(this.hovered)} s`),
      ...rows.map(({ name, k, value }) => {
        const row = element("div", "row");
        const swatch = element("span", "swatch");
        swatch.style.setProperty("--color", this.color(k));
        row.append(swatch, element("span", "name", name), element("span", "value", tidy(value)));
        return row;
      }),
    );
    const right = this.pointer.x > this.width / 2;
    this.tip.style.left = right ? "" : `${this.x(this.hovered) + 12}px`;
    this.tip.style.right = right ? `${this.width - this.x(this.hovered) + 12}px` : "";
  }
}
