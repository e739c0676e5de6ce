// The way a point has come: a ribbon of constant width on the screen that fades with age. A pure function of the time.
import * as THREE from "three";

const vertexShader = /* glsl */ `
  attribute vec3 before;
  attribute vec3 after;
  attribute float side;
  attribute float stamp; // [s]
  uniform vec2 screen; // pixels
  uniform float width; // pixels
  varying float when;
  vec2 onScreen(vec4 clip) { return clip.xy / clip.w * screen; }
  void main() {
    mat4 toClip = projectionMatrix * viewMatrix;
    vec4 here = toClip * vec4(position, 1.0);
    vec2 middle = onScreen(here);
    vec2 come = middle - onScreen(toClip * vec4(before, 1.0));
    vec2 go = onScreen(toClip * vec4(after, 1.0)) - middle;
    come = length(come) > 1e-3 ? normalize(come) : vec2(0.0);
    go = length(go) > 1e-3 ? normalize(go) : vec2(0.0);
    vec2 along = come + go;
    along = length(along) > 1e-3 ? normalize(along) : vec2(1.0, 0.0);
    float miter = 1.0 / clamp(length(come + go) * 0.5, 0.5, 1.0); // keeps its width around a bend
    here.xy += vec2(-along.y, along.x) * side * miter * width / screen * here.w;
    gl_Position = here;
    when = stamp;
  }`;

const fragmentShader = /* glsl */ `
  uniform vec3 color;
  uniform float now;
  uniform float span;
  varying float when;
  void main() {
    float age = (now - when) / span;
    if (age < 0.0 || age > 1.0) discard;
    gl_FragColor = vec4(color, 0.85 * pow(1.0 - age, 1.3));
    #include <colorspace_fragment>
  }`;

/** Points (x y z flat) at `times`; the trail shows the last `span` seconds of them. */
export function makeTrail(points, times, span) {
  const count = times.length;
  const [here, before, after] = [0, -1, 1].map((shift) => {
    const all = new Float32Array(6 * count);
    for (let i = 0; i < count; i++) {
      const from = 3 * Math.min(Math.max(i + shift, 0), count - 1);
      for (let k = 0; k < 6; k++) all[6 * i + k] = points[from + (k % 3)];
    }
    return new THREE.BufferAttribute(all, 3);
  });
  const side = Float32Array.from({ length: 2 * count }, (_, k) => (k & 1 ? 1 : -1));
  const stamp = Float32Array.from({ length: 2 * count }, (_, k) => times[k >> 1] - times[0]);
  const index = new Uint32Array(6 * Math.max(count - 1, 0));
  for (let i = 0; i + 1 < count; i++) index.set([0, 1, 2, 2, 1, 3].map((k) => 2 * i + k), 6 * i);
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", here);
  geometry.setAttribute("before", before);
  geometry.setAttribute("after", after);
  geometry.setAttribute("side", new THREE.BufferAttribute(side, 1));
  geometry.setAttribute("stamp", new THREE.BufferAttribute(stamp, 1));
  geometry.setIndex(new THREE.BufferAttribute(index, 1));
  const uniforms = {
    screen: { value: new THREE.Vector2(1, 1) }, width: { value: 3 }, now: { value: 0 }, span: { value: span },
    color: { value: new THREE.Color() },
  };
  const material = new THREE.ShaderMaterial({
    vertexShader, fragmentShader, uniforms, transparent: true, depthWrite: false, side: THREE.DoubleSide,
  });
  const mesh = new THREE.Mesh(geometry, material);
  mesh.frustumCulled = false; // its corners are moved on the screen
  mesh.renderOrder = 2;
  return {
    mesh,
    set color(value) { uniforms.color.value.set(value); },
    moveTo(time) { uniforms.now.value = time - times[0]; },
    resize(width, height, ratio) {
      uniforms.screen.value.set(width * ratio, height * ratio);
      uniforms.width.value = 3 * ratio;
    },
  };
}
