// panels.js - runs side by side: one renderer draws them all, by one camera, each onto a canvas of its own.
import * as THREE from "./three.js";
import { make } from "./dom.js";
import { Stage } from "./stage.js";

const FRAMES = 12;  // of a recorded run that the camera considers

// what a camera has to see of a run: where it starts, or some of its records where all are known
export const framesOf = (run) => {
  const { records } = run.history;
  return run.recorded ? records.filter((_, i) => i % Math.ceil(records.length / FRAMES) === 0).map((r) => r.poses) : [records[0].poses];
};

export class Panels {
  constructor({ aspect = 1.5, shadows = false, changed = () => {} }) {
    Object.assign(this, { aspect, shadows, changed, cells: [], touched: false });
    this.shop = make("div", { hidden: true });
    this.renderer = THREE.makeRenderer(this.shop);
    if (this.renderer) this.renderer.shadowMap.enabled = shadows;
  }

  // canvases for these runs, in their order: { label, run } each, run null where there is nothing to draw
  open(runs) {
    this.close();
    this.camera = Stage.camera(this.aspect);
    this.cells = runs.map(({ label, run }) => {
      const canvas = make("canvas", { role: "img", style: `aspect-ratio:${this.aspect}`, "aria-label": `The bodies, ${label}; drag or use arrow keys to turn the view` });
      const stage = run && this.renderer ? new Stage(run.about, { shadows: this.shadows, camera: this.camera }) : null;
      return { canvas, run, stage };
    });
    const drawn = this.drawn;
    if (!drawn.length) return;
    const box = new THREE.Box3();
    drawn.forEach(({ run, stage }) => box.union(stage.bounds(framesOf(run))));
    this.live = drawn.some(({ run }) => !run.recorded);
    drawn.forEach(({ stage }) => { stage.frame(box, this.live); stage.recolor(); });
    this.orbits = drawn.map(({ canvas }) => this.orbit(canvas, drawn[0].stage.centre));
  }

  get drawn() { return this.cells.filter((c) => c.stage); }

  // a wheel alone scrolls the page; with ctrl or shift it comes closer
  orbit(canvas, centre) {
    const orbit = new THREE.OrbitControls(this.camera, canvas);
    orbit.target.copy(centre);
    orbit.enablePan = orbit.enableZoom = false;
    orbit.update();
    orbit.addEventListener("change", () => this.changed());
    orbit.addEventListener("start", () => { this.touched = true; });
    canvas.style.touchAction = "pan-y";
    canvas.addEventListener("wheel", (e) => {
      if (!e.ctrlKey && !e.shiftKey) return;
      e.preventDefault();
      this.closer(Math.exp(0.002 * (e.deltaY || e.deltaX)));
    }, { passive: false });
    THREE.turnByKeys(canvas, () => orbit, () => { this.touched = true; });
    return orbit;
  }

  closer(factor) {
    const { centre } = this.drawn[0]?.stage ?? {};
    if (!centre) return;
    this.touched = true;
    this.camera.position.sub(centre).multiplyScalar(factor).add(centre);
    this.changed();
  }

  reset() {
    this.touched = false;
    this.drawn[0]?.stage.resetCamera();
    this.changed();
  }

  draw(time, extra = () => {}) {
    if (!this.renderer) return;
    const ratio = Math.min(devicePixelRatio, 2);
    this.renderer.setPixelRatio(ratio);
    for (const { canvas, run, stage } of this.drawn) {
      const w = canvas.clientWidth, h = canvas.clientHeight;
      if (!w || !h) continue;
      this.setAspect(w / h);
      if (canvas.width !== w * ratio || canvas.height !== h * ratio) Object.assign(canvas, { width: w * ratio, height: h * ratio });
      this.renderer.setSize(w, h, false);
      stage.pose(run.poses(Math.min(time, run.now)));
      extra(stage, run);
      this.renderer.render(stage.scene, this.camera);
      canvas.getContext("2d").drawImage(this.renderer.domElement, 0, 0, canvas.width, canvas.height);
    }
    // all at one distance, so that they can be compared
    const crowded = this.live && !this.touched && this.drawn.some((c) => c.stage.isCrowded());
    if (crowded && this.drawn[0].stage.stepBack()) this.changed();
  }

  setAspect(aspect) {
    if (Math.abs(aspect - this.camera.aspect) < 1e-3) return;
    this.camera.aspect = aspect;
    if (this.touched) this.camera.updateProjectionMatrix();
    else this.drawn[0].stage.resetCamera();
  }

  recolor() { this.drawn.forEach((c) => c.stage.recolor()); }

  close() {
    this.orbits?.forEach((o) => o.dispose());
    this.drawn.forEach((c) => c.stage.dispose());
    this.cells = [];
    this.touched = false;
  }
}
