// The compiled simulation: one instance of the module is one state, in a memory that never grows.
import { SceneSteps } from "./scene.js";

/** What machines of one page share: the compiled module, and where arrays stand in its memory. */
export class Machine {
  static async of(live) {
    return new Machine(live, await Promise.all([live, live.scene].map((part) => part && WebAssembly.compile(part.code))));
  }

  constructor(live, modules) {
    this.live = live;
    this.modules = modules;
    this.calls = new WebAssembly.Instance(modules[0]).exports;
    this.scene = live.scene && new SceneSteps(live, modules[1]);
    this.results = new Map();
    for (const name of Object.keys(live.places)) {
      const [program, result] = name.split(".");
      if (result) this.results.set(program, [...(this.results.get(program) ?? []), result]);
    }
    this.state = Object.keys(live.state).filter((name) => name !== "u").map((name) => this.array(name));
    [this.q, this.v, this.u, this.number] = ["q", "v", "u", "number"].map((name) => this.array(name));
    this.tau = this.u.subarray(live.tau, live.tau + this.v.length);
    this.begin();
  }

  /** Another machine at the start. */
  another() {
    return new Machine(this.live, this.modules);
  }

  /** An input, or a result by its program and name ("look.poses"): a view into the memory. */
  array(name) {
    const [address, size] = this.live.places[name];
    return new Float64Array(this.calls.memory.buffer, address, size);
  }

  get time() {
    return this.number[0] * this.live.step;
  }

  /** The state of the page's start, with everything that nobody has changed. */
  begin() {
    for (const [name, values] of Object.entries(this.live.state)) this.array(name).set(values);
    this.array("h")[0] = this.live.step;
    this.scene?.changed.forEach((number, k) => (number[0] = this.live.scene.values[k]));
    this.first = this.save();
  }

  /** All that the next step begins from, without what is set from outside. */
  save() {
    return Float64Array.from([...this.state.flatMap((part) => [...part]), ...(this.scene?.save() ?? [])]);
  }

  /** Whether so many numbers can be what `save` gave. */
  fits(saved) {
    const own = this.state.reduce((count, part) => count + part.length, 0);
    return saved.length - own === (this.scene?.length(saved.subarray(own)) ?? 0);
  }

  load(saved) {
    let at = 0;
    for (const part of this.state) {
      part.set(saved.subarray(at, at + part.length));
      at += part.length;
    }
    this.scene?.load(saved.subarray(at));
  }

  step(count) {
    if (this.scene) this.scene.step(count, this);
    else this.calls.run(count);
  }

  /** The numbers that sliders set: those of u, and behind them those of a scene. */
  get settings() {
    return Float64Array.from([...this.u, ...(this.scene?.changed ?? []).map(([value]) => value)]);
  }

  set(place, value) {
    if (place < this.u.length) this.u[place] = value;
    else this.scene.changed[place - this.u.length][0] = value;
  }

  /** What curves and arrows show of the present state. */
  show() {
    const found = this.call("show");
    return this.scene ? { ...found, pushes: this.scene.pushes(this, this.live.contact.count) } : found;
  }

  /** Calls a program, with inputs by name in addition to those of the state; gives its results by name. */
  call(program, given = {}) {
    for (const [name, values] of Object.entries(given)) this.array(name).set(values);
    this.calls[program]();
    return Object.fromEntries(this.results.get(program).map((name) => [name, this.array(`${program}.${name}`)]));
  }

  /** The numbers of u from which parameters are read, as the last input of some programs. */
  get row() {
    return this.live.row ? { parameters: this.u.subarray(...this.live.row) } : {};
  }

  /** Whether the numbers are still those of a motion. */
  get sound() {
    return !this.scene?.why && this.v.every((speed) => Math.abs(speed) < this.live.runaway) && this.q.every(Number.isFinite);
  }
}

/** Whether the machine makes the same bits as the native code of whoever wrote the page; else the largest difference. */
export function replayed(machine) {
  const { steps, q, v } = machine.live.replay;
  const other = machine.another();
  other.step(steps);
  const bits = (values) => new BigUint64Array(Float64Array.from(values).buffer);
  const same = (a, b) => bits(a).every((word, k) => word === bits(b)[k] || (a[k] === 0 && b[k] === 0));
  const away = Math.max(...[...other.q].map((x, k) => Math.abs(x - q[k])), ...[...other.v].map((x, k) => Math.abs(x - v[k])));
  return { steps, same: same(other.q, q) && same(other.v, v), away };
}
