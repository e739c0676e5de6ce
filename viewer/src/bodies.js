// The bodies' shapes, those that are equal drawn together.
import * as THREE from "three";
import { Instances, localPose } from "./instances.js";
import { colorOf } from "./theme.js";

const white = new THREE.Color("#ffffff");

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

/** What shapes have in common that are drawn together. */
function kindOf(shape, mirrored) {
  const { position, quaternion, color, scale, ...form } = shape;
  return JSON.stringify([form, color?.[3] ?? 1, mirrored]);
}

export class Bodies {
  /**
   * The shapes under `part` of each body ("shapes", "collisions"), and others of the world.
   * `over`: changes of the materials, such as to see through them.
   */
  constructor(scene, meshes, part = "shapes", world = scene.world, over = {}) {
    this.root = new THREE.Group();
    this.over = over;
    const found = new Map();
    const add = (shape, body, group) => {
      const local = localPose(shape);
      const key = kindOf(shape, local.determinant() < 0);
      if (!found.has(key)) found.set(key, { shape, items: [] });
      found.get(key).items.push({ body, group, local, color: shape.color });
    };
    for (const [k, body] of scene.bodies.entries()) for (const shape of body[part]) add(shape, k, body.group);
    for (const shape of world) add(shape, -1, -1);
    this.lots = [...found.values()].map(({ shape, items }) => {
      const geometry = geometryOf(shape, meshes);
      const painted = !shape.color && geometry.hasAttribute("color"); // by its file
      const lot = new Instances(geometry, null, items);
      Object.assign(lot, { painted, opacity: shape.color?.[3] ?? 1, both: shape.type === "mesh" });
      lot.mesh.castShadow = lot.mesh.receiveShadow = true;
      this.root.add(lot.mesh);
      return lot;
    });
    this.chosen = null;
    this.lighten(false);
  }

  /** Materials: those of light mode are cheap to draw. */
  lighten(light) {
    for (const lot of this.lots) {
      lot.mesh.material?.dispose();
      const common = {
        vertexColors: lot.painted, transparent: lot.opacity < 1, opacity: lot.opacity,
        side: lot.both ? THREE.DoubleSide : THREE.FrontSide, // not every mesh has its outside outside
        ...this.over,
      };
      const rich = { roughness: 0.42, metalness: 0.05, clearcoat: 0.35, clearcoatRoughness: 0.35 };
      lot.mesh.material = light ? new THREE.MeshLambertMaterial(common) : new THREE.MeshPhysicalMaterial({ ...common, ...rich });
    }
    this.recolor();
  }

  recolor() {
    for (const lot of this.lots) {
      lot.paint((color, { color: own, group }) => {
        if (lot.painted) color.copy(white);
        else if (own) color.setRGB(own[0], own[1], own[2], THREE.SRGBColorSpace);
        else color.set(colorOf(group));
        if (this.chosen === null || group !== this.chosen) return;
        if (lot.painted) color.set(colorOf(group)).lerp(white, 0.25).multiplyScalar(2.2);
        else color.lerp(white, 0.3).multiplyScalar(1.5);
      });
    }
  }

  /** Let one link glow; null for none. */
  highlight(group) {
    if (group === this.chosen) return;
    this.chosen = group;
    this.recolor();
  }

  moveTo(motion) {
    for (const lot of this.lots) lot.moveTo(motion);
  }
}
