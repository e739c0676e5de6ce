// The page: one clock, a stage, plots, a transport bar.
import { Clock } from "./clock.js";
import { readScene, tidy } from "./data.js";
import { Plot } from "./plot.js";
import { Stage } from "./stage.js";
import { onThemeChange } from "./theme.js";
import { wireTransport } from "./transport.js";

const find = (id) => document.getElementById(id);
const state = (name) => (document.documentElement.dataset.state = name);

function complain(message) {
  const note = find("trouble");
  note.textContent = message;
  note.hidden = false;
}

function makeStage(scene) {
  try {
    return new Stage(find("stage"), scene);
  } catch (error) {
    if (!/webgl/i.test(error.message)) throw error;
    complain("This browser cannot draw in 3D here (WebGL is off); the plots work without it.");
    return null;
  }
}

function wireToggle(id, initial, apply) {
  const button = find(id);
  let on = initial;
  const show = () => button.setAttribute("aria-pressed", String(on));
  const toggle = () => {
    on = !on;
    show();
    apply(on);
  };
  button.addEventListener("click", toggle);
  show();
  return toggle;
}

function describe(scene, stage) {
  const count = scene.bodies.length;
  const duration = scene.time[scene.time.length - 1] - scene.time[0];
  const parts = [`${count} ${count === 1 ? "body" : "bodies"}`, `${tidy(duration, 3)} s`];
  if (stage) parts.push(`grid ${tidy(stage.ground.cell, 2)} m`);
  if (scene.contact) parts.push(`force arrows ${tidy(scene.contact.scale, 2)} N per m`);
  find("facts").textContent = parts.join(" · ");
  find("notes").hidden = scene.notes.length === 0;
  for (const note of scene.notes) {
    const item = document.createElement("li");
    item.textContent = note;
    find("notes").querySelector("ul").append(item);
  }
}

function start() {
  const scene = readScene(find("scene").textContent);
  const clock = new Clock(scene.time[0], scene.time[scene.time.length - 1]);
  const stage = makeStage(scene);
  describe(scene, stage);
  let hovered = null;
  const actions = {
    scrub: (time) => {
      clock.set({ playing: false });
      clock.seek(time);
    },
    hover: (time) => {
      hovered = time;
      for (const plot of plots) plot.show(clock.time, hovered);
    },
    highlight: (group) => stage?.highlight(group),
  };
  const plots = scene.channels.map((channel) => new Plot(find("plots"), channel, [clock.start, clock.end], actions));
  document.body.classList.toggle("bare", plots.length === 0);

  const toggles = {};
  if (stage) {
    toggles.t = wireToggle("trail", true, (on) => (stage.trailing = on));
    toggles.f = wireToggle("follow", stage.following, (on) => (stage.follows = on));
    find("forces").hidden = !scene.contact;
    if (scene.contact) toggles.c = wireToggle("forces", true, (on) => (stage.pushing = on));
    toggles.r = () => stage.resetView();
    find("reset").addEventListener("click", toggles.r);
    stage.controls.addEventListener("start", () => (stage.touched = true));
  }
  find("view").hidden = !stage;
  wireTransport(clock, toggles);
  clock.listen(() => {
    stage?.moveTo(clock.time);
    for (const plot of plots) plot.show(clock.time, hovered);
  });
  onThemeChange(() => {
    stage?.recolor();
    for (const plot of plots) plot.draw();
  });

  const jump = () => {
    const asked = /(?:^#|&)t=([-+.\deE]+)/.exec(location.hash);
    if (asked && Number.isFinite(Number(asked[1]))) actions.scrub(Number(asked[1]));
    return Boolean(asked);
  };
  addEventListener("hashchange", jump);
  if (!jump() && !matchMedia("(prefers-reduced-motion: reduce)").matches) clock.toggle();

  let last = performance.now();
  const frame = (now) => {
    clock.advance(Math.min(Math.max(now - last, 0), 250) / 1000); // a page that was hidden goes on where it was
    last = now;
    stage?.render();
    requestAnimationFrame(frame);
  };
  requestAnimationFrame((now) => {
    frame(now);
    state("ready");
  });
}

addEventListener("error", (event) => {
  state("failed");
  complain(`Something went wrong: ${event.message}`);
});
start();
