// A simulation that plays in the page: time, the pull of the pointer, what is set by sliders, and the last minute.
import { Machine } from "./machine.js";
import { Pull } from "./pull.js";
import { Record } from "./record.js";

const BUDGET = 12; // [ms] of a picture
const CHUNK = 8; // steps between looks at the clock
const BEHIND = 0.5; // [s] that may be owed, as pictures may be slow; where steps are, it plays slower
const TURN = 0.2; // [rad, m] that a joint moves at once while loops are kept closed

export class Simulator {
  static async of(scene) {
    const machine = await Machine.of(scene.live);
    return new Simulator(scene, machine);
  }

  constructor(scene, machine) {
    const groups = new Map(scene.bodies.filter((body) => body.joint).map((body) => [body.joint.name, body.group]));
    this.scene = scene;
    this.live = scene.live;
    this.machine = machine;
    this.record = new Record(this.live.curves, groups);
    this.values = this.live.sliders.map((slider) => slider.value);
    this.base = machine.settings;
    this.start = machine.save();
    this.pull = null;
    this.owed = 0;
    this.pace = { elapsed: 0, simulated: 0, part: 1 };
    this.message = "";
    this.begin(this.start);
    this.warmUp();
  }

  /** Browsers compile functions when they are first called: not when somebody waits for a step. */
  warmUp() {
    this.machine.step(3);
    if (this.live.pulled.length) new Pull(this.machine, 0, [0, 0, 0]);
    this.machine.load(this.start);
  }

  get time() {
    return this.machine.time;
  }

  /** A state without a past. */
  begin(state) {
    this.machine.load(state);
    this.record.clear();
    this.owed = 0;
    this.keep(true);
  }

  reset() {
    this.release();
    this.message = "";
    this.begin(this.start);
  }

  /** Coordinates and velocities as they were at a time of a recorded motion; `reset` comes back to them. */
  takeOver({ time, q, v }, at) {
    const { machine } = this;
    const frame = time.reduce((best, moment, k) => (Math.abs(moment - at) < Math.abs(time[best] - at) ? k : best), 0);
    machine.load(machine.first);
    const [nq, nv] = [machine.q.length, machine.v.length];
    machine.q.set(q.subarray(frame * nq, (frame + 1) * nq));
    machine.v.set(v.subarray(frame * nv, (frame + 1) * nv));
    machine.number[0] = Math.round(time[frame] / this.live.step);
    this.start = machine.save();
    this.reset();
  }

  /** What curves, arrows and pictures show of the present state. */
  keep(always = false) {
    const { machine } = this;
    const { energy, tau, pushes } = machine.show();
    this.pushes = pushes;
    this.poses = machine.call("look").poses;
    this.record.add(machine.time, machine.save(), { q: machine.q, v: machine.v, energy, tau, poses: this.poses }, always);
  }

  // --- time -----------------------------------------------------------------------------------------------------------
  /** Simulates as much time as went by [s], at a speed, unless that takes longer than a picture may; whether it goes on. */
  advance(elapsed, speed) {
    const { step } = this.live;
    this.owed = Math.min(this.owed + elapsed * speed, Math.max(BEHIND * speed, step));
    const begun = performance.now();
    const from = this.time;
    let sound = true;
    while (sound && this.owed >= step && performance.now() - begun < BUDGET) {
      const count = Math.min(Math.floor(this.owed / step), CHUNK);
      sound = this.step(count);
      this.owed -= count * step;
    }
    this.measure(elapsed * speed, this.time - from);
    if (this.time > from) this.keep();
    return sound;
  }

  /** How much of the time that went by was simulated, over a second. */
  measure(elapsed, simulated) {
    const { pace } = this;
    pace.elapsed += elapsed;
    pace.simulated += simulated;
    if (pace.elapsed < 1) return;
    this.pace = { elapsed: 0, simulated: 0, part: pace.simulated / pace.elapsed };
  }

  /** Makes steps, each with the force that the pull then has. Where the motion runs away, the last good state stays. */
  step(count) {
    const { machine } = this;
    const before = machine.save();
    if (this.pull) {
      for (let k = 0; k < count; k++) {
        this.pull.act();
        machine.step(1);
      }
    } else machine.step(count);
    if (machine.sound) return true;
    const [moment, why] = [machine.time, machine.scene?.why || "the motion ran away"];
    machine.load(before);
    this.release();
    this.message = `${why[0].toUpperCase()}${why.slice(1)} at t = ${moment.toFixed(3)} s. This is the last good state; reset, or change what was set.`;
    return false;
  }

  seek(time) {
    if (!this.record.count) return;
    this.machine.load(this.record.states[this.record.nearest(time)]);
    this.poses = this.machine.call("look").poses;
    this.pushes = this.machine.show().pushes;
  }

  // --- the pull -------------------------------------------------------------------------------------------------------
  /** Grabs a body, by its index, at a point in its axes; null where it cannot be pulled. */
  grab(body, point) {
    const slot = this.live.pulled.indexOf(body);
    if (slot < 0) return null;
    this.release();
    return (this.pull = new Pull(this.machine, slot, point));
  }

  release() {
    this.pull?.release();
    this.pull = null;
  }

  // --- what is set ----------------------------------------------------------------------------------------------------
  /** Gives a slider, by its place in the list, a value. Sliders that change the same numbers add up. */
  set(index, value) {
    this.values[index] = value;
    const slider = this.live.sliders[index];
    for (const at of slider.at) {
      let number = this.base[at];
      for (const [k, other] of this.live.sliders.entries()) number += change(other, this.values[k], at, this.base[at]);
      this.machine.set(at, number);
    }
  }

  /** The closed posture nearest to the present one with a joint at a value, at rest and at t = 0; else why not. */
  slide(joint, value) {
    const { machine } = this;
    const before = Float64Array.from(machine.q);
    const turns = joint.turns ? 2 * Math.PI * Math.round((before[joint.q] - value) / (2 * Math.PI)) : 0;
    const why = this.bring(joint, value + turns);
    const passed = ({ q, limits: [least, most] }, at) => Math.max((least ?? -Infinity) - at[q], at[q] - (most ?? Infinity), 0);
    const beyond = this.live.joints.find((one) => passed(one, machine.q) > Math.max(passed(one, before), 1e-9));
    if (why || beyond) {
      machine.q.set(before);
      return why || `${beyond.name} would be outside its limits; move ${joint.name} less`;
    }
    const posture = Float64Array.from(machine.q);
    machine.load(machine.first);
    machine.q.set(posture);
    machine.v.fill(0);
    this.begin(machine.save());
    return "";
  }

  /** Turns a joint, along directions in which loops stay closed; what is wrong if they do not let it. */
  bring(joint, value) {
    const { machine } = this;
    if (!machine.results.has("posture")) {
      machine.q[joint.q] = value;
      return "";
    }
    const direction = new Float64Array(machine.v.length);
    direction[joint.v] = 1;
    const tries = 20 + Math.ceil((2 * Math.abs(value - machine.q[joint.q])) / TURN);
    for (let k = 0; k < tries; k++) {
      const away = value - machine.q[joint.q];
      if (Math.abs(away) < 1e-10) return "";
      const amount = Math.min(Math.max(away, -TURN), TURN);
      const { posture, share } = machine.call("posture", { direction, amount: [amount], ...machine.row });
      if (!(share[0] > 1e-9)) break;
      machine.q.set(posture);
    }
    if (Math.abs(value - machine.q[joint.q]) < 1e-6) return "";
    return `the loops cannot be closed with ${joint.name} at ${value.toPrecision(4)}; move it less`;
  }

  // --- a link that restores all of it ---------------------------------------------------------------------------------
  get link() {
    const bytes = new Uint8Array(Float64Array.from([...this.values, ...this.machine.save()]).buffer);
    const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
    return `state=${this.live.digest.slice(0, 8)}.${text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
  }

  /** Sliders and state of a link; what is wrong with it, or "". */
  restore(text) {
    const [digest, packed = ""] = text.split(".");
    if (digest !== this.live.digest.slice(0, 8)) return "The address names a state of another simulation; it is left out.";
    let numbers;
    try {
      const raw = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
      numbers = new Float64Array(Uint8Array.from(raw, (letter) => letter.charCodeAt(0)).buffer);
    } catch {
      numbers = [];
    }
    const count = this.values.length;
    if (!(numbers.length > count && this.machine.fits(numbers.subarray(count))) || !numbers.every(Number.isFinite)) return "The address names a state that is cut off.";
    for (let k = 0; k < count; k++) this.set(k, numbers[k]);
    this.begin(numbers.subarray(count));
    return "";
  }
}

/** What a slider at a value changes in a number of u; nothing where it was at first, to the last bit. */
function change({ at, rows, low, high, value: first }, value, place, own) {
  const column = at.indexOf(place);
  if (column < 0 || value === first) return 0;
  if (!rows) return value - own;
  const count = rows.length / at.length;
  const where = Math.min(Math.max((value - low) / (high - low), 0), 1) * (count - 1);
  const before = Math.min(Math.floor(where), count - 2);
  const [a, b] = [rows[before * at.length + column], rows[(before + 1) * at.length + column]];
  return a + (b - a) * (where - before) - own;
}
