// The page: one clock, a stage, plots, a transport bar.
import { saveFilm, savePicture } from "./capture.js";
import { Chosen } from "./chosen.js";
import { Clock } from "./clock.js";
import { readScene, tidy } from "./data.js";
import { Live, prepareContact, simulatorOf } from "./live.js";
import { Menu, wireToggle } from "./menu.js";
import { Pace } from "./pace.js";
import { Plot } from "./plot.js";
import { Stage } from "./stage.js";
import { onThemeChange } from "./theme.js";
import { wireTransport } from "./transport.js";

const find = (id) => document.getElementById(id);
const state = (name) => (document.documentElement.dataset.state = name);

function complain(message) {
  const note = find("trouble");
  note.textContent = message;
  note.hidden = !message;
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

function describe(scene, stage) {
  const count = scene.bodies.length;
  const duration = scene.time[scene.time.length - 1] - scene.time[0];
  const parts = [`${count} ${count === 1 ? "body" : "bodies"}`];
  if (duration) parts.push(`${tidy(duration, 3)} s`);
  if (scene.live) parts.push(scene.live.states ? "take it over at any time" : "drag a body, move a slider");
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

/** The view's buttons, its menu, and what their keys do. */
function wireView(scene, stage, clock) {
  const menu = new Menu(find("show"), find("layers"));
  const keys = { r: () => stage.resetView(), p: () => savePicture(stage, scene.title) };
  keys.t = wireToggle(find("trail"), true, (on) => (stage.trailing = on));
  keys.f = wireToggle(find("follow"), stage.following, (on) => (stage.follows = on));
  keys.b = menu.add("b", "Shapes", true, (on) => (stage.shapes = on));
  if (scene.contact) keys.c = menu.add("c", "Contact forces", true, (on) => (stage.pushing = on));
  for (const layer of stage.layers) keys[layer.key] = menu.add(layer.key, layer.name, false, (on) => stage.show(layer, on));
  keys.g = menu.add("g", "Light mode, for slow graphics", false, (on) => {
    stage.light = on;
    pace.watching = false; // who has chosen is not asked again
  });
  const pace = new Pace(() => {
    keys.g();
    find("slow").hidden = false;
  });
  find("reset").addEventListener("click", keys.r);
  find("picture").addEventListener("click", keys.p);
  const film = find("film");
  film.hidden = typeof MediaRecorder === "undefined";
  let stop = null;
  film.addEventListener("click", () => {
    if (stop) return stop();
    film.textContent = "Stop filming";
    stop = saveFilm(stage, clock, scene.title, () => {
      stop = null;
      film.textContent = "Save a film";
    });
  });
  stage.controls.addEventListener("start", () => (stage.touched = true));
  return { keys, pace };
}

/** A click that is no drag chooses the link under it. */
function wireChoice(stage, choose) {
  let down = null;
  const canvas = stage.renderer.domElement;
  canvas.addEventListener("pointerdown", (event) => (down = [event.offsetX, event.offsetY]));
  canvas.addEventListener("pointerup", (event) => {
    if (!down || Math.hypot(event.offsetX - down[0], event.offsetY - down[1]) > 4) return;
    choose(stage.hitAt(event.offsetX, event.offsetY)?.body ?? null);
  });
}

async function start() {
  const scene = await readScene(find("scene").textContent);
  find("scene").remove();
  prepareContact(scene);
  const clock = new Clock(scene.time[0], scene.time[scene.time.length - 1]);
  const stage = makeStage(scene);
  describe(scene, stage);
  let hovered = null;
  const chosen = stage && new Chosen(find("chosen"), scene, stage.motion);
  const choose = (body) => {
    chosen.choose(body);
    chosen.show(clock.time);
    stage.highlight(chosen.group);
  };
  const actions = {
    scrub: (time) => {
      clock.set({ playing: false });
      clock.seek(time);
    },
    hover: (time) => {
      hovered = time;
      for (const plot of plots) plot.show(clock.time, hovered);
    },
    highlight: (group) => stage?.highlight(group ?? chosen.group),
  };
  let plots = [];
  const remake = (channels) => {
    for (const plot of plots) plot.card.remove();
    plots = channels.map((channel) => new Plot(find("plots"), channel, [clock.start, clock.end], actions));
    document.body.classList.toggle("bare", plots.length === 0);
  };
  remake(scene.channels);

  const { keys, pace } = stage ? wireView(scene, stage, clock) : { keys: {} };
  find("view").hidden = !stage;
  const help = find("help");
  const explain = () => {
    if (help.open) return help.close();
    const { calls, triangles } = stage?.renderer.domElement.dataset ?? {};
    find("drawn").textContent = stage ? `${calls} draw calls, ${triangles} triangles a picture` : "";
    help.showModal();
  };
  find("explain").addEventListener("click", explain);
  if (stage) {
    wireChoice(stage, choose);
    keys.Escape = () => choose(null);
  }
  wireTransport(clock, { ...keys, "?": explain });
  const simulator = await simulatorOf(scene, complain);
  const live = simulator && new Live(scene, simulator, { clock, stage, chosen, remake, complain });
  globalThis.kumitate = { clock, live, scene, simulator, stage }; // for scripts that drive the page
  clock.listen(() => {
    stage?.moveTo(clock.time);
    chosen?.show(clock.time);
    for (const plot of plots) plot.show(clock.time, hovered);
    live?.show(plots);
  });
  onThemeChange(() => {
    stage?.recolor();
    for (const plot of plots) plot.draw();
  });

  // an address may name the time, a link, and the keys of what is shown: #t=0.5&link=hand&show=am
  const jump = () => {
    const asked = new URLSearchParams(location.hash.slice(1));
    if (live?.restore(asked)) return asked;
    const link = scene.bodies.findIndex((body) => body.name === asked.get("link"));
    if (stage && link >= 0) choose(link);
    const time = asked.has("t") ? Number(asked.get("t")) : NaN;
    if (Number.isFinite(time)) actions.scrub(time);
    return asked;
  };
  addEventListener("hashchange", jump);
  const asked = jump();
  for (const key of asked.get("show") ?? "") keys[key]?.();
  if (!asked.has("t") && !asked.has("state") && !matchMedia("(prefers-reduced-motion: reduce)").matches) clock.toggle();

  let last = performance.now();
  const frame = (now) => {
    clock.advance(Math.min(Math.max(now - last, 0), clock.simulator ? 500 : 250) / 1000); // a page that was hidden goes on where it was
    if (clock.playing) pace?.note(now - last);
    last = now;
    stage?.render();
    requestAnimationFrame(frame);
  };
  requestAnimationFrame((now) => {
    frame(now);
    state("ready");
  });
}

const fail = (message) => {
  state("failed");
  complain(`Something went wrong: ${message}`);
};
addEventListener("error", (event) => fail(event.message));
addEventListener("unhandledrejection", (event) => fail(event.reason?.message ?? event.reason));
start();
