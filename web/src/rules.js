// rules.js - simultaneous impacts: the same collision by every rule, side by side.
//
// Above, a scene runs by each rule in step (one renderer draws them all); below, the instant of the impact itself
// as `carom resolve` answers it: velocities after, energy, ties, and the whole outcome set of the feasible rule.
import examples from "examples";
import * as THREE from "./three.js";
import { make, say, select, shown } from "./dom.js";
import { writeAddress } from "./address.js";
import { Stage } from "./stage.js";
import { Run } from "./run.js";
import { resolveTable, outcomeTable } from "./outcomes.js";

// what is played, and which file of examples/resolve is its impact
const CASES = {
  "newtons-cradle-3": ["Newton's cradle, 3 balls", "cradle-3"],
  "newtons-cradle-5": ["Newton's cradle, 5 balls", "cradle-5"],
  "pool-break": ["Pool break", "pool-break"],
  "rod-on-two-obstacles": ["Rod on two supports", "rod-on-two-supports"],
  "flat-rod": ["Rod falling flat: a tie", "flat-rod"],
  "rocking-rod": ["Rocking rod", "rocking-rod"],
  "two-balls-wall": ["Two balls and a wall", "ball-wall"],
};
// a rod that lands on both ends at once, made of one that lands on two supports beside each other
const flatRod = () => {
  const scene = JSON.parse(examples.scenes["rod-on-two-obstacles"]);
  scene.comment = "A rod falls flat on supports at both ends, e = 0.5: which end is first is a tie.";
  scene.static.forEach((support, i) => { support.pos = [i ? 0.48 : -0.48, 0.3, 0]; });
  scene.materials.steel.e = 0.5;
  return JSON.stringify(scene);
};
const sceneText = (name) => (name === "flat-rod" ? flatRod() : examples.scenes[name]);

const BUDGET = 20;  // milliseconds of computing per picture, all rules together

export const rulesView = (carom, place, values) => {
  let panels = [], time = 0, playing = false, last = 0, active = true, dirty = true, duration = 1, name = null;
  const shop = make("div", { hidden: true });
  const renderer = THREE.makeRenderer(shop);
  const grid = make("div", { class: "panels" });
  const tables = make("div");
  const comment = make("p", { class: "comment" });
  const cases = select("Collision", Object.entries(CASES).map(([value, [text]]) => ({ value, text })), "newtons-cradle-5", (v) => open({ name: v }));
  cases.box.id = "case";
  const play = make("button", { type: "button", id: "rules-play", onclick: () => setPlaying(!playing) }, "Play");
  const scrub = make("input", { type: "range", "aria-label": "Time", min: 0, step: "any", oninput: () => { setPlaying(false); time = Number(scrub.value); dirty = true; } });
  const clock = make("output", {}, "0 s");
  const speed = select("Speed", ["0.02", "0.05", "0.1", "0.2", "0.5", "1"], "0.5", () => {});

  const setPlaying = (on) => {
    playing = on;
    if (on && time >= duration) time = 0;
    play.textContent = on ? "Pause" : "Play";
    dirty = true;
  };

  const makePanel = (rule, text) => {
    const canvas = make("canvas", { role: "img", "aria-label": `The collision by the rule ${rule.name}` });
    const note = make("p", { title: rule.guarantee });
    const figure = make("figure", {}, make("figcaption", { title: rule.title }, rule.name), canvas, note);
    const panel = { rule: rule.name, canvas, note, figure, run: null, stage: null };
    try {
      panel.run = new Run(carom, text, { "impact.rule": rule.name });
    } catch (error) {
      note.textContent = error.message;
      note.className = "refused";
    }
    return panel;
  };

  // one view for all: what the first run shows over its whole time
  const makeStages = () => {
    if (!renderer) return;
    for (const panel of panels.filter((p) => p.run)) {
      panel.stage = new Stage(panel.run.about, { shadows: false });
      panel.stage.camera.aspect = 1.5;
      panel.stage.frame([panel.run.history.records[0].poses]);
      panel.stage.recolor();
    }
  };

  const drawPanel = (panel) => {
    if (!panel.run || !renderer) return;
    const ratio = Math.min(devicePixelRatio, 2);
    const w = Math.round(panel.canvas.clientWidth), h = Math.round(w / 1.5);
    if (!w) return;
    if (panel.canvas.width !== w * ratio) { panel.canvas.width = w * ratio; panel.canvas.height = h * ratio; }
    renderer.setPixelRatio(ratio);
    renderer.setSize(w, h, false);
    panel.stage.pose(panel.run.poses(Math.min(time, panel.run.now)));
    renderer.render(panel.stage.scene, panel.stage.camera);
    panel.canvas.getContext("2d").drawImage(renderer.domElement, 0, 0, panel.canvas.width, panel.canvas.height);
  };

  const notePanel = (panel) => {
    if (!panel.run || panel.failed) return;
    const t = panel.run.history.totals;
    const record = panel.run.history.at(time), first = panel.run.history.records[0];
    const change = record.kinetic + record.potential - first.kinetic - first.potential;
    panel.note.textContent = `${t.events} event${t.events === 1 ? "" : "s"}, energy ${change >= 0 ? "+" : "−"}${shown(Math.abs(change))} J${t.unsolved ? `, ${t.unsolved} step${t.unsolved === 1 ? "" : "s"} not solved` : ""}`;
    panel.note.className = t.created > 1e-9 || t.unsolved ? "bad" : "";
  };

  const advance = (panel, each) => {
    if (!panel.run || panel.failed) return;
    try {
      panel.run.advance(time, each);
    } catch (error) {
      panel.failed = true;
      panel.note.textContent = error.message;
      panel.note.className = "bad";
    }
  };

  const behind = () => panels.some((p) => p.run && !p.failed && !p.run.over && p.run.now < time);
  const tick = (now) => {
    if (!active) return;
    requestAnimationFrame(tick);
    const waiting = behind();
    if (playing && !waiting) {
      time = Math.min(duration, time + Math.min((now - last) / 1000, 0.1) * Number(speed.box.value));
      if (time >= duration) setPlaying(false);
      dirty = true;
    }
    last = now;
    if (waiting) dirty = true;
    if (!dirty) return;
    dirty = false;
    panels.forEach((p) => advance(p, BUDGET / panels.length));
    panels.forEach((p) => { drawPanel(p); notePanel(p); });
    // all at one distance, so that they can be compared
    if (panels.some((p) => p.stage?.isCrowded())) panels.forEach((p) => p.stage?.stepBack());
    scrub.value = time;
    clock.textContent = `${time.toFixed(3)} s`;
    place.dataset.time = time;
  };

  const close = () => { panels.forEach((p) => { p.run?.close(); p.stage?.dispose(); }); panels = []; };

  const open = ({ name: given }) => {
    name = CASES[given] ? given : "newtons-cradle-5";
    if (given && !CASES[given]) say(`No collision is called ${given}.`);
    cases.box.value = name;
    close();
    const text = sceneText(name);
    panels = carom.catalogue.rules.map((rule) => makePanel(rule, text));
    grid.replaceChildren(...panels.map((p) => p.figure));
    comment.textContent = JSON.parse(text).comment ?? "";
    duration = panels.find((p) => p.run)?.run.duration ?? 1;
    scrub.max = duration;
    time = 0;
    makeStages();
    const answer = carom.resolve(JSON.stringify({ ...JSON.parse(examples.resolve[CASES[name][1]]), rule: "all" }));
    tables.replaceChildren(make("h2", {}, `The impact itself: ${CASES[name][1]}`), make("p", {}, JSON.parse(examples.resolve[CASES[name][1]]).comment ?? ""),
      resolveTable(answer, carom.catalogue), ...outcomeTable(answer));
    writeAddress("rules", { name });
    setPlaying(!matchMedia("(prefers-reduced-motion: reduce)").matches);
  };

  place.append(make("div", { class: "controls" }, cases.row, play, scrub, clock, speed.row), comment, grid, tables, shop);
  open(values);
  requestAnimationFrame(tick);
  return {
    open,
    enter: () => { if (!active) { active = true; requestAnimationFrame(tick); } dirty = true; writeAddress("rules", { name }); },
    leave: () => { active = false; setPlaying(false); },
    recolor: () => { panels.forEach((p) => p.stage?.recolor()); dirty = true; },
  };
};
