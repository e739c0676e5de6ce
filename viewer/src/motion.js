// Where the bodies are at a time: each turns about the one that carries it, between the frames on either side.
import * as THREE from "three";
import { indexBefore } from "./data.js";

const place = new THREE.Vector3();
const [earlier, later] = [new THREE.Vector3(), new THREE.Vector3()];
const turn = new THREE.Quaternion();
const ones = new THREE.Vector3(1, 1, 1);
const upward = new THREE.Vector3(0, 0, 1);
const flat = [0, 0, 0, 1];
const ends = [0, 0, 0, 1, 0, 0, 0, 1];

export class Motion {
  constructor({ time, motion, bodies }) {
    this.times = time;
    this.rows = motion; // seven rows a body: x y z [m] and x y z w of the quaternion, each over all frames
    this.parents = bodies.map((body) => body.parent);
    this.world = bodies.map(() => new THREE.Matrix4());
    this.still = new THREE.Matrix4();
    this.center = new THREE.Vector3();
    this.moveTo(time[0]);
  }

  /** The pose of a body in the world, as it is now; of the world itself for −1. */
  of(body) {
    return body < 0 ? this.still : this.world[body];
  }

  moveTo(time) {
    const before = indexBefore(this.times, time);
    const after = Math.min(before + 1, this.times.length - 1);
    const span = this.times[after] - this.times[before];
    const part = span > 0 ? Math.min(Math.max((time - this.times[before]) / span, 0), 1) : 0;
    this.center.set(0, 0, 0);
    for (let k = 0; k < this.world.length; k++) this.place(k, before, after, part);
    for (const pose of this.world) this.center.addScaledVector(place.setFromMatrixPosition(pose), 1 / this.world.length);
  }

  place(k, before, after, part) {
    const { rows, times } = this;
    const value = (row, frame) => rows[(7 * k + row) * times.length + frame];
    for (let axis = 0; axis < 3; axis++) place.setComponent(axis, value(axis, before) * (1 - part) + value(axis, after) * part);
    for (let row = 0; row < 4; row++) {
      ends[row] = value(3 + row, before);
      ends[4 + row] = value(3 + row, after);
    }
    THREE.Quaternion.slerpFlat(flat, 0, ends, 0, ends, 4, part);
    this.world[k].compose(place, turn.fromArray(flat).normalize(), ones);
    if (this.parents[k] >= 0) this.world[k].premultiply(this.world[this.parents[k]]);
  }

  /** The velocity of a body's origin [m/s]: between the frames around a time. */
  speed(body, time) {
    const [first, last] = [this.times[0], this.times[this.times.length - 1]];
    const reach = (last - first) / Math.max(this.times.length - 1, 1);
    const [from, to] = [Math.max(time - 0.5 * reach, first), Math.min(time + 0.5 * reach, last)];
    this.moveTo(from);
    earlier.setFromMatrixPosition(this.of(body));
    this.moveTo(to);
    later.setFromMatrixPosition(this.of(body)).sub(earlier);
    this.moveTo(time);
    return to > from ? later.divideScalar(to - from).toArray() : [0, 0, 0];
  }

  /** The way of a point of a body: x y z of every frame. */
  path({ body, point }) {
    const chain = [];
    for (let k = body; k >= 0; k = this.parents[k]) chain.unshift(k);
    const path = new Float32Array(3 * this.times.length);
    for (let frame = 0; frame < this.times.length; frame++) {
      for (const k of chain) this.place(k, frame, frame, 0);
      place.fromArray(point).applyMatrix4(this.world[body]).toArray(path, 3 * frame);
    }
    this.moveTo(this.times[0]);
    return path;
  }
}

/** Where the bodies of a simulation are that plays; rods and springs are drawn between the ends of their loops. */
export class LiveMotion {
  constructor({ bodies, loops, live }, simulator) {
    this.simulator = simulator;
    this.world = bodies.map(() => new THREE.Matrix4());
    this.last = bodies.map(() => new THREE.Vector3());
    this.rates = bodies.map(() => new THREE.Vector3());
    this.struts = live.struts.map(([loop, far], k) => ({ body: bodies.length - live.struts.length + k, ends: loops[loop].ends, far }));
    this.still = new THREE.Matrix4();
    this.center = new THREE.Vector3();
    this.moveTo();
  }

  of(body) {
    return body < 0 ? this.still : this.world[body];
  }

  moveTo() {
    const { poses, time } = this.simulator;
    const count = this.world.length - this.struts.length;
    for (let k = 0; k < count; k++) {
      const [a, b, c, d, e, f, g, h, i, x, y, z] = poses.subarray(12 * k, 12 * k + 12);
      this.world[k].set(a, b, c, x, d, e, f, y, g, h, i, z, 0, 0, 0, 1);
    }
    for (const { body, ends, far } of this.struts) {
      const [start, end] = ends.map(({ body: carrier, position }) => new THREE.Vector3(...position).applyMatrix4(this.of(carrier)));
      const turn = new THREE.Quaternion().setFromUnitVectors(upward, end.clone().sub(start).normalize());
      this.world[body].compose(far ? end : start, turn, ones);
    }
    this.center.set(0, 0, 0);
    for (const pose of this.world) this.center.addScaledVector(place.setFromMatrixPosition(pose), 1 / this.world.length);
    const passed = time - this.moment;
    if (passed === 0) return;
    for (const [k, pose] of this.world.entries()) {
      place.setFromMatrixPosition(pose);
      this.rates[k].subVectors(place, this.last[k]).multiplyScalar(passed > 0 ? 1 / passed : 0);
      this.last[k].copy(place);
    }
    this.moment = time;
  }

  /** The velocity of a body's origin [m/s], over the last picture. */
  speed(body) {
    return this.rates[body].toArray();
  }
}
