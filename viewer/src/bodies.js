// The bodies as meshes, and where they are at a time.
import * as THREE from "three";
import { indexBefore } from "./data.js";
import { surfaceGeometry } from "./surfaces.js";
import { colorOf } from "./theme.js";

function geometryOf(shape, meshes) {
  switch (shape.type) {
    case "mesh":
      return meshes[shape.mesh];
    case "box":
      return new THREE.BoxGeometry(...shape.size);
    case "sphere":
      return new THREE.SphereGeometry(shape.radius, 40, 24);
    case "cylinder":
      return new THREE.CylinderGeometry(shape.radius, shape.radius, shape.length, 48).rotateX(Math.PI / 2);
    case "capsule":
      return new THREE.CapsuleGeometry(shape.radius, shape.length, 12, 36).rotateX(Math.PI / 2);
    default:
      throw new Error(`unknown shape ${shape.type}`);
  }
}

function materialOf(shape, painted) {
  const [red, green, blue, opacity] = shape.color ?? [1, 1, 1, 1];
  const material = new THREE.MeshPhysicalMaterial({
    roughness: 0.42, metalness: 0.05, clearcoat: 0.35, clearcoatRoughness: 0.35,
    transparent: opacity < 1, opacity, vertexColors: painted,
    side: shape.type === "mesh" ? THREE.DoubleSide : THREE.FrontSide, // not every mesh has its outside outside
  });
  if (shape.color) material.color.setRGB(red, green, blue, THREE.SRGBColorSpace);
  return material;
}

function build(shapes, group, meshes) {
  const node = new THREE.Group();
  for (const shape of shapes) {
    const geometry = geometryOf(shape, meshes);
    const painted = !shape.color && geometry.hasAttribute("color"); // by its file
    const mesh = new THREE.Mesh(geometry, materialOf(shape, painted));
    if (shape.scale) mesh.scale.fromArray(shape.scale);
    mesh.position.fromArray(shape.position);
    mesh.quaternion.fromArray(shape.quaternion);
    mesh.castShadow = mesh.receiveShadow = true;
    mesh.userData = { group, own: Boolean(shape.color) || painted, painted, marker: shape.type !== "capsule" };
    node.add(mesh);
  }
  return node;
}

export class Bodies {
  constructor(scene) {
    this.scene = scene;
    this.root = new THREE.Group();
    const meshes = scene.meshes.map(surfaceGeometry);
    this.nodes = scene.bodies.map((body) => build(body.shapes, body.group, meshes));
    this.root.add(build(scene.world, -1, meshes), ...this.nodes);
    this.center = new THREE.Vector3();
    this.recolor();
  }

  recolor() {
    this.root.traverse((mesh) => {
      if (mesh.isMesh && !mesh.userData.own) mesh.material.color.set(colorOf(mesh.userData.group));
    });
  }

  /** Let one link glow; null for none. */
  highlight(group) {
    this.root.traverse((mesh) => {
      if (!mesh.isMesh) return;
      const chosen = group !== null && mesh.userData.group === group;
      if (mesh.userData.painted) mesh.material.emissive.set(colorOf(group ?? -1));
      else mesh.material.emissive.copy(mesh.material.color);
      mesh.material.emissiveIntensity = chosen ? 0.55 : 0;
    });
  }

  /** Move everything to where it is at `time`, between the frames on either side. */
  moveTo(time) {
    const { time: times, positions, quaternions } = this.scene;
    const count = this.nodes.length;
    const before = indexBefore(times, time);
    const after = Math.min(before + 1, times.length - 1);
    const span = times[after] - times[before];
    const part = span > 0 ? Math.min(Math.max((time - times[before]) / span, 0), 1) : 0;
    this.center.set(0, 0, 0);
    for (let k = 0; k < count; k++) {
      const { position, quaternion } = this.nodes[k];
      const a = before * count + k;
      const b = after * count + k;
      for (const [axis, name] of ["x", "y", "z"].entries()) {
        position[name] = positions[3 * a + axis] * (1 - part) + positions[3 * b + axis] * part;
      }
      THREE.Quaternion.slerpFlat(scratch, 0, quaternions, 4 * a, quaternions, 4 * b, part);
      quaternion.fromArray(scratch).normalize();
      this.center.addScaledVector(position, 1 / count);
    }
  }
}

const scratch = [0, 0, 0, 1];
