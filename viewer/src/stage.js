// The 3D view: camera, lights, floor, axes, bodies, trail.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { RoomEnvironment } from "three/examples/jsm/environments/RoomEnvironment.js";
import { makeAxes } from "./axes.js";
import { Bodies } from "./bodies.js";
import { makeForces } from "./forces.js";
import { makeGround } from "./ground.js";
import { makeLayers } from "./layers.js";
import { LiveMotion, Motion } from "./motion.js";
import { surfaceGeometry } from "./surfaces.js";
import { colorOf, theme } from "./theme.js";
import { makeTrail } from "./trail.js";

export class Stage {
  constructor(holder, scene) {
    this.holder = holder;
    this.data = scene;
    const box = new THREE.Box3(new THREE.Vector3(...scene.extent[0]), new THREE.Vector3(...scene.extent[1]));
    const axes = 0.14 * scene.size;
    const origin = new THREE.Box3(new THREE.Vector3(), new THREE.Vector3().setScalar(1.4 * axes));
    if (box.intersectsBox(origin)) box.union(origin); // the world's axes, where they stand by the mechanism
    this.middle = box.getCenter(new THREE.Vector3());
    this.whole = box;
    this.rim = scene.rim.map((point) => new THREE.Vector3(...point));
    if (box.containsPoint(origin.max)) this.rim.push(...[0, 1, 2].map((axis) => new THREE.Vector3().setComponent(axis, 1.4 * axes)));
    const far = scene.landscape ? 25 : 3.5; // among shapes that stand about, one wants to see where it goes
    this.travels = box.getSize(new THREE.Vector3()).length() > far * scene.size;
    this.following = this.travels;
    this.renderer = new THREE.WebGLRenderer({ antialias: true, alpha: true, powerPreference: "high-performance" });
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.renderer.toneMapping = THREE.ACESFilmicToneMapping;
    this.renderer.toneMappingExposure = 1.05;
    holder.prepend(this.renderer.domElement);
    this.scene = new THREE.Scene();
    const generator = new THREE.PMREMGenerator(this.renderer);
    // three.js takes no less than 256 pixels, on which a page without a graphics card works for 4 s and nobody sees the difference
    generator._setSize = () => (generator._cubeSize = 64);
    this.surround = this.scene.environment = generator.fromScene(new RoomEnvironment(), 0.04).texture;
    generator.dispose();
    this.camera = new THREE.PerspectiveCamera(32, 1, 0.01, 100);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, this.renderer.domElement);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.addEventListener("change", () => (this.stale = true));
    this.motion = new Motion(scene);
    const meshes = (this.meshes = scene.meshes.map(surfaceGeometry));
    this.bodies = new Bodies(scene, meshes);
    this.layers = makeLayers(scene, meshes);
    this.anchor = this.motion.center.clone();
    this.scene.add(this.bodies.root);
    this.addLights();
    this.ground = makeGround(scene.ground, this.range);
    this.axes = makeAxes(axes);
    const duration = scene.time[scene.time.length - 1] - scene.time[0];
    this.trail = makeTrail(this.motion.path(scene.trail), scene.time, Math.min(Math.max(0.2 * duration, 0.8), 2.5));
    this.trailed = true;
    this.scene.add(this.ground.node, this.axes, this.trail.mesh);
    this.forces = scene.contact && makeForces(scene.contact, scene.size);
    if (this.forces) this.scene.add(this.forces.node);
    this.scene.add(...this.layers.map((layer) => layer.node));
    this.recolor();
    this.resize();
    this.resetView();
    new ResizeObserver(() => this.resize()).observe(holder);
  }

  /** How much of the world is looked at [m]: the whole motion, or the mechanism alone while following it. */
  get range() {
    return this.following ? 1.6 * this.data.size : Math.max(this.whole.getSize(new THREE.Vector3()).length(), 1e-6);
  }

  addLights() {
    this.sky = new THREE.HemisphereLight();
    this.sky.position.set(0, 0, 1);
    this.sun = new THREE.DirectionalLight("#fff6ea");
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.radius = 4;
    this.scene.add(this.sky, this.sun, this.sun.target);
  }

  placeSun() {
    const target = this.following ? this.motion.center : this.middle;
    const reach = this.range;
    this.sun.target.position.copy(target);
    this.sun.position.set(0.45, -0.55, 1.25).multiplyScalar(1.6 * reach).add(target);
    const { camera } = this.sun.shadow;
    if (camera.right !== reach) {
      Object.assign(camera, { left: -reach, right: reach, bottom: -reach, top: reach, near: 0.1 * reach, far: 5 * reach });
      this.sun.shadow.normalBias = 0.004 * reach;
      this.sun.shadow.bias = -0.0004;
      camera.updateProjectionMatrix();
    }
  }

  recolor() {
    const colors = (this.colors = theme());
    this.sky.color.set(colors.sky);
    this.sky.groundColor.set(colors.soil);
    this.sky.intensity = colors.skyLight * (this.lightly ? 2 : 1); // light mode has no surroundings that shine
    this.sun.intensity = colors.sun;
    this.scene.environmentIntensity = colors.environment;
    this.ground.recolor(colors);
    this.bodies.recolor();
    this.forces?.recolor(colors);
    for (const layer of this.layers) layer.recolor(colors);
    this.trail.color = colorOf(this.data.bodies[this.data.trail.body].group);
    this.stale = true;
  }

  /** Look at the whole motion (or at the mechanism, while following it) from where it is seen best. */
  resetView() {
    const direction = new THREE.Vector3(...this.data.view).normalize();
    const target = this.following ? this.motion.center : this.middle;
    const half = 0.45 * this.data.size;
    const around = [0, 1, 2, 3, 4, 5, 6, 7].map((k) => new THREE.Vector3(k & 1 ? half : -half, k & 2 ? half : -half, k & 4 ? half : -half));
    // back off until all that the motion reaches (or a box about the mechanism, while following it) is inside the view
    const reached = this.following ? around : this.rim.map((point) => point.clone().sub(target));
    const right = new THREE.Vector3(0, 0, 1).cross(direction).normalize();
    const up = direction.clone().cross(right);
    const slope = Math.tan(THREE.MathUtils.degToRad(this.camera.fov / 2));
    let distance = 0;
    for (const p of reached) {
      const across = Math.max(Math.abs(p.dot(up)), Math.abs(p.dot(right)) / this.camera.aspect);
      distance = Math.max(distance, p.dot(direction) + across / slope);
    }
    this.controls.target.copy(target);
    this.camera.position.copy(direction).multiplyScalar(1.12 * distance).add(target);
    this.camera.near = 0.01 * distance;
    this.camera.far = 30 * distance;
    this.camera.updateProjectionMatrix();
    this.anchor.copy(this.motion.center);
    this.controls.update();
    this.stale = true;
  }

  set follows(on) {
    this.following = on;
    this.anchor.copy(this.motion.center);
    this.resetView();
  }

  set trailing(on) {
    this.trailed = on;
    this.trail.mesh.visible = on && !this.simulator;
    this.stale = true;
  }

  set pushing(on) {
    this.forces.node.visible = on;
    this.stale = true;
  }

  set shapes(on) {
    this.bodies.root.visible = on;
    this.stale = true;
  }

  /** Show a layer or hide it. */
  show(layer, on) {
    layer.node.visible = on;
    if (on) layer.moveTo(this.motion, this.time);
    this.stale = true;
  }

  /** Light mode: fewer pixels, no shadows, simple materials, for slow graphics. */
  set light(on) {
    this.renderer.setPixelRatio(on ? 1 : Math.min(devicePixelRatio, 2));
    this.sun.castShadow = !on;
    this.scene.environment = on ? null : this.surround;
    this.lightly = on;
    this.bodies.lighten(on);
    for (const layer of this.layers) layer.lighten?.(on);
    this.recolor();
    this.resize();
  }

  highlight(group) {
    this.bodies.highlight(group);
    this.stale = true;
  }

  /** The ray from the eye through a point of the view [pixels]. */
  rayAt(x, y) {
    const { clientWidth: width, clientHeight: height } = this.renderer.domElement;
    this.pointer ??= new THREE.Raycaster();
    this.pointer.setFromCamera(new THREE.Vector2((2 * x) / width - 1, 1 - (2 * y) / height), this.camera);
    return this.pointer.ray;
  }

  /** The body under a point of the view [pixels], and where it is seen in the world; null for none. */
  hitAt(x, y) {
    this.rayAt(x, y);
    const [hit] = this.pointer.intersectObjects(this.bodies.root.children, false);
    const body = hit ? hit.object.userData.items[hit.instanceId].body : -1;
    return body < 0 ? null : { body, point: hit.point };
  }

  /** Show a simulation that plays; what was recorded stays as a ghost. */
  goLive(simulator) {
    this.recorded = this.motion;
    this.motion = new LiveMotion(this.data, simulator);
    this.simulator = simulator;
    if (this.data.live.states) {
      const faint = { transparent: true, opacity: 0.18, depthWrite: false };
      this.ghost = new Bodies(this.data, this.meshes, "shapes", [], faint);
      for (const lot of this.ghost.lots) lot.mesh.castShadow = lot.mesh.receiveShadow = false;
      this.scene.add(this.ghost.root);
    }
    const { contact } = this.data;
    if (contact) this.recordedContact = { ...contact };
    this.trail.mesh.visible = false; // of the recorded motion
  }

  /** Show the recorded motion again. */
  goBack() {
    this.motion = this.recorded;
    this.simulator = null;
    if (this.ghost) this.scene.remove(this.ghost.root);
    this.ghost = null;
    Object.assign(this.data.contact ?? {}, this.recordedContact);
    this.trail.mesh.visible = this.trailed;
  }

  /** What touches in the simulation, as the one frame of its arrows. */
  touch() {
    const { contact, live } = this.data;
    const pushes = this.simulator.pushes;
    if (!pushes) return;
    const { count, ground } = live.contact;
    const [points, forces] = [new Float64Array(3 * count), new Float64Array(3 * count)];
    for (let k = 0; k < count; k++) {
      const force = pushes.subarray(9 * k, 9 * k + 3);
      forces.set(force.some((x) => x !== 0) ? force : [NaN, NaN, NaN], 3 * k);
      points.set(pushes.subarray(9 * k + 3, 9 * k + 6), 3 * k);
    }
    Object.assign(contact, { points, forces, count, ground, times: [0] });
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.holder;
    if (!width || !height) return;
    this.renderer.setSize(width, height);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.trail.resize(width, height, this.renderer.getPixelRatio());
    if (!this.touched) this.resetView();
    this.stale = true;
  }

  moveTo(time) {
    this.time = time;
    if (this.simulator) this.touch();
    if (this.ghost) {
      this.recorded.moveTo(time);
      this.ghost.moveTo(this.recorded);
    }
    this.motion.moveTo(time);
    this.bodies.moveTo(this.motion);
    for (const layer of this.layers) if (layer.node.visible) layer.moveTo(this.motion, time);
    this.trail.moveTo(time);
    this.forces?.moveTo(time);
    if (this.following) {
      const step = this.motion.center.clone().sub(this.anchor);
      this.camera.position.add(step);
      this.controls.target.add(step);
      this.anchor.copy(this.motion.center);
    }
    this.stale = true;
  }

  /** Draw, if anything has changed. */
  render() {
    this.controls.update();
    if (!this.stale) return;
    this.stale = false;
    this.draw();
  }

  draw() {
    this.ground.follow(this.controls.target.x, this.controls.target.y);
    this.placeSun();
    this.renderer.render(this.scene, this.camera);
    const { calls, triangles } = this.renderer.info.render;
    Object.assign(this.renderer.domElement.dataset, { calls, triangles }); // of the picture, with those for shadows
  }
}
