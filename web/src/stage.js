// stage.js - bodies of a scene in three dimensions: shapes, ground, shadows, arrows, camera.
//
// Spheres of the whole scene are one mesh; other shapes are meshes of the polygons the library gives. Up is against gravity; scenes that move in the x-y plane are seen
// along z, and so are those without gravity. Several stages may share a camera.
import * as THREE from "./three.js";
import { Balls } from "./balls.js";
import { mapped, texture } from "./looks.js";
import { Pushes } from "./pushes.js";
import { ink, make } from "./dom.js";

const MARGIN = 1.1;    // room around what is seen
const AHEAD = 1.35;    // likewise where what happens is not known yet
const FARTHEST = 2.5;  // times the distance at the start that the camera steps back by itself
const FAR = 3;         // radii of a ball from its body's centre of mass
const STICK = 0.012;   // radius of a stick, of its length
const STRING = 0.005;  // likewise of what a body with shapes hangs on
const FOV = 12;        // degrees, as from far away: a ball at the edge is drawn 1 % longer than wide
const PIN = 0.012;     // radius of a hinge's pin, of the scene
const TEETH = 9;       // of a slider's spring
const NEAR = 3;        // times what moves: fixed bodies that are no larger are seen whole
const FLOOR = 12;       // sizes of what moves: a floor no farther below is seen from the start
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

// squares of two colours, as many as the grid has
const checkered = (one, other) => {
  const canvas = make("canvas", { width: 2, height: 2 }), draw = canvas.getContext("2d");
  for (const [x, y] of [[0, 0], [1, 0], [0, 1], [1, 1]]) { draw.fillStyle = x === y ? one : other; draw.fillRect(x, y, 1, 1); }
  const texture = Object.assign(new THREE.CanvasTexture(canvas), { colorSpace: THREE.SRGBColorSpace, magFilter: THREE.NearestFilter, wrapS: THREE.RepeatWrapping, wrapT: THREE.RepeatWrapping });
  texture.repeat.set(16, 16);
  return texture;
};

export class Stage {
  constructor(about, { shadows = true, camera = Stage.camera() } = {}) {
    this.about = about;
    this.scene = new THREE.Scene();
    this.root = new THREE.Group();
    this.pushes = new Pushes();
    this.scene.add(this.root, this.pushes.group);
    this.camera = camera;
    this.shadows = shadows;
    this.bodies = about.bodies.map(() => { const g = new THREE.Group(); this.root.add(g); return g; });
    this.balls = [];
    this.springs = [];
    this.materials = [];
    about.bodies.forEach((body, i) => this.addBody(body, i));
    this.addBalls();
    this.lights();
  }

  static camera(aspect = 1) { return new THREE.PerspectiveCamera(FOV, aspect, 0.001, 1000); }

  // color: of the scene's own material, the same in light and dark
  material(i, moves, color = null, look = 0) {
    const solid = moves || color;
    const material = new THREE.MeshLambertMaterial({ side: THREE.DoubleSide, transparent: !solid, opacity: solid ? 1 : 0.7, map: look ? texture(look) : null });
    this.materials.push([material, i, moves, color]);
    return material;
  }

  addBody(body, i) {
    const material = this.material(i, body.moves);
    for (const shape of body.shapes) {
      if (shape.r) { this.addBall(body, i, shape, material); continue; }
      const faces = polygons(shape);
      const mesh = new THREE.Mesh(shape.l ? mapped(faces) : faces, shape.c ? this.material(i, body.moves, shape.c, shape.l) : material);
      mesh.castShadow = mesh.receiveShadow = this.shadows;
      this.bodies[i].add(mesh);
    }
    for (const end of body.sticks) this.addStick(i, [0, 0, 0], end, material, body.shapes.length ? STRING : STICK);
  }

  // one far from the centre of mass is held by a stick
  addBall(body, i, { r, p, c, l = 0 }, material) {
    this.balls.push({ body: i, r, p: new THREE.Vector3(...p), moves: body.moves, c, l });
    if (body.moves && Math.hypot(...p.map((x, k) => x - body.com[k])) > FAR * r) this.addStick(i, body.com, p, material);
  }

  addStick(i, from, to, material, share = STICK) {
    const foot = new THREE.Vector3(...from), way = new THREE.Vector3(...to).sub(foot), size = way.length();
    if (size === 0) return;
    const rod = new THREE.Mesh(new THREE.CylinderGeometry(share * size, share * size, size, 8), material);
    rod.position.copy(foot).addScaledVector(way, 0.5);
    rod.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), way.normalize());
    rod.castShadow = this.shadows;
    this.bodies[i].add(rod);
  }

  addBalls() {
    if (!this.balls.length) return;
    this.spheres = new Balls(this.balls.map(({ l }) => l), this.shadows);
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
    if (frames.length === 1) this.addFloor(box);
    // a table, a box: fixed shapes that are not much larger than what moves
    const whole = box.clone();
    this.bodies.forEach((group) => whole.expandByObject(group));
    const size = (b) => Math.max(...b.getSize(new THREE.Vector3()).toArray());
    this.walled = !whole.equals(box) && size(whole) <= NEAR * size(box);
    if (box.isEmpty() || this.walled) box.copy(whole);
    if (box.isEmpty()) box.setFromCenterAndSize(new THREE.Vector3(), new THREE.Vector3(1, 1, 1));
    return box;
  }

  // the floor below bodies that will fall on it, if it is not far below
  addFloor(box) {
    const size = Math.max(...box.getSize(new THREE.Vector3()).toArray());
    for (const plane of this.about.planes) {
      const n = new THREE.Vector3(...plane.n);
      if (plane.body !== 0 || n.dot(this.up) < 0.9 || box.isEmpty()) continue;
      const low = new THREE.Vector3(...["x", "y", "z"].map((k) => (n[k] > 0 ? box.min[k] : box.max[k])));
      const height = n.dot(low) - plane.offset;
      if (height > 0 && height <= FLOOR * size) box.union(box.clone().translate(n.multiplyScalar(-height)));
    }
  }

  // camera, sun and ground for what happens in this box; ahead: more may happen around it
  frame(box, ahead) {
    this.margin = ahead && !this.walled ? AHEAD : MARGIN;
    this.centre = box.getCenter(new THREE.Vector3());
    this.half = box.getSize(new THREE.Vector3()).multiplyScalar(0.5);
    this.radius = Math.max(1e-6, this.half.length());
    for (const plane of this.about.planes) this.addPlane(plane);
    this.about.bodies.forEach((body, i) => { if (body.joint) this.addJoint(i, body.joint); });
    this.addTies();
    if (this.needsSheet()) this.addSheet(box);
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

  // the axis about which all that moves turns, where it is one and lies across up
  commonAxis() {
    let axis = null;
    for (const i of this.moving) {
      const { joint } = this.about.bodies[i];
      if (joint?.kind !== "hinge") return null;
      const own = new THREE.Vector3(...joint.axis).applyQuaternion(this.bodies[i].quaternion);
      if (axis && Math.abs(own.dot(axis)) < 0.999) return null;
      axis ??= own;
    }
    return axis && Math.abs(axis.dot(this.up)) < 0.1 ? axis : null;
  }

  // where the eye is: flat scenes straight on, mechanisms along their axes, tables from above, all else from the front
  eye() {
    if (this.flat) return new THREE.Vector3(0.1, 0.14, 1);
    const axis = this.commonAxis();
    if (axis) {
      if (axis.y > 0 || (axis.y === 0 && axis.x < 0)) axis.negate();
      return axis.addScaledVector(new THREE.Vector3().crossVectors(this.up, axis), 0.15).addScaledVector(this.up, 0.12);
    }
    const high = Math.abs(this.half.dot(this.up)), wide = Math.min(...["x", "y", "z"].filter((k) => Math.abs(this.up[k]) < 0.5).map((k) => this.half[k]));
    return high < 0.2 * wide ? new THREE.Vector3(0.08, -1, 0).addScaledVector(this.up, 1.5) : new THREE.Vector3(0.35, -1, 0).addScaledVector(this.up, 0.5);
  }

  // from the eye, as near as the box of what is seen allows
  resetCamera() {
    const from = this.eye().normalize();
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
  addPlane({ body, n, offset, c = null, k = null, l = 0 }) {
    const normal = new THREE.Vector3(...n);
    const wall = !this.flat && normal.clone().applyQuaternion(this.bodies[body].quaternion).dot(this.up) < 0.5;
    const size = (wall ? 2 : 8) * this.radius;
    const group = new THREE.Group();
    const material = new THREE.MeshLambertMaterial({ transparent: wall, opacity: wall ? 0.4 : 1, depthWrite: !wall });
    if (k) material.map = checkered(c ?? "#ffffff", k);
    else if (l) material.map = texture(l, 8);
    this.materials.push([material, 0, false, k ? "#ffffff" : c]);
    const mesh = new THREE.Mesh(new THREE.PlaneGeometry(size, size), material);
    mesh.receiveShadow = this.shadows && !wall;
    group.add(mesh);
    if (!wall && !k && !l) group.add(this.grid(size));
    group.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), normal);
    const centre = this.bodies[body].worldToLocal(this.centre.clone());
    group.position.copy(centre.addScaledVector(normal, offset - centre.dot(normal)));
    this.bodies[body].add(group);
  }

  // a pin along the axis, with a spiral around it where there is a spring; the spring of a slider is a zigzag
  addJoint(i, { kind, axis, spring, parent, at }) {
    const along = new THREE.Vector3(...axis).normalize(), r = PIN * this.radius;
    const part = (geometry) => { const mesh = new THREE.Mesh(geometry, this.pinMaterial()); mesh.castShadow = this.shadows; return mesh; };
    const turn = (object) => { object.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), along); this.bodies[i].add(object); return object; };
    if (kind === "hinge") turn(part(new THREE.CylinderGeometry(r, r, 6 * r, 12)));
    if (kind === "ball") turn(part(new THREE.SphereGeometry(1.5 * r, 16, 10)));
    if (kind === "hinge" && spring) {
      const turns = Array.from({ length: 61 }, (_, k) => { const a = (k / 60) * 5 * Math.PI, d = r * (1.5 + 0.25 * a); return new THREE.Vector3(d * Math.cos(a), 0, d * Math.sin(a)); });
      turn(this.line(turns));
    }
    if (kind === "slider" && spring) {
      const line = this.line(Array.from({ length: TEETH + 2 }, () => new THREE.Vector3()));
      line.frustumCulled = false;
      this.root.add(line);
      this.springs.push({ body: i, parent, at: new THREE.Vector3(...at), line });
    }
  }

  // from the joint's place on the parent to the body, teeth across the line of sight
  poseSpring({ body, parent, at, line }) {
    const from = at.clone().applyQuaternion(this.bodies[parent].quaternion).add(this.bodies[parent].position);
    const way = this.bodies[body].position.clone().sub(from);
    const side = this.camera.position.clone().sub(from).cross(way);
    if (side.length() > 0) side.setLength(2 * PIN * this.radius);
    for (let k = 0; k < TEETH + 2; k++) {
      const end = k === 0 || k === TEETH + 1, share = end ? Math.sign(k) : (k - 0.5) / TEETH;
      const p = from.clone().addScaledVector(way, share).addScaledVector(side, end ? 0 : 2 * (k % 2) - 1);
      line.geometry.attributes.position.setXYZ(k, p.x, p.y, p.z);
    }
    line.geometry.attributes.position.needsUpdate = true;
  }

  pinMaterial() {
    const material = new THREE.MeshLambertMaterial();
    this.materials.push([material, 0, true, null, "ink-2"]);
    return material;
  }

  line(points) {
    const line = new THREE.Line(new THREE.BufferGeometry().setFromPoints(points), new THREE.LineBasicMaterial());
    this.materials.push([line.material, 0, true, null, "ink-2"]);
    return line;
  }

  // ropes and rods between bodies, drawn anew with every pose
  addTies() {
    this.ties = (this.about.ties ?? []).map((tie) => ({ ...tie, line: this.line([new THREE.Vector3(), new THREE.Vector3()]) }));
    this.ties.forEach(({ line }) => { line.frustumCulled = false; this.root.add(line); });
  }

  // bodies that nothing carries and no fixed shape surrounds would float in white
  needsSheet() {
    return this.flat && !this.about.planes.length && this.about.bodies.every((body) => body.moves || !body.shapes.length) && Math.hypot(...this.about.gravity) === 0;
  }

  // a sheet under what moves in the plane, as a table seen from above
  addSheet(box) {
    const size = 8 * this.radius;
    const material = new THREE.MeshLambertMaterial();
    this.materials.push([material, 0, false]);
    const sheet = new THREE.Mesh(new THREE.PlaneGeometry(size, size), material);
    sheet.receiveShadow = this.shadows;
    const group = new THREE.Group();
    group.add(sheet, this.grid(size));
    group.position.set(this.centre.x, this.centre.y, box.min.z - 0.001 * this.radius);
    this.root.add(group);
  }

  grid(size) {
    const grid = new THREE.GridHelper(size, 32);
    grid.rotation.x = Math.PI / 2;
    grid.position.z = 0.0005 * this.radius;
    Object.assign(grid.material, { transparent: true, opacity: 0.25 });
    return grid;
  }

  recolor() {
    this.scene.background = new THREE.Color(ink("paper"));
    for (const [material, i, moves, color, role] of this.materials) material.color.set(color ?? (role ? ink(role) : moves ? bodyColor(i) : ink("ink-3")));
    const inks = Array.from({ length: 8 }, (_, i) => new THREE.Color(bodyColor(i + 1))), still = new THREE.Color(ink("ink-4"));
    this.balls.forEach((ball, k) => this.spheres.color(k, ball.c ? new THREE.Color(ball.c) : ball.moves ? inks[(ball.body - 1) % 8] : still));
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
    if (this.shifted) this.applyShift();
    this.root.updateMatrixWorld(true);
    const at = new THREE.Vector3();
    this.balls.forEach((ball, k) => {
      const group = this.bodies[ball.body];
      at.copy(ball.p).applyQuaternion(group.quaternion).add(group.position);
      this.spheres.place(k, at, group.quaternion, ball.r);
    });
    this.spheres?.update();
    this.ties?.forEach(({ a, b, p, q, line }) => {
      const at = line.geometry.attributes.position;
      [[a, p], [b, q]].forEach(([body, x], k) => { const w = new THREE.Vector3(...x).applyQuaternion(this.bodies[body].quaternion).add(this.bodies[body].position); at.setXYZ(k, w.x, w.y, w.z); });
      at.needsUpdate = true;
    });
    this.springs.forEach((spring) => this.poseSpring(spring));
    this.names?.children.forEach((sprite) => this.centreOf(sprite.userData.body, sprite.position).addScaledVector(this.up, 0.05 * this.radius));
  }

  // how a body follows a hand from one point to another as its joint lets it
  wayOf(body, kind, from, to) {
    const way = to.clone().sub(from), group = this.bodies[body], none = { way: [0, 0, 0], angle: 0, shift: 0 };
    if (kind === "free" || kind === "planar") return { ...none, way: [way.x, way.y, kind === "free" ? way.z : 0] };
    const axis = new THREE.Vector3(...(this.about.bodies[body].joint?.axis ?? [0, 0, 1])).applyQuaternion(group.quaternion);
    if (kind === "slider") return { ...none, axis, shift: way.dot(axis) };
    const arm = (p) => { const r = p.clone().sub(group.position); return r.addScaledVector(axis, -r.dot(axis)); };
    const [a, b] = [arm(from), arm(to)];
    return { ...none, axis, angle: kind === "hinge" && a.length() * b.length() > 0 ? Math.atan2(a.clone().cross(b).dot(axis), a.dot(b)) : 0 };
  }

  // a body, with what hangs on it, shown elsewhere until it is let go of; null: nowhere else
  shift(body, way) { this.shifted = body === null ? null : { body, way }; }

  applyShift() {
    const { body, way: { way, axis, angle, shift } } = this.shifted;
    const origin = this.bodies[body].position.clone(), turn = new THREE.Quaternion();
    if (angle) turn.setFromAxisAngle(axis, angle);
    const move = new THREE.Vector3(...way).addScaledVector(axis ?? new THREE.Vector3(), shift);
    const hangs = (i) => i === body || (i > 0 && hangs(this.about.parts[i].parent));
    this.bodies.forEach((group, i) => {
      if (i === 0 || !hangs(i)) return;
      group.position.sub(origin).applyQuaternion(turn).add(origin).add(move);
      group.quaternion.premultiply(turn);
    });
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
