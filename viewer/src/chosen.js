// The link that was chosen, and its numbers: where it is, how fast, its mass, and the curves of its joint at this time.
import * as THREE from "three";
import { tidy, valueAt } from "./data.js";

const at = new THREE.Vector3();
const turn = new THREE.Quaternion();
const stretch = new THREE.Vector3();

const three = (vector) => vector.map((part) => tidy(part)).join("  ");

/** Roll, pitch and yaw [deg] about the fixed axes x, y, z. */
function angles(quaternion) {
  const { x, y, z } = new THREE.Euler().setFromQuaternion(quaternion, "ZYX");
  return [x, y, z].map(THREE.MathUtils.radToDeg);
}

export class Chosen {
  constructor(card, scene, motion) {
    this.card = card;
    this.scene = scene;
    this.motion = motion;
    this.body = null;
  }

  get group() {
    return this.body === null ? null : this.scene.bodies[this.body].group;
  }

  choose(body) {
    this.body = body;
    this.card.hidden = body === null;
    if (body === null) return;
    const { name, joint } = this.scene.bodies[body];
    const title = document.createElement("h2");
    title.textContent = name;
    this.list = document.createElement("dl");
    this.card.replaceChildren(title, this.list);
    this.rows = new Map();
    if (joint) this.row("joint", `${joint.name}, ${joint.kind}`);
  }

  row(name, text) {
    if (!this.rows.has(name)) {
      const [term, value] = [document.createElement("dt"), document.createElement("dd")];
      term.textContent = name;
      this.list.append(term, value);
      this.rows.set(name, value);
    }
    const value = this.rows.get(name);
    if (value.textContent !== text) value.textContent = text;
  }

  show(time) {
    if (this.body === null) return;
    const { mass, center, group } = this.scene.bodies[this.body];
    for (const { title, unit, series } of this.scene.channels) {
      const own = group < 0 ? [] : series.filter((s) => s.group === group);
      for (const s of own) this.row(own.length > 1 ? `${title}, ${s.name}` : title, `${tidy(valueAt(s, time))} ${unit}`);
    }
    this.motion.of(this.body).decompose(at, turn, stretch);
    this.row("position", `${three(at.toArray())} m`);
    this.row("roll, pitch, yaw", `${angles(turn).map((angle) => angle.toFixed(1).replace("-", "−")).join("  ")} deg`);
    this.row("velocity", `${three(this.motion.speed(this.body, time))} m/s`);
    if (!mass) return;
    this.row("mass", `${tidy(mass)} kg`);
    this.row("center of mass", `${three(at.fromArray(center).applyMatrix4(this.motion.of(this.body)).toArray())} m`);
  }
}
