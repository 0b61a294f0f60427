// solid.js - impulse space in three dimensions: the permissible region as a solid, laws as curves and points.
//
// Up is n. Drag to turn, wheel or pinch to come closer, arrow keys turn too.
import * as THREE from "./three.js";
import { ink } from "./dom.js";
import { lawColor } from "./laws.js";

// the contact frame (n, t1, t2) has n up
const turned = ([n, t1, t2]) => new THREE.Vector3(t1, n, t2);

const LINE = 0.09;  // height of words

const strip = (points, color, close = false) => {
  const geometry = new THREE.BufferGeometry().setFromPoints(close ? [...points, points[0]] : points);
  return new THREE.Line(geometry, new THREE.LineBasicMaterial({ color }));
};

export class Solid {
  constructor(place) {
    this.place = place;
    this.renderer = THREE.makeRenderer(place);
    this.camera = new THREE.PerspectiveCamera(35, 1, 0.01, 100);
    this.camera.position.set(1.85, 1.3, 3.5);
    this.scene = new THREE.Scene();
    this.content = new THREE.Group();
    const sun = new THREE.DirectionalLight(0xffffff, 1.6);
    sun.position.set(1, 3, 2);
    this.scene.add(this.content, new THREE.HemisphereLight(0xffffff, 0x888888, 1.6), sun);
    if (!this.renderer) return;
    const canvas = this.renderer.domElement;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", "Impulse space in three dimensions; drag or use arrow keys to turn it");
    this.controls = new THREE.OrbitControls(this.camera, canvas);
    this.controls.target.set(0, 0, 0);
    this.controls.update();
    this.controls.addEventListener("change", () => this.render());
    THREE.turnByKeys(canvas, () => this.controls);
    new ResizeObserver(() => this.resize()).observe(place);
  }

  resize() {
    const w = this.place.clientWidth, h = this.place.clientHeight;
    if (!this.renderer || !w || !h) return;
    this.camera.aspect = w / h;
    this.camera.updateProjectionMatrix();
    this.renderer.setSize(w, h);
    this.render();
  }

  render() {
    if (!this.renderer) return;
    this.renderer.setClearColor(new THREE.Color(ink("card")));
    this.renderer.render(this.scene, this.camera);
  }

  // in the next picture, however often it is asked for before that
  draw(p, hidden) {
    if (!this.renderer) return;
    const due = this.next != null;
    this.next = [p, new Set(hidden)];
    if (!due) requestAnimationFrame(() => { this.build(...this.next); this.next = null; });
  }

  build(p, hidden) {
    const before = [...this.content.children];
    this.content.clear();
    // the region with the origin fills the view
    const all = [[0, 0, 0], ...(p.vertices ?? p.section), ...(p.P_II ? [p.P_II] : []), ...(p.P_I ? [p.P_I.map((x) => 1.5 * x)] : [])].map(turned);
    const box = new THREE.Box3().setFromPoints(all);
    const size = Math.max(1e-12, box.getSize(new THREE.Vector3()).length() / 2);
    this.content.position.copy(box.getCenter(new THREE.Vector3())).divideScalar(-size);
    this.height = box.max.y / size;
    const at = (P) => turned(P).divideScalar(size);
    this.addRegion(p, at);
    this.addCone(p);
    this.addLaws(p, at, hidden);
    this.addNames(p, at);
    this.render();
    // only now: a shader goes with the last material that uses it, and is slow to make anew
    before.forEach(THREE.discard);
  }

  addRegion(p, at) {
    const accent = ink("accent");
    if (p.vertices) {
      const geometry = new THREE.BufferGeometry().setFromPoints(p.vertices.map(at));
      // t1, n, t2 is a left-handed order of n, t1, t2
      const index = [];
      for (let i = 0; i < p.triangles.length; i += 3) index.push(p.triangles[i], p.triangles[i + 2], p.triangles[i + 1]);
      geometry.setIndex(index);
      geometry.computeVertexNormals();
      this.content.add(new THREE.Mesh(geometry, new THREE.MeshLambertMaterial({ color: accent, transparent: true, opacity: 0.28, side: THREE.DoubleSide, depthWrite: false })));
    }
    if (p.section.length > 2) this.content.add(strip(p.section.map(at), accent, true));
  }

  // rings and rays of the friction cone
  addCone(p) {
    if (typeof p.mu !== "number" || p.mu <= 0) return;
    const height = Math.min(this.height, 1.2 / Math.hypot(1, p.mu));
    const ring = (h) => Array.from({ length: 49 }, (_, i) => {
      const a = (i / 24) * Math.PI;
      return new THREE.Vector3(p.mu * h * Math.cos(a), h, p.mu * h * Math.sin(a));
    });
    const color = ink("ink-4");
    for (const h of [0.5, 1]) this.content.add(strip(ring(h * height), color));
    for (let i = 0; i < 12; i++) this.content.add(strip([new THREE.Vector3(), ring(height)[4 * i]], color));
  }

  addLaws(p, at, hidden) {
    for (const law of p.laws) {
      if (hidden.has(law.law)) continue;
      const color = lawColor(law.law);
      const points = law.curve.map(at);
      let run = [];
      points.forEach((q, i) => {
        if (run.length && q.distanceTo(run[run.length - 1]) > 0.1) { if (run.length > 1) this.content.add(strip(run, color)); run = []; }
        run.push(q);
        if (i === points.length - 1 && run.length > 1) this.content.add(strip(run, color));
      });
      if (!law.P || law.regime === "no-solution") continue;
      const ball = new THREE.Mesh(new THREE.SphereGeometry(0.022, 16, 12), new THREE.MeshLambertMaterial({ color, wireframe: !law.permissible }));
      ball.position.copy(at(law.P));
      this.content.add(ball);
    }
  }

  addNames(p, at) {
    const color = ink("ink-1");
    const axes = [[[1.1 * this.height, 0, 0], "n"], [[0, 0.7, 0], "t₁"], [[0, 0, 0.7], "t₂"]];
    for (const [axis, name] of axes) {
      const tip = turned(axis);
      this.content.add(strip([new THREE.Vector3(), tip], ink("ink-2")));
      const sprite = THREE.words(name, color, LINE);
      sprite.position.copy(tip).multiplyScalar(1.08);
      this.content.add(sprite);
    }
    const together = p.P_I && p.P_II && at(p.P_I).distanceTo(at(p.P_II)) < 0.08;
    for (const [name, P] of [[together ? "" : "P I", p.P_I], [together ? "I = II" : "P II", p.P_II]]) {
      if (!P) continue;
      const dot = new THREE.Mesh(new THREE.SphereGeometry(0.014, 12, 8), new THREE.MeshLambertMaterial({ color }));
      dot.position.copy(at(P));
      const sprite = THREE.words(name, color, LINE);
      sprite.position.copy(at(P)).add(new THREE.Vector3(0.09, 0.03, 0));
      this.content.add(dot, sprite);
    }
  }
}

