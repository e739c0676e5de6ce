// Things that move with bodies, drawn together: one draw call for all that share a geometry and a material.
import * as THREE from "three";

const pose = new THREE.Matrix4();
const mirror = new THREE.Matrix4().makeScale(-1, 1, 1);
const color = new THREE.Color();

/** The pose of a shape in its body. */
export function localPose({ position = [0, 0, 0], quaternion = [0, 0, 0, 1], scale = [1, 1, 1] }) {
  const parts = [new THREE.Vector3(...position), new THREE.Quaternion(...quaternion), new THREE.Vector3(...scale)];
  return new THREE.Matrix4().compose(...parts);
}

export class Instances {
  /** Items: {body, local: its pose in the body, …}. Mirrored items, which swap inside and outside, must not be mixed with others. */
  constructor(geometry, material, items) {
    this.items = items;
    this.mirrored = items.length > 0 && items[0].local.determinant() < 0;
    this.mesh = new THREE.InstancedMesh(geometry, material, Math.max(items.length, 1));
    this.mesh.count = items.length;
    this.mesh.frustumCulled = false; // its parts are all over the place
    if (this.mirrored) this.mesh.scale.x = -1;
    this.mesh.userData.items = items;
  }

  moveTo(motion) {
    if (!this.mesh.visible) return;
    for (const [k, { body, local }] of this.items.entries()) {
      pose.multiplyMatrices(motion.of(body), local);
      this.mesh.setMatrixAt(k, this.mirrored ? pose.premultiply(mirror) : pose);
    }
    this.mesh.instanceMatrix.needsUpdate = true;
    this.mesh.boundingSphere = null; // found anew when something is pointed at
  }

  /** Colours of all items, by a function that writes them. */
  paint(write) {
    for (const [k, item] of this.items.entries()) {
      write(color, item);
      this.mesh.setColorAt(k, color);
    }
    if (this.mesh.instanceColor) this.mesh.instanceColor.needsUpdate = true;
  }
}
