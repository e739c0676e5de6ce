// An endless floor: a grid that fades with the distance, under a plane that catches shadows.
import * as THREE from "three";

const vertexShader = /* glsl */ `
  varying vec2 place;
  void main() {
    vec4 world = modelMatrix * vec4(position, 1.0);
    place = world.xy;
    gl_Position = projectionMatrix * viewMatrix * world;
  }`;

const fragmentShader = /* glsl */ `
  uniform vec3 line;
  uniform vec2 center;
  uniform float cell;
  uniform float radius;
  varying vec2 place;
  float lines(float size) {
    vec2 at = place / size;
    vec2 width = fwidth(at);
    vec2 near = abs(fract(at - 0.5) - 0.5) / max(width, 1e-6);
    float crowd = clamp(1.6 - 2.5 * max(width.x, width.y), 0.0, 1.0); // far away the lines would run together
    return (1.0 - min(min(near.x, near.y), 1.0)) * crowd;
  }
  void main() {
    float fade = 1.0 - smoothstep(0.15, 1.0, distance(place, center) / radius);
    float strength = max(0.30 * lines(cell), 0.62 * lines(5.0 * cell));
    gl_FragColor = vec4(line, strength * fade);
    #include <colorspace_fragment>
  }`;

export function makeGround(height, size) {
  const radius = 5 * size;
  const power = 10 ** Math.floor(Math.log10(size / 4));
  const cell = power * [1, 2, 5, 10].findLast((factor) => factor * power <= size / 4);
  const uniforms = {
    line: { value: new THREE.Color() }, center: { value: new THREE.Vector2() }, cell: { value: cell }, radius: { value: radius },
  };
  const grid = new THREE.Mesh(
    new THREE.PlaneGeometry(2 * radius, 2 * radius),
    new THREE.ShaderMaterial({ vertexShader, fragmentShader, uniforms, transparent: true, depthWrite: false, side: THREE.DoubleSide }),
  );
  const shade = new THREE.Mesh(new THREE.PlaneGeometry(2 * radius, 2 * radius), new THREE.ShadowMaterial({ depthWrite: false }));
  shade.receiveShadow = true;
  grid.renderOrder = -1;
  shade.renderOrder = -2;
  const node = new THREE.Group();
  node.add(shade, grid);
  node.position.z = height - 1e-4 * size;
  return {
    node, cell,
    recolor(theme) {
      uniforms.line.value.set(theme.line);
      shade.material.opacity = theme.shadow;
    },
    follow(x, y) {
      node.position.x = x;
      node.position.y = y;
      uniforms.center.value.set(x, y);
    },
  };
}
