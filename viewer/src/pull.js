// A damped spring from a point of a body to where the pointer is, as the live viewer of the package has it.
import * as THREE from "three";

/** The largest eigenvalue of a symmetric matrix (3 × 3, flat), by its characteristic polynomial. */
export function largest(m) {
  const mean = (m[0] + m[4] + m[8]) / 3;
  const [a, b, c] = [m[0] - mean, m[4] - mean, m[8] - mean];
  const [d, e, f] = [(m[1] + m[3]) / 2, (m[2] + m[6]) / 2, (m[5] + m[7]) / 2];
  const spread = Math.sqrt((a * a + b * b + c * c + 2 * (d * d + e * e + f * f)) / 6);
  if (!(spread > 0)) return mean;
  const half = (a * (b * c - f * f) - d * (d * c - f * e) + e * (d * f - b * e)) / (2 * spread ** 3);
  return mean + 2 * spread * Math.cos(Math.acos(Math.min(Math.max(half, -1), 1)) / 3);
}

export class Pull {
  /** At rest at a point of a body, in its axes; `slot`: which of the bodies that can be pulled. */
  constructor(machine, slot, point) {
    this.machine = machine;
    this.grip = { body: [slot], point };
    const most = largest(machine.call("mobility", this.grip).mobility);
    // the least mass that the point has in any direction: with it no explicit step is unstable, on heavy bodies and light ones
    this.mass = most * machine.live.mass > 1 ? Math.min(1 / most, machine.live.mass) : machine.live.mass;
    this.base = Float64Array.from(machine.tau);
    this.end = machine.call("lever", this.grip).end;
    this.target = Float64Array.from(this.end);
  }

  /** Writes the efforts at the joints that the spring is worth now. */
  act() {
    const { machine, target, mass, base } = this;
    const { end, jacobian } = machine.call("lever", this.grip);
    const { tau, v } = machine;
    const omega = machine.live.frequency;
    tau.set(base);
    for (let axis = 0; axis < 3; axis++) {
      const row = axis * v.length;
      let speed = 0;
      for (let k = 0; k < v.length; k++) speed += jacobian[row + k] * v[k];
      const force = mass * omega * (omega * (target[axis] - end[axis]) - 2 * speed);
      for (let k = 0; k < v.length; k++) tau[k] += jacobian[row + k] * force;
    }
  }

  release() {
    this.machine.tau.set(this.base);
  }
}

/** Dragging bodies of the stage with the pointer; `grabbed(body, place)` gives a pull or null, `changed()` is called on moves. */
export function wireDrag(stage, { grabbed, released, changed }) {
  const canvas = stage.renderer.domElement;
  const line = new THREE.Line(
    new THREE.BufferGeometry().setAttribute("position", new THREE.BufferAttribute(new Float32Array(6), 3)),
    new THREE.LineBasicMaterial({ color: "#e69f00", depthTest: false, transparent: true, toneMapped: false }),
  );
  Object.assign(line, { visible: false, frustumCulled: false, renderOrder: 5 });
  stage.scene.add(line);
  const plane = new THREE.Plane();
  const place = new THREE.Vector3();
  let pull = null;
  const show = () => {
    line.visible = pull !== null;
    if (!pull) return;
    line.geometry.attributes.position.set([...pull.end, ...pull.target]);
    line.geometry.attributes.position.needsUpdate = true;
    stage.stale = true;
  };
  stage.holder.addEventListener("pointerdown", (event) => {
    if (event.target !== canvas || event.button !== 0) return;
    const hit = stage.hitAt(event.offsetX, event.offsetY);
    pull = hit && grabbed(hit.body, hit.point);
    if (!pull) return;
    stage.controls.enabled = false; // the drag is the body's, not the camera's
    plane.setFromNormalAndCoplanarPoint(stage.camera.getWorldDirection(place), hit.point);
    canvas.setPointerCapture(event.pointerId);
    show();
  }, true);
  canvas.addEventListener("pointermove", (event) => {
    if (!pull || !stage.rayAt(event.offsetX, event.offsetY).intersectPlane(plane, place)) return;
    place.toArray(pull.target);
    show();
    changed();
  });
  for (const name of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(name, () => {
      if (!pull) return;
      pull = null;
      stage.controls.enabled = true;
      stage.stale = true;
      show();
      released();
    });
  }
  return show;
}
