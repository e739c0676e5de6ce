// Where the bodies are at a time: each turns about the one that carries it, between the frames on either side.
import * as THREE from "three";
import { indexBefore } from "./data.js";

const place = new THREE.Vector3();
const turn = new THREE.Quaternion();
const ones = new THREE.Vector3(1, 1, 1);
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
