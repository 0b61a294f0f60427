// stage.js - bodies of a scene in three dimensions: shapes, ground, shadows, arrows, camera.
//
// Spheres of the whole scene are one mesh; other shapes are meshes of the polygons the library gives. Up is against gravity; scenes that move in the x-y plane are seen
// along z, and so are those without gravity. Several stages may share a camera.
import * as THREE from "./three.js";
import { Balls } from "./balls.js";
import { Pushes } from "./pushes.js";
import { ink } from "./dom.js";

const MARGIN = 1.1;    // room around what is seen
const AHEAD = 1.35;    // likewise where what happens is not known yet
const FARTHEST = 2.5;  // times the distance at the start that the camera steps back by itself
const FAR = 3;         // radii of a ball from its body's centre of mass
const STICK = 0.012;   // radius of a stick, of its length
const NAMES = 60;      // of bodies that are shown
const PATHS = 40;      // of bodies
const POINTS = 300;    // of a path
const bodyColor = (i) => ink(`ink-${6 + ((i - 1) % 8)}`);

// polygons as triangles; flat faces keep their edges
const polygons = (shape) => {
  const index = [];
  for (let i = 0; i < shape.f.length; i += 1 + shape.f[i]) {
    for (let k = 2; k < shape.f[i]; k++) index.push(shape.f[i + 1], shape.f[i + k], shape.f[i + k + 1]);
  }
  let geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(shape.v, 3));
  geometry.setIndex(index);
  if (!shape.smooth) geometry = geometry.toNonIndexed();
  geometry.computeVertexNormals();
  return geometry;
};

export class Stage {
  constructor(about, { shadows = true, camera = new THREE.PerspectiveCamera(30, 1, 0.001, 1000) } = {}) {
    this.about = about;
    this.scene = new THREE.Scene();
    this.root = new THREE.Group();
    this.pushes = new Pushes();
    this.scene.add(this.root, this.pushes.group);
    this.camera = camera;
    this.shadows = shadows;
    this.bodies = about.bodies.map(() => { const g = new THREE.Group(); this.root.add(g); return g; });
    this.balls = [];
    this.materials = [];
    about.bodies.forEach((body, i) => this.addBody(body, i));
    this.addBalls();
    this.lights();
  }

  material(i, moves) {
    const material = new THREE.MeshLambertMaterial({ side: THREE.DoubleSide, transparent: !moves, opacity: moves ? 1 : 0.7 });
    this.materials.push([material, i, moves]);
    return material;
  }

  addBody(body, i) {
    const material = this.material(i, body.moves);
    for (const shape of body.shapes) {
      if (shape.r) { this.addBall(body, i, shape, material); continue; }
      const mesh = new THREE.Mesh(polygons(shape), material);
      mesh.castShadow = mesh.receiveShadow = this.shadows;
      this.bodies[i].add(mesh);
    }
    for (const end of body.sticks) this.addStick(i, [0, 0, 0], end, material);
  }

  // one far from the centre of mass is held by a stick
  addBall(body, i, { r, p }, material) {
    this.balls.push({ body: i, r, p: new THREE.Vector3(...p), moves: body.moves });
    if (body.moves && Math.hypot(...p.map((x, k) => x - body.com[k])) > FAR * r) this.addStick(i, body.com, p, material);
  }

  addStick(i, from, to, material) {
    const foot = new THREE.Vector3(...from), way = new THREE.Vector3(...to).sub(foot), size = way.length();
    if (size === 0) return;
    const rod = new THREE.Mesh(new THREE.CylinderGeometry(STICK * size, STICK * size, size, 8), material);
    rod.position.copy(foot).addScaledVector(way, 0.5);
    rod.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), way.normalize());
    rod.castShadow = this.shadows;
    this.bodies[i].add(rod);
  }

  addBalls() {
    if (!this.balls.length) return;
    this.spheres = new Balls(this.balls.length, this.shadows);
    this.root.add(this.spheres.mesh);
  }

  lights() {
    const g = this.about.gravity, size = Math.hypot(...g);
    this.up = size > 0 ? new THREE.Vector3(...g).multiplyScalar(-1 / size) : new THREE.Vector3(0, 0, 1);
    this.flat = size === 0 || Math.abs(this.up.z) < 0.5;
    this.sun = new THREE.DirectionalLight(0xffffff, 1.9);
    this.sun.castShadow = this.shadows;
    this.sun.shadow.mapSize.set(1024, 1024);
    this.sun.shadow.intensity = 0.6;
    this.scene.add(this.sun, this.sun.target, new THREE.HemisphereLight(0xffffff, 0x999999, 2.2));
    this.camera.up.copy(this.flat ? new THREE.Vector3(0, 1, 0) : this.up);
  }

  // what is to be seen: the bodies that move, and the fixed ones near to them
  bounds(frames) {
    const box = new THREE.Box3();
    const grow = (poses) => {
      this.pose(poses);
      this.root.updateMatrixWorld(true);
      this.balls.forEach((ball) => {
        const c = ball.p.clone().applyMatrix4(this.bodies[ball.body].matrixWorld);
        box.expandByPoint(c.clone().addScalar(ball.r)).expandByPoint(c.addScalar(-ball.r));
      });
      this.bodies.forEach((group, i) => { if (this.about.bodies[i].moves || !this.balls.length) box.expandByObject(group); });
    };
    frames.forEach(grow);
    if (box.isEmpty()) this.bodies.forEach((group) => box.expandByObject(group));
    if (box.isEmpty()) box.setFromCenterAndSize(new THREE.Vector3(), new THREE.Vector3(1, 1, 1));
    return box;
  }

  // camera, sun and ground for what happens in this box; ahead: more may happen around it
  frame(box, ahead) {
    this.margin = ahead ? AHEAD : MARGIN;
    this.centre = box.getCenter(new THREE.Vector3());
    this.half = box.getSize(new THREE.Vector3()).multiplyScalar(0.5);
    this.radius = Math.max(1e-6, this.half.length());
    for (const plane of this.about.planes) this.addPlane(plane);
    const side = new THREE.Vector3(0.4, -0.3, 0).addScaledVector(this.up, 1.2);
    if (this.flat) side.set(0.4, 1.1, 0.9);
    this.sun.position.copy(this.centre).addScaledVector(side.normalize(), 4 * this.radius);
    this.sun.target.position.copy(this.centre);
    const cam = this.sun.shadow.camera;
    Object.assign(cam, { left: -1.6 * this.radius, right: 1.6 * this.radius, top: 1.6 * this.radius, bottom: -1.6 * this.radius, near: 0.1 * this.radius, far: 9 * this.radius });
    cam.updateProjectionMatrix();
    this.sun.shadow.normalBias = 0.004 * this.radius;
    this.pushes.resize(this.radius);
    this.resetCamera();
  }

  // from the front, a little above; flat scenes straight on; as near as the box of what is seen allows
  resetCamera() {
    const from = this.flat ? new THREE.Vector3(0.1, 0.14, 1) : new THREE.Vector3(0.35, -1, 0).addScaledVector(this.up, 0.5);
    from.normalize();
    const right = new THREE.Vector3().crossVectors(this.camera.up, from).normalize();
    const up = new THREE.Vector3().crossVectors(from, right);
    const tan = Math.tan((this.camera.fov * Math.PI) / 360);
    const half = this.half.clone();
    let distance = 0;
    this.back = 1;
    for (let i = 0; i < 8; i++) {
      const corner = new THREE.Vector3(i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y, i & 4 ? half.z : -half.z);
      const toward = corner.dot(from);
      distance = Math.max(distance, toward + this.margin * Math.abs(corner.dot(up)) / tan, toward + this.margin * Math.abs(corner.dot(right)) / (tan * this.camera.aspect));
    }
    this.camera.position.copy(this.centre).addScaledVector(from, distance);
    this.camera.near = distance / 100;
    this.camera.far = distance * 30;
    this.camera.lookAt(this.centre);
    this.camera.updateProjectionMatrix();
  }

  // true where a body that moves is at the edge of the view or beyond
  isCrowded() {
    this.camera.updateMatrixWorld();
    const p = new THREE.Vector3();
    return this.moving.some((i) => {
      this.centreOf(i, p).project(this.camera);
      return Math.abs(p.x) > 0.8 || Math.abs(p.y) > 0.8;
    });
  }

  // a little farther away; false at the limit
  stepBack() {
    if (this.back > FARTHEST) return false;
    this.back *= 1.02;
    this.camera.position.sub(this.centre).multiplyScalar(1.02).add(this.centre);
    return true;
  }

  // seen from outside of what it fills; a wall is small and faint, so that what happens before it is seen
  addPlane({ body, n, offset }) {
    const normal = new THREE.Vector3(...n);
    const wall = !this.flat && normal.clone().applyQuaternion(this.bodies[body].quaternion).dot(this.up) < 0.5;
    const size = (wall ? 2 : 5) * this.radius;
    const group = new THREE.Group();
    const material = new THREE.MeshLambertMaterial({ transparent: wall, opacity: wall ? 0.4 : 1, depthWrite: !wall });
    this.materials.push([material, 0, false]);
    const mesh = new THREE.Mesh(new THREE.PlaneGeometry(size, size), material);
    mesh.receiveShadow = this.shadows && !wall;
    group.add(mesh);
    if (!wall) group.add(this.grid(size));
    group.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), normal);
    const centre = this.bodies[body].worldToLocal(this.centre.clone());
    group.position.copy(centre.addScaledVector(normal, offset - centre.dot(normal)));
    this.bodies[body].add(group);
  }

  grid(size) {
    const grid = new THREE.GridHelper(size, 20);
    grid.rotation.x = Math.PI / 2;
    grid.position.z = 0.0005 * this.radius;
    Object.assign(grid.material, { transparent: true, opacity: 0.25 });
    return grid;
  }

  recolor() {
    this.scene.background = new THREE.Color(ink("paper"));
    for (const [material, i, moves] of this.materials) material.color.set(moves ? bodyColor(i) : ink("ink-3"));
    const inks = Array.from({ length: 8 }, (_, i) => new THREE.Color(bodyColor(i + 1))), still = new THREE.Color(ink("ink-4"));
    this.balls.forEach((ball, k) => this.spheres.color(k, ball.moves ? inks[(ball.body - 1) % 8] : still));
    this.pushes.recolor();
    if (this.names) { this.showNames(false); this.showNames(true); }
    this.spheres?.update();
  }

  // p and quaternion (w first) of each body
  pose(poses) {
    this.bodies.forEach((group, i) => {
      group.position.set(poses[7 * i], poses[7 * i + 1], poses[7 * i + 2]);
      group.quaternion.set(poses[7 * i + 4], poses[7 * i + 5], poses[7 * i + 6], poses[7 * i + 3]);
    });
    const at = new THREE.Vector3();
    this.balls.forEach((ball, k) => {
      const group = this.bodies[ball.body];
      at.copy(ball.p).applyQuaternion(group.quaternion).add(group.position);
      this.spheres.place(k, at, group.quaternion, ball.r);
    });
    this.spheres?.update();
    this.names?.children.forEach((sprite) => this.centreOf(sprite.userData.body, sprite.position).addScaledVector(this.up, 0.05 * this.radius));
  }

  // the centre of mass of a body as it stands now
  centreOf(i, out) {
    const group = this.bodies[i];
    return out.set(...this.about.bodies[i].com).applyQuaternion(group.quaternion).add(group.position);
  }

  get moving() { return this.about.bodies.flatMap((body, i) => (body.moves ? [i] : [])); }

  showNames(on) {
    if (this.names) THREE.discard(this.names);
    this.names = null;
    if (!on) return;
    this.names = new THREE.Group();
    for (const i of this.moving.slice(0, NAMES)) {
      const sprite = THREE.words(this.about.bodies[i].name || String(i), ink("ink-1"), 0.09 * this.radius);
      sprite.userData.body = i;
      this.names.add(sprite);
    }
    this.scene.add(this.names);
  }

  // where centres of mass went, from records up to a time; none: no paths
  showPaths(records, time) {
    // those of before stay until the next are drawn, and with them their shader
    if (this.gone) THREE.discard(this.gone);
    this.gone = this.paths;
    this.gone?.removeFromParent();
    this.paths = null;
    const past = records?.filter((r) => r.time <= time) ?? [];
    if (past.length < 2) return;
    const every = Math.ceil(past.length / POINTS);
    const kept = past.filter((_, k) => k % every === 0 || k === past.length - 1);
    const q = new THREE.Quaternion();
    this.paths = new THREE.Group();
    for (const i of this.moving.slice(0, PATHS)) {
      const points = kept.map(({ poses: p }) => new THREE.Vector3(...this.about.bodies[i].com)
        .applyQuaternion(q.set(p[7 * i + 4], p[7 * i + 5], p[7 * i + 6], p[7 * i + 3])).add({ x: p[7 * i], y: p[7 * i + 1], z: p[7 * i + 2] }));
      this.paths.add(new THREE.Line(new THREE.BufferGeometry().setFromPoints(points), new THREE.LineBasicMaterial({ color: bodyColor(i) })));
    }
    this.scene.add(this.paths);
  }

  dispose() { [this.scene, this.gone].forEach((part) => { if (part) THREE.discard(part); }); }
}
