// What can be shown on top: collision shapes, frames, centers of mass, boxes of inertia, loop joints, the support polygon.
import * as THREE from "three";
import { mergeGeometries } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import { Bodies } from "./bodies.js";
import { Instances, localPose } from "./instances.js";
import { makeSupport } from "./support.js";
import { theme } from "./theme.js";

const seen = { depthTest: false, transparent: true, toneMapped: false }; // through bodies

function painted(geometry, color) {
  const all = new Float32Array(3 * geometry.attributes.position.count);
  for (let k = 0; k < all.length; k += 3) new THREE.Color(color).toArray(all, k);
  return geometry.setAttribute("color", new THREE.BufferAttribute(all, 3));
}

function framesOf(scene) {
  const [length, radius] = [0.09 * scene.size, 0.0022 * scene.size];
  const shaft = () => new THREE.CylinderGeometry(radius, radius, length, 8).translate(0, length / 2, 0);
  const axes = [
    painted(shaft().rotateZ(-Math.PI / 2), "#e5484d"), painted(shaft(), "#30a46c"), painted(shaft().rotateX(Math.PI / 2), "#3e7bfa"),
  ];
  const items = scene.bodies.map((_, body) => ({ body, local: new THREE.Matrix4() }));
  return [new Instances(mergeGeometries(axes), new THREE.MeshBasicMaterial({ ...seen, vertexColors: true }), items)];
}

/** The centers of mass of the bodies as small balls, and that of all of them as a large one. */
function centersOf(scene) {
  const heavy = scene.bodies.map((body, index) => ({ ...body, index })).filter((body) => body.mass);
  const ball = new THREE.SphereGeometry(0.006 * scene.size, 16, 12);
  const material = () => new THREE.MeshBasicMaterial(seen);
  const each = new Instances(ball, material(), heavy.map(({ index, center }) => ({ body: index, local: localPose({ position: center }) })));
  const whole = new Instances(ball.clone().scale(2.2, 2.2, 2.2), material(), [{ body: -1, local: new THREE.Matrix4() }]);
  const mass = heavy.reduce((sum, body) => sum + body.mass, 0);
  const [at, sum] = [new THREE.Vector3(), new THREE.Vector3()];
  const moveTo = whole.moveTo.bind(whole);
  whole.moveTo = (motion) => {
    sum.set(0, 0, 0);
    for (const body of heavy) sum.addScaledVector(at.fromArray(body.center).applyMatrix4(motion.of(body.index)), body.mass / mass);
    whole.items[0].local.setPosition(sum);
    moveTo(motion);
  };
  return [each, whole];
}

function inertiaOf(scene) {
  const items = scene.bodies.flatMap((body, index) => {
    if (!body.box || !body.box.size.some((edge) => edge > 0)) return [];
    const scale = body.box.size.map((edge) => Math.max(edge, 1e-3 * scene.size));
    return [{ body: index, local: localPose({ position: body.center, quaternion: body.box.quaternion, scale }) }];
  });
  const material = new THREE.MeshLambertMaterial({ transparent: true, opacity: 0.35, depthWrite: false, toneMapped: false });
  return items.length ? [new Instances(new THREE.BoxGeometry(1, 1, 1), material, items)] : [];
}

/** A ball at both ends of every joint that closes a loop: one ball where the loop is closed. */
function loopsOf(scene) {
  const items = scene.loops.flatMap(({ ends }) => ends.map(({ body, position }) => ({ body, local: localPose({ position }) })));
  return [new Instances(new THREE.SphereGeometry(0.013 * scene.size, 16, 12), new THREE.MeshBasicMaterial(seen), items)];
}

/** All layers that this scene has something for: {key, name, node, moveTo, recolor, shown}. */
export function makeLayers(scene, meshes) {
  const layers = [];
  const add = (key, name, parts, color) => {
    if (!parts.length) return;
    const node = new THREE.Group();
    for (const part of parts) {
      part.mesh.renderOrder = 4;
      node.add(part.mesh);
    }
    layers.push({
      key, name, node,
      moveTo: (motion) => parts.forEach((part) => part.moveTo(motion)),
      recolor: () => color && parts.forEach((part) => part.mesh.material.color.set(color(theme()))),
    });
  };
  if (scene.bodies.some((body) => body.collisions.length)) {
    const look = { transparent: true, opacity: 0.45, depthWrite: false };
    const shapes = new Bodies(scene, meshes, "collisions", [], look);
    for (const lot of shapes.lots) lot.mesh.castShadow = false;
    layers.push({
      key: "x", name: "Collision shapes", node: shapes.root,
      moveTo: (motion) => shapes.moveTo(motion), recolor: () => shapes.recolor(), lighten: (light) => shapes.lighten(light),
    });
  }
  add("a", "Frames", framesOf(scene));
  if (scene.bodies.some((body) => body.mass)) {
    add("m", "Centers of mass", centersOf(scene), (colors) => colors.center);
    add("i", "Inertia as boxes", inertiaOf(scene), (colors) => colors.inertia);
  }
  if (scene.loops.length) add("j", "Loop joints", loopsOf(scene), (colors) => colors.loop);
  if (scene.contact?.ground.length || scene.live?.contact?.ground.length) layers.push(makeSupport(scene));
  for (const layer of layers) layer.node.visible = false;
  return layers;
}
