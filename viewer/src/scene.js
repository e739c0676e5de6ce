// The steps of a scene of many bodies: a module with a memory of its own, beside that of the programs of the page.

const SIZE = 20; // numbers of a touch: record, two solids, force, place, and others
const WHY = {
  1: "more bodies touch than this page has room for",
  2: "more bodies touch than this page has room for",
  3: "contact has no usable solution",
  4: "the springs of contact are too stiff for these steps",
};

export class SceneSteps {
  constructor(live, module) {
    const { exports } = new WebAssembly.Instance(module);
    const { numbers, integers, changed } = live.scene;
    const view = (Kind, [address, size]) => new Kind(exports.memory.buffer, address, size);
    const views = (Kind, places) => Object.fromEntries(Object.entries(places).map(([name, place]) => [name, view(Kind, place)]));
    this.live = live;
    this.run = exports.run;
    this.is = { ...views(Float64Array, numbers), ...views(BigInt64Array, integers) };
    this.changed = Array.from(changed, (address) => view(Float64Array, [address, 1]));
    this.why = "";
  }

  /** Makes steps from a state (q, v, u and the number of steps made), in place. */
  step(count, { q, v, u, number }) {
    const { is, live } = this;
    const { puts, order } = live.scene;
    for (const [name, places] of Object.entries(puts)) places.forEach((place, k) => (is[name][k] = place ? u[place - 1] : 0));
    is.held.set(u);
    is.number[0] = number[0];
    copy(order.q, [is.q, is.robotQ], q, false);
    copy(order.v, [is.v, is.robotV], v, false);
    is.every[0] = BigInt(count);
    is.marks.fill(0n);
    this.run();
    const ended = Number(is.result[0]);
    this.why = WHY[ended] ?? "";
    number[0] = is.number[0];
    copy(order.q, [is.q, is.robotQ], q, true);
    copy(order.v, [is.v, is.robotV], v, true);
  }

  /** What touches in the step that begins at a state, which is left as it was: nine numbers each, force, place and zeros. */
  pushes(machine, most) {
    const saved = machine.save();
    machine.step(1);
    const count = Math.min(Number(this.is.marks[2]), most);
    const found = new Float64Array(9 * most);
    for (let k = 0; k < count; k++) found.set(this.is.touches.subarray(SIZE * k + 3, SIZE * k + 9), 9 * k);
    machine.load(saved);
    this.why = "";
    return found;
  }

  /** What the next step begins from beside the state: work, who rests, impulses of the last step, what springs leave out. */
  save() {
    const { work, quiet, counts, solid, feature, impulse, begun, parted } = this.is;
    const [known, left] = [Number(counts[0]), Number(begun[1])];
    const whole = (values, count = values.length) => Array.from(values.subarray(0, count), Number);
    return [
      work[0], Number(begun[0]), known, left, ...whole(quiet),
      ...whole(solid, 2 * known), ...whole(feature, known), ...impulse.subarray(0, 3 * known), ...parted.subarray(0, 3 * left),
    ];
  }

  /** How many numbers `save` gave, from the first of them; NaN if this scene cannot have them. */
  length([, , known, left]) {
    const { quiet, feature, parted } = this.is;
    const fits = known >= 0 && known <= feature.length && left >= 0 && 3 * left <= parted.length;
    return fits ? 4 + quiet.length + 6 * known + 3 * left : NaN;
  }

  load(saved) {
    const { work, quiet, counts, solid, feature, impulse, begun, parted, still, bed, clock } = this.is;
    const [done, first, known, left] = saved;
    let at = 4;
    const next = (count) => saved.subarray(at, (at += count));
    const whole = (values) => BigInt64Array.from(values, BigInt);
    work[0] = done;
    begun.set(whole([first, left]));
    counts.set(whole([known]));
    counts[4] = 0n;
    quiet.set(whole(next(quiet.length)));
    solid.set(whole(next(2 * known)));
    feature.set(whole(next(known)));
    impulse.set(next(3 * known));
    parted.set(next(3 * left));
    for (const values of [still, bed]) values.fill(0n); // the next step computes the contact of all
    clock.fill(0);
    this.why = "";
  }
}

/** Numbers between the state and the arrays of a scene, one behind the other, in the order of the state. */
function copy(order, [rows, behind], values, back) {
  const size = rows.length;
  for (let k = 0; k < order.length; k++) {
    const place = order[k] - 1;
    const [array, at] = place < size ? [rows, place] : [behind, place - size];
    if (back) values[k] = array[at];
    else array[at] = values[k];
  }
}
