// The scales of a plot: lines at round values, numbers beside and below.
import { tidy, ticks } from "./data.js";
import { theme } from "./theme.js";

const placesOf = (step) => Math.max(0, -Math.floor(Math.log10(step) + 1e-9));

function drawValues(c, plot, margin) {
  const { faint, rule } = theme();
  const room = plot.height - margin.bottom - margin.top;
  const { step, values } = ticks(...plot.range, Math.min(Math.max(2, Math.floor(room / 24)), 6));
  const plain = Math.max(...values.map(Math.abs), 0) < 1e5 && placesOf(step) <= 3;
  c.textAlign = "right";
  c.textBaseline = "middle";
  c.fillStyle = faint;
  for (const value of values) {
    const y = Math.round(plot.y(value)) + 0.5;
    const zero = Math.abs(value) < 1e-9 * step;
    c.strokeStyle = zero ? faint : rule;
    c.globalAlpha = zero ? 0.55 : 1;
    c.beginPath();
    c.moveTo(margin.left, y);
    c.lineTo(plot.width - margin.right, y);
    c.stroke();
    c.globalAlpha = 1;
    const label = plain ? value.toFixed(placesOf(step)).replace("-", "−") : tidy(value, 3);
    c.fillText(zero ? "0" : label, margin.left - 8, y);
  }
}

function drawTimes(c, plot, margin) {
  const { faint, rule } = theme();
  const bottom = plot.height - margin.bottom;
  const { step, values } = ticks(...plot.domain, Math.max(2, Math.floor((plot.width - margin.left) / 48)));
  c.textAlign = "center";
  c.textBaseline = "top";
  c.fillStyle = faint;
  c.strokeStyle = rule;
  for (const time of values) {
    const x = Math.round(plot.x(time)) + 0.5;
    c.beginPath();
    c.moveTo(x, bottom);
    c.lineTo(x, bottom + 4);
    c.stroke();
    const label = time.toFixed(placesOf(step)).replace("-", "−");
    const half = c.measureText(label).width / 2;
    c.fillText(label, Math.min(x, plot.width - half - 12), bottom + 7);
  }
  c.textAlign = "right";
  c.fillText("s", plot.width - 1, bottom + 7);
}

export function drawScales(c, plot, margin) {
  c.lineWidth = 1;
  c.setLineDash([]);
  drawValues(c, plot, margin);
  drawTimes(c, plot, margin);
}
