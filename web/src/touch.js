// touch.js - hands on a run: bodies pulled by a spring, pushed or moved by mouse, finger and keys.
//
// A pointer on a body that moves is the hand's, one beside it turns the view. Several fingers hold several bodies.
// Keys: g holds the body that is chosen and lets go of it; arrows and page keys then move the point it is pulled to.
import * as THREE from "./three.js";
import { ink, make, say, select, shown } from "./dom.js";
import { Pick } from "./pick.js";

const TOOLS = [{ value: "pull", text: "pulls" }, { value: "push", text: "pushes" }, { value: "move", text: "moves" }];
const STEP = 0.05;  // way of an arrow key, of the scene's radius
const THIN = 0.004;  // radius of a string, of the scene's radius
const KEYS = { ArrowLeft: ["right", -1], ArrowRight: ["right", 1], ArrowUp: ["up", 1], ArrowDown: ["up", -1], PageUp: ["to", 1], PageDown: ["to", -1] };

const stringOf = (from, to, radius) => {
  const material = new THREE.MeshBasicMaterial({ color: ink("accent"), depthTest: false });
  const way = to.clone().sub(from), size = Math.max(way.length(), 1e-9 * radius);
  const rod = new THREE.Mesh(new THREE.CylinderGeometry(THIN * radius, THIN * radius, size, 8), material);
  rod.position.copy(from).addScaledVector(way, 0.5);
  rod.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), way.divideScalar(size));
  const knobs = [from, to].map((at) => { const knob = new THREE.Mesh(new THREE.SphereGeometry(4 * THIN * radius, 12, 8), material); knob.position.copy(at); return knob; });
  [rod, ...knobs].forEach((part) => { part.renderOrder = 4; });
  return [rod, ...knobs];
};

export class Touch {
  // view: the element around the canvas; now(): { run, stage, orbit, playing }; the others are told what happens
  constructor(view, canvas, { now, play, chosen, moved, dirty }) {
    Object.assign(this, { view, now, play, chosen, moved, dirty, canvas, held: new Map(), pick: new Pick(canvas) });
    this.tool = select("A pointer", TOOLS, "pull", () => {});
    this.tool.box.id = "tool";
    this.strength = make("input", { type: "number", id: "strength", min: 0, step: "any", value: 1, "aria-label": "Change of speed by a push, m/s", size: 5 });
    this.label = make("output", { id: "pull", class: "pull", "aria-live": "off", hidden: true });
    view.append(this.label);
    view.addEventListener("pointerdown", (e) => this.down(e), { capture: true });
    canvas.addEventListener("pointermove", (e) => this.move(e));
    ["pointerup", "pointercancel", "lostpointercapture"].forEach((name) => canvas.addEventListener(name, (e) => this.up(e.pointerId)));
    canvas.addEventListener("keydown", (e) => this.key(e), { capture: true });
  }

  // of a new run
  reset() {
    this.held.clear();
    this.label.hidden = true;
    if (this.strings) THREE.discard(this.strings);
    this.strings = null;
  }

  usable() {
    const { run } = this.now();
    if (!run || run.recorded) return false;
    return true;
  }

  down(e) {
    if (e.button !== 0 || !this.usable() || e.target !== this.canvas) return;
    const { run, stage, orbit } = this.now();
    const hit = this.pick.at(stage, e);
    if (!hit || hit.body === 0) return;
    this.chosen(hit.body);
    if (!run.about.parts[hit.body].forced) return;
    e.stopPropagation();
    e.preventDefault();
    this.canvas.focus({ preventScroll: true });
    orbit.enabled = false;
    this.canvas.setPointerCapture(e.pointerId);
    const tool = this.tool.box.value;
    if (tool === "push") this.pushAlong(hit.body, hit.point, this.pick.ray(stage, e).direction);
    this.held.set(e.pointerId, { tool, body: hit.body, point: hit.point, from: hit.point.clone(), hand: null });
    if (tool === "pull") this.grip(e.pointerId);
  }

  async grip(id) {
    const { run, stage } = this.now(), hold = this.held.get(id);
    this.play(true);
    try {
      const hand = await run.act("grip", hold.body, hold.point.toArray(), stage.radius);
      if (hand < 0) { this.held.delete(id); return; }
      hold.hand = hand;
      // it may have been let go of meanwhile
      if (this.held.get(id) !== hold) { run.ask("release", hand); return; }
      if (!hold.target) hold.target = hold.point.clone();
      run.ask("pull", hand, hold.target.toArray());
    } catch (error) {
      this.held.delete(id);
      say(error.message);
    }
  }

  move(e) {
    const hold = this.held.get(e.pointerId);
    if (!hold) return;
    const { run, stage } = this.now();
    hold.target = this.pick.across(stage, e, hold.from);
    if (hold.tool === "pull" && hold.hand != null) run.ask("pull", hold.hand, hold.target.toArray());
    if (hold.tool === "move") stage.shift(hold.body, this.way(hold));
    this.dirty();
  }

  up(id) {
    const hold = this.held.get(id);
    if (!hold) return;
    const { run, orbit } = this.now();
    this.held.delete(id);
    if (orbit && !this.held.size) orbit.enabled = true;
    if (hold.hand != null) run.ask("release", hold.hand);
    if (hold.tool === "move") this.letMove(hold);
    this.dirty();
  }

  letMove(hold) {
    const { stage } = this.now(), way = hold.target ? this.way(hold) : null;
    stage.shift(null);
    if (way) this.moved(hold.body, way);
  }

  // how a body of its joint follows: { way, angle, shift }
  way({ body, from, target }) {
    const { run, stage } = this.now();
    return stage.wayOf(body, run.about.parts[body].kind, from, target);
  }

  // an impulse that changes the speed of its mass by what the field says
  pushAlong(body, point, direction) {
    const { run } = this.now();
    const speed = Number(this.strength.value);
    if (!(speed >= 0) || !Number.isFinite(speed)) { say("The speed of a push must be a number of 0 or more."); return; }
    this.play(true);
    run.act("push", body, point.toArray(), direction.clone().normalize().multiplyScalar(speed * run.about.parts[body].mass).toArray()).catch((error) => say(error.message));
  }

  // keys: the body that is chosen is held at its centre of mass
  holdChosen(body) {
    if (this.held.has("keys")) { this.up("keys"); return; }
    const { run, stage } = this.now();
    if (!this.usable() || !run.about.parts[body]?.forced) return;
    const point = stage.centreOf(body, new THREE.Vector3());
    this.held.set("keys", { tool: "pull", body, point, from: point.clone(), target: point.clone(), hand: null });
    this.grip("keys");
  }

  key(e) {
    const hold = this.held.get("keys"), turn = KEYS[e.key];
    if (e.key === "Escape" && hold) { this.up("keys"); return; }
    if (!hold || !turn) return;
    e.preventDefault();
    e.stopPropagation();
    const { run, stage } = this.now();
    const axes = { right: new THREE.Vector3().setFromMatrixColumn(stage.camera.matrixWorld, 0), up: new THREE.Vector3().setFromMatrixColumn(stage.camera.matrixWorld, 1), to: stage.camera.getWorldDirection(new THREE.Vector3()) };
    hold.target.addScaledVector(axes[turn[0]], turn[1] * STEP * stage.radius * (e.shiftKey ? 0.2 : 1));
    if (hold.hand != null) run.ask("pull", hold.hand, hold.target.toArray());
    this.dirty();
  }

  // strings from where bodies are held to where they are pulled, and the force of the strongest
  draw() {
    const { run, stage } = this.now();
    if (this.strings) THREE.discard(this.strings);
    this.strings = null;
    const pulls = run.hands ?? [];
    this.label.hidden = !pulls.length || !this.held.size;
    if (!pulls.length || !this.held.size) return;
    this.strings = new THREE.Group();
    let strongest = null;
    for (const { hand, at, force, target } of pulls) {
      const hold = [...this.held.values()].find((h) => h.hand === hand);
      const end = hold?.target ?? new THREE.Vector3(...target);
      this.strings.add(...stringOf(new THREE.Vector3(...at), end, stage.radius));
      const size = Math.hypot(...force);
      if (!strongest || size > strongest.size) strongest = { size, force, end };
    }
    stage.scene.add(this.strings);
    const on = strongest.end.clone().project(stage.camera);
    this.label.textContent = `${shown(strongest.size, 3)} N`;
    this.label.dataset.force = JSON.stringify(strongest.force);
    Object.assign(this.label.style, { left: `${(50 * (on.x + 1)).toFixed(2)}%`, top: `${(50 * (1 - on.y)).toFixed(2)}%` });
  }
}
