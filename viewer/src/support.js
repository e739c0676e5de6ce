// The support polygon, the hull of the points that press on the ground; and the zero-moment point, their mean by pressure.
import * as THREE from "three";
import { indexBefore } from "./data.js";

const cross = (o, a, b) => (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x);

/** The corners of the convex hull of points, seen from above, counterclockwise (Andrew's monotone chain). */
export function hull(points) {
  const sorted = [...points].sort((a, b) => a.x - b.x || a.y - b.y);
  const half = (all) => {
    const chain = [];
    for (const p of all) {
      while (chain.length > 1 && cross(chain.at(-2), chain.at(-1), p) <= 0) chain.pop();
      chain.push(p);
    }
    return chain.slice(0, -1);
  };
  return sorted.length < 3 ? sorted : [...half(sorted), ...half(sorted.reverse())];
}

export function makeSupport(scene) {
  const { contact } = scene;
  const most = contact.most;
  const lift = 2e-3 * scene.size;
  const corners = new THREE.BufferAttribute(new Float32Array(3 * (most + 1)), 3);
  const shape = new THREE.BufferGeometry().setAttribute("position", corners);
  shape.setIndex(Array.from({ length: Math.max(most - 2, 0) }, (_, k) => [0, k + 1, k + 2]).flat());
  const fill = new THREE.Mesh(shape, new THREE.MeshBasicMaterial({
    transparent: true, opacity: 0.25, depthWrite: false, side: THREE.DoubleSide, toneMapped: false,
  }));
  const edge = new THREE.Line(new THREE.BufferGeometry().setAttribute("position", corners), new THREE.LineBasicMaterial({ toneMapped: false }));
  const zmp = new THREE.Mesh(
    new THREE.CylinderGeometry(0.014 * scene.size, 0.014 * scene.size, 2 * lift, 24).rotateX(Math.PI / 2),
    new THREE.MeshBasicMaterial({ toneMapped: false, depthTest: false, transparent: true }),
  );
  zmp.renderOrder = 4;
  for (const part of [fill, edge]) part.frustumCulled = false;
  const node = new THREE.Group();
  node.add(fill, edge, zmp);
  return {
    key: "z", name: "Support polygon and zero-moment point", node,
    recolor(colors) {
      for (const part of [fill, edge]) part.material.color.set(colors.force);
      zmp.material.color.set(colors.center);
    },
    moveTo(_, time) {
      const { points, forces, ground, times } = contact;
      const frame = indexBefore(times, time);
      const value = (rows, row) => rows[row * times.length + frame];
      const pressed = [];
      const mean = new THREE.Vector3();
      let total = 0;
      for (const k of ground) {
        const pressure = value(forces, 3 * k + 2);
        if (!(pressure > 0)) continue; // NaN where nothing touches
        const point = new THREE.Vector3(...[0, 1, 2].map((axis) => value(points, 3 * k + axis)));
        pressed.push(point);
        mean.addScaledVector(point, pressure);
        total += pressure;
      }
      const around = hull(pressed);
      around.forEach((p, k) => corners.setXYZ(k, p.x, p.y, p.z + lift));
      if (around.length) corners.setXYZ(around.length, around[0].x, around[0].y, around[0].z + lift);
      corners.needsUpdate = true;
      fill.geometry.setDrawRange(0, 3 * Math.max(around.length - 2, 0));
      edge.geometry.setDrawRange(0, around.length > 1 ? around.length + 1 : 0);
      zmp.visible = total > 0;
      if (total > 0) zmp.position.copy(mean.divideScalar(total));
    },
  };
}
