// Meshes: unpacked, smooth where faces meet softly, split where they meet at an edge.
import * as THREE from "three";

const SHARP = Math.cos(THREE.MathUtils.degToRad(40));

/** The faces' normals, as long as twice their areas, and the same of length one. */
function normalsOf(places, faces) {
  const whole = new Float32Array(faces.length);
  const unit = new Float32Array(faces.length);
  const [a, b, c] = [new THREE.Vector3(), new THREE.Vector3(), new THREE.Vector3()];
  for (let f = 0; f < faces.length; f += 3) {
    for (const [k, corner] of [a, b, c].entries()) corner.fromArray(places, 3 * faces[f + k]);
    b.sub(a).cross(c.sub(a)).toArray(whole, f);
    b.normalize().toArray(unit, f);
  }
  return { whole, unit };
}

/** Which faces each vertex belongs to: those of vertex v are list[start[v]] … list[start[v + 1] - 1]. */
function neighbours(count, faces) {
  const start = new Uint32Array(count + 1);
  for (const v of faces) start[v + 1]++;
  for (let v = 0; v < count; v++) start[v + 1] += start[v];
  const next = start.slice();
  const list = new Uint32Array(faces.length);
  for (let i = 0; i < faces.length; i++) list[next[faces[i]]++] = Math.floor(i / 3);
  return { start, list };
}

export function surfaceGeometry({ low, step, vertices: steps, faces, palette, paint }) {
  const places = Float32Array.from(steps, (at, k) => low[k % 3] + step[k % 3] * at);
  const { whole, unit } = normalsOf(places, faces);
  const { start, list } = neighbours(places.length / 3, faces);
  const position = new Float32Array(3 * faces.length);
  const normal = new Float32Array(3 * faces.length);
  for (let i = 0; i < faces.length; i++) {
    const v = faces[i];
    const own = 3 * Math.floor(i / 3);
    for (let k = start[v]; k < start[v + 1]; k++) {
      const other = 3 * list[k];
      const along = unit[own] * unit[other] + unit[own + 1] * unit[other + 1] + unit[own + 2] * unit[other + 2];
      if (along < SHARP && other !== own) continue;
      for (let axis = 0; axis < 3; axis++) normal[3 * i + axis] += whole[other + axis];
    }
    for (let axis = 0; axis < 3; axis++) position[3 * i + axis] = places[3 * v + axis];
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(position, 3));
  geometry.setAttribute("normal", new THREE.BufferAttribute(normal, 3));
  geometry.normalizeNormals();
  if (palette) {
    const colors = palette.map(([r, g, b]) => new THREE.Color().setRGB(r / 255, g / 255, b / 255, THREE.SRGBColorSpace));
    const color = new Float32Array(3 * faces.length);
    paint.forEach((index, face) => {
      for (let k = 0; k < 3; k++) colors[index].toArray(color, 9 * face + 3 * k);
    });
    geometry.setAttribute("color", new THREE.BufferAttribute(color, 3));
  }
  return geometry;
}
