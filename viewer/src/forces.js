// Forces of contact: a dot at every point that touches, and an arrow as long as its force is large.
import * as THREE from "three";
import { indexBefore } from "./data.js";

const up = new THREE.Vector3(0, 1, 0);
const place = new THREE.Matrix4();
const turn = new THREE.Quaternion();
const at = new THREE.Vector3();
const along = new THREE.Vector3();
const stretch = new THREE.Vector3();

/** Arrows of a scene's `contact`, as it is now; forces are means from each of its times to the next. */
export function makeForces(contact, size) {
  const radius = 0.005 * size;
  const head = 9 * radius;
  const material = new THREE.MeshBasicMaterial({ toneMapped: false, transparent: true, depthTest: false }); // seen through bodies
  const shapes = {
    dot: new THREE.SphereGeometry(1.7 * radius, 16, 12),
    shaft: new THREE.CylinderGeometry(radius, radius, 1, 12).translate(0, 0.5, 0),
    tip: new THREE.ConeGeometry(2.8 * radius, 1, 20).translate(0, -0.5, 0),
  };
  const node = new THREE.Group();
  const [dot, shaft, tip] = Object.values(shapes).map((geometry) => {
    const mesh = new THREE.InstancedMesh(geometry, material, Math.max(contact.most, 1));
    mesh.frustumCulled = false; // its parts are all over the place
    mesh.renderOrder = 3;
    node.add(mesh);
    return mesh;
  });
  return {
    node,
    recolor(theme) {
      material.color.set(theme.force);
    },
    moveTo(time) {
      const { points, forces, count, scale, longest, times } = contact;
      const frame = indexBefore(times, time);
      let shown = 0;
      const column = (rows, k) => [0, 1, 2].map((axis) => rows[(3 * k + axis) * times.length + frame]);
      for (let k = 0; k < count; k++) {
        if (Number.isNaN(forces[3 * k * times.length + frame])) continue; // nothing touches
        along.fromArray(column(forces, k));
        const force = along.length();
        if (force === 0) continue;
        const length = Math.min(force / scale, longest);
        const pointed = Math.min(head, 0.6 * length);
        at.fromArray(column(points, k));
        along.divideScalar(force);
        turn.setFromUnitVectors(up, along);
        dot.setMatrixAt(shown, place.compose(at, turn, stretch.set(1, 1, 1)));
        shaft.setMatrixAt(shown, place.compose(at, turn, stretch.set(1, length - 0.8 * pointed, 1)));
        tip.setMatrixAt(shown, place.compose(at.addScaledVector(along, length), turn, stretch.set(1, pointed, 1)));
        shown += 1;
      }
      for (const mesh of [dot, shaft, tip]) {
        mesh.count = shown;
        mesh.instanceMatrix.needsUpdate = true;
      }
    },
  };
}
