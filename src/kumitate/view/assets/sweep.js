"use strict";
// The page of a sweep: two plots on canvases, and the values of the run that is chosen. Plain data comes from #data.
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const columns = data.columns, runs = data.run.length;
const CATEGORIES = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
let chosen = -1;

const label = (c) => (c.unit ? `${c.name} [${c.unit}]` : c.name);
const format = (x) => (x === null ? "–" : typeof x === "number" ? String(+x.toPrecision(5)) : x);
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name);

// A scale of a column: from its values to 0…1, with the ticks of an axis. Texts are categories.
function scaleOf(column) {
  const known = column.values.filter((x) => x !== null);
  if (known.some((x) => typeof x === "string")) {
    const names = [...new Set(known)].sort();
    const at = (x) => (x === null ? null : (names.indexOf(x) + 0.5) / names.length);
    return { at, ticks: names.map((name) => [at(name), name]) };
  }
  let low = Infinity, high = -Infinity;
  for (const x of known) { if (x < low) low = x; if (x > high) high = x; }
  if (!(high > low)) { const x = known.length ? low : 0, room = Math.abs(x) * 0.1 || 1; low = x - room; high = x + room; }
  const rough = (high - low) / 5, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((k) => k * power >= rough) || 10);
  const ticks = [];
  for (let k = Math.ceil(low / step); k * step <= high + 1e-9 * step; k++) ticks.push([(k * step - low) / (high - low), format(+(k * step).toPrecision(10))]);
  return { at: (x) => (x === null ? null : (x - low) / (high - low)), ticks };
}
const scales = new Map(columns.map((c) => [c, scaleOf(c)]));

// From dark blue over green to yellow: readable with any kind of colour vision.
function shade(u) {
  const stops = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 201, 37]];
  const k = Math.min(Math.floor(u * 4), 3), w = u * 4 - k;
  return `rgb(${stops[k].map((a, i) => Math.round(a + w * (stops[k + 1][i] - a))).join(" ")})`;
}
function colorOf() {
  const column = columns[+$("color").value];
  if (!column) {
    const kinds = [...new Set(data.status)].sort();
    return (k) => CATEGORIES[kinds.indexOf(data.status[k]) % CATEGORIES.length];
  }
  const scale = scales.get(column);
  return (k) => { const u = scale.at(column.values[k]); return u === null ? "#8a8a8a" : shade(u); };
}

function prepared(canvas) {
  const box = canvas.getBoundingClientRect(), ratio = window.devicePixelRatio || 1;
  canvas.width = Math.max(1, box.width * ratio); canvas.height = Math.max(1, box.height * ratio);
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  pen.font = "12px system-ui, sans-serif"; pen.fillStyle = color("--faint"); pen.strokeStyle = color("--rule");
  return [pen, box.width, box.height];
}

let points = [], axes = [];
function drawScatter() {
  const [pen, width, height] = prepared($("scatter"));
  const x = columns[+$("x").value], y = columns[+$("y").value];
  if (!x || !y) return;
  const left = 70, right = width - 15, top = 12, bottom = height - 40, sx = scales.get(x), sy = scales.get(y);
  pen.textAlign = "center";
  for (const [u, text] of sx.ticks) { const at = left + u * (right - left); line(pen, at, top, at, bottom); pen.fillText(text, at, bottom + 15); }
  pen.fillText(label(x), (left + right) / 2, height - 6);
  pen.textAlign = "right";
  for (const [u, text] of sy.ticks) { const at = bottom - u * (bottom - top); line(pen, left, at, right, at); pen.fillText(text, left - 6, at + 4); }
  pen.save(); pen.translate(13, (top + bottom) / 2); pen.rotate(-Math.PI / 2); pen.textAlign = "center"; pen.fillText(label(y), 0, 0); pen.restore();
  const paint = colorOf();
  points = [];
  for (let k = 0; k < runs; k++) {
    const u = sx.at(x.values[k]), w = sy.at(y.values[k]);
    if (u === null || w === null) continue;
    const point = [left + u * (right - left), bottom - w * (bottom - top), k];
    points.push(point);
    pen.fillStyle = paint(k); pen.globalAlpha = runs > 500 ? 0.6 : 0.9;
    pen.beginPath(); pen.arc(point[0], point[1], 3, 0, 7); pen.fill();
  }
  pen.globalAlpha = 1;
  const mine = points.find((p) => p[2] === chosen);
  if (mine) { pen.strokeStyle = color("--mark"); pen.lineWidth = 2; pen.beginPath(); pen.arc(mine[0], mine[1], 7, 0, 7); pen.stroke(); }
}

function drawParallel() {
  const [pen, width, height] = prepared($("parallel"));
  const wanted = new Set([...$("lines").selectedOptions].map((o) => +o.value));
  const shown = columns.filter((c, k) => c.parameter || wanted.has(k));
  const left = 55, right = width - 55, top = 30, bottom = height - 14;
  axes = shown.map((c, k) => [c, shown.length > 1 ? left + (k * (right - left)) / (shown.length - 1) : (left + right) / 2]);
  const trace = (k) => {
    pen.beginPath();
    let down = false;
    for (const [c, at] of axes) {
      const u = scales.get(c).at(c.values[k]);
      if (u === null) { down = false; continue; }
      const y = bottom - u * (bottom - top);
      if (down) pen.lineTo(at, y); else pen.moveTo(at, y);
      down = true;
    }
    pen.stroke();
  };
  const paint = colorOf();
  pen.globalAlpha = Math.max(0.05, Math.min(0.7, 60 / runs));
  for (let k = 0; k < runs; k++) { pen.strokeStyle = paint(k); trace(k); }
  pen.globalAlpha = 1;
  if (chosen >= 0) { pen.strokeStyle = color("--mark"); pen.lineWidth = 2.5; trace(chosen); pen.lineWidth = 1; }
  pen.textAlign = "center";
  axes.forEach(([c, at], k) => {
    pen.strokeStyle = color("--text"); line(pen, at, top, at, bottom);
    pen.fillStyle = color("--text"); pen.textAlign = k === 0 ? "left" : k === axes.length - 1 ? "right" : "center";
    pen.fillText(label(c), k === 0 ? 2 : k === axes.length - 1 ? width - 2 : at, k % 2 ? 24 : 11);
    pen.textAlign = "left"; pen.strokeStyle = color("--card"); pen.lineWidth = 4; pen.lineJoin = "round";
    for (const [u, text] of scales.get(c).ticks) {
      const y = bottom - u * (bottom - top) + 4;
      pen.strokeText(text, at + 4, y); pen.fillText(text, at + 4, y);
    }
    pen.lineWidth = 1;
  });
}
function line(pen, x0, y0, x1, y1) { pen.beginPath(); pen.moveTo(x0, y0); pen.lineTo(x1, y1); pen.stroke(); }
function draw() { drawScatter(); drawParallel(); }

function choose(k) {
  if (k < 0 || k >= runs) return;
  chosen = k;
  $("which").textContent = `Run ${data.run[k]}: ${data.status[k]}`;
  const open = $("open");
  open.replaceChildren();
  if (data.message[k]) open.append(data.message[k], document.createElement("br"));
  if (data.recorded[k]) {
    const link = document.createElement("a");
    link.href = `${data.recorded[k]}/page.html`; link.textContent = "Open its recorded motion";
    open.append(link, document.createElement("br"));
  }
  const command = document.createElement("code");
  command.textContent = data.command + data.run[k];
  open.append("Simulate it again:", command);
  $("values").replaceChildren(...columns.map((c) => {
    const row = document.createElement("tr");
    if (c.parameter) row.className = "parameter";
    for (const text of [label(c), format(c.values[k])]) { const cell = document.createElement("td"); cell.textContent = text; row.append(cell); }
    return row;
  }));
  draw();
}

$("scatter").addEventListener("click", (event) => {
  let best = 400, found = -1;
  for (const [x, y, k] of points) { const d = (x - event.offsetX) ** 2 + (y - event.offsetY) ** 2; if (d < best) { best = d; found = k; } }
  choose(found);
});
$("parallel").addEventListener("click", (event) => {
  if (!axes.length) return;
  const [c, at] = axes.reduce((a, b) => (Math.abs(b[1] - event.offsetX) < Math.abs(a[1] - event.offsetX) ? b : a));
  const height = $("parallel").getBoundingClientRect().height, u = (height - 14 - event.offsetY) / (height - 44);
  let best = 0.05, found = -1;
  c.values.forEach((x, k) => { const w = scales.get(c).at(x); if (w !== null && Math.abs(w - u) < best) { best = Math.abs(w - u); found = k; } });
  choose(found);
});
document.addEventListener("keydown", (event) => {
  if (event.target.tagName === "SELECT" || !["ArrowLeft", "ArrowRight"].includes(event.key)) return;
  choose(chosen + (event.key === "ArrowRight" ? 1 : -1));
});

const parameters = columns.map((c, k) => [c, k]).filter(([c]) => c.parameter), outcomes = columns.map((c, k) => [c, k]).filter(([c]) => !c.parameter);
for (const id of ["x", "y", "color"]) {
  if (id === "color") $(id).add(new Option("status", "-1"));
  for (const [c, k] of [...parameters, ...outcomes]) $(id).add(new Option(label(c), k));
  $(id).addEventListener("change", draw);
}
for (const [c, k] of outcomes) $("lines").add(new Option(label(c), k));
const largest = outcomes.find(([c]) => c.name.startsWith("largest:")) || outcomes[0];
if (parameters.length) $("x").value = parameters[0][1];
if (largest) { $("y").value = largest[1]; [...$("lines").options].find((o) => +o.value === largest[1]).selected = true; }
$("lines").addEventListener("change", draw);
const counts = data.status.reduce((all, status) => all.set(status, (all.get(status) || 0) + 1), new Map());
const drawn = data.done > runs ? `; ${runs} of them are drawn` : "";
$("facts").textContent = `${data.done} of ${data.runs} runs${drawn}: ${[...counts].map(([status, n]) => `${n} ${status}`).join(", ")}`;
window.addEventListener("resize", draw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
if (runs) choose(0);
draw();
document.documentElement.dataset.state = "ready";
