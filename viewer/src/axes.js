// The world's axes: three arrows with their names.
import * as THREE from "three";

const AXES = [["x", "#e5484d", [1, 0, 0]], ["y", "#30a46c", [0, 1, 0]], ["z", "#3e7bfa", [0, 0, 1]]];

function label(name, color) {
  const canvas = Object.assign(document.createElement("canvas"), { width: 64, height: 64 });
  const c = canvas.getContext("2d");
  Object.assign(c, { fillStyle: color, font: "600 44px system-ui, sans-serif", textAlign: "center", textBaseline: "middle" });
  c.fillText(name, 32, 30);
  const map = new THREE.CanvasTexture(canvas);
  map.colorSpace = THREE.SRGBColorSpace;
  return new THREE.Sprite(new THREE.SpriteMaterial({ map, transparent: true, depthWrite: false, toneMapped: false }));
}

export function makeAxes(length) {
  const node = new THREE.Group();
  for (const [name, color, direction] of AXES) {
    const material = new THREE.MeshBasicMaterial({ color, toneMapped: false });
    const shaft = new THREE.CylinderGeometry(0.018 * length, 0.018 * length, length, 12).translate(0, length / 2, 0);
    const head = new THREE.ConeGeometry(0.055 * length, 0.18 * length, 20).translate(0, 1.08 * length, 0);
    const arrow = new THREE.Group();
    arrow.add(new THREE.Mesh(shaft, material), new THREE.Mesh(head, material));
    arrow.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), new THREE.Vector3(...direction));
    const text = label(name, color);
    text.position.fromArray(direction).multiplyScalar(1.34 * length);
    text.scale.setScalar(0.3 * length);
    node.add(arrow, text);
  }
  return node;
}
