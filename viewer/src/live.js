// The page as the simulator: begins it, or takes over from a recorded motion, and connects it with what a person sees.
import { Dials } from "./dials.js";
import { wireDrag } from "./pull.js";
import { Simulator } from "./simulator.js";

const REDRAWN = 200; // [ms] from one drawing of all curves to the next, while it plays

/** Room for the arrows of contact, of what was recorded and of what is simulated. */
export function prepareContact(scene) {
  const own = scene.live?.contact;
  if (own) scene.contact ??= { points: new Float64Array(0), forces: new Float64Array(0), count: 0, ground: [], scale: own.scale, longest: own.longest };
  if (scene.contact) Object.assign(scene.contact, { times: scene.time, most: Math.max(scene.contact.count, own?.count ?? 0) });
}

/** Why this browser cannot simulate, or "". */
export async function simulatorOf(scene, complain) {
  if (!scene.live) return null;
  if (typeof WebAssembly === "undefined") {
    complain("This browser has no WebAssembly, so that nothing can be simulated; the page shows what was recorded.");
    return null;
  }
  try {
    return await Simulator.of(scene);
  } catch (error) {
    complain(`This browser cannot simulate here (${error.message}); the page shows what was recorded.`);
    return null;
  }
}

export class Live {
  /** `parts`: clock, stage (or null), chosen (or null), remake(channels), complain(message). */
  constructor(scene, simulator, parts) {
    Object.assign(this, { scene, simulator, ...parts });
    this.drawn = 0;
    this.on = false;
    const find = (id) => document.getElementById(id);
    [this.again, this.stepper, this.take] = ["again", "stepper", "take"].map(find);
    this.again.addEventListener("click", () => this.reset());
    this.take.hidden = !scene.live.states;
    this.take.addEventListener("click", () => (this.on ? this.goBack() : this.takeOver()));
    if (this.stage) {
      this.showPull = wireDrag(this.stage, {
        grabbed: (body, point) => (this.on ? this.grab(body, point) : null),
        released: () => simulator.release(),
        changed: () => this.clock.playing || this.clock.set({ playing: true }), // who drags wants to see it move
      });
    }
    if (!scene.live.states) this.begin();
  }

  grab(body, point) {
    const inverse = this.stage.motion.of(body).clone().invert();
    return this.simulator.grab(body, point.clone().applyMatrix4(inverse).toArray());
  }

  begin() {
    const { scene, simulator, stage, chosen, clock } = this;
    this.on = true;
    document.body.classList.add("live");
    this.before = [clock.start, clock.end];
    stage?.goLive(simulator);
    if (chosen) Object.assign(chosen, { motion: stage.motion, scene: { ...scene, channels: simulator.record.channels } });
    this.remake(simulator.record.channels);
    this.dials = new Dials(document.getElementById("plots"), simulator, scene.title, {
      moved: () => clock.changed(), paused: () => clock.set({ playing: false }), complain: this.complain,
    });
    this.take.textContent = "Back";
    clock.follow(simulator, [0, 0, 0]);
  }

  takeOver() {
    this.simulator.takeOver(this.scene.live.states, this.clock.time);
    this.begin();
  }

  goBack() {
    const { scene, stage, chosen, clock, simulator } = this;
    this.on = false;
    const time = simulator.time;
    simulator.release();
    document.body.classList.remove("live");
    stage?.goBack();
    if (chosen) Object.assign(chosen, { motion: stage.motion, scene });
    this.dials.card.remove();
    this.take.textContent = "Take over here";
    this.complain("");
    clock.follow(null, [...this.before, Math.min(Math.max(time, this.before[0]), this.before[1])]);
    this.remake(scene.channels);
    clock.changed();
  }

  reset() {
    this.complain("");
    this.simulator.reset();
    this.clock.set({ playing: false });
  }

  /** A state from an address; whether there was one. */
  restore(asked) {
    if (!asked.has("state")) return false;
    if (!this.on) this.takeOver();
    this.complain(this.simulator.restore(asked.get("state")));
    this.clock.set({ playing: false });
    return true;
  }

  /** After every change: what the simulation has to say, and the curves. */
  show(plots) {
    if (!this.on) return;
    const { clock, simulator } = this;
    if (simulator.message) this.complain(simulator.message);
    this.showPull?.();
    const now = performance.now();
    if (clock.playing && now - this.drawn < REDRAWN) return;
    this.drawn = now;
    for (const plot of plots) {
      plot.domain = [clock.start, Math.max(clock.end, clock.start + 1)];
      plot.draw();
    }
    this.dials.show();
  }
}
