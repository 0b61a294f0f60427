// scene.js - the scene player: load, run live by any method, rule, law and step, look, scrub.
import examples from "examples";
import * as THREE from "./three.js";
import { make, say, save, select, shown } from "./dom.js";
import { writeAddress } from "./address.js";
import { Stage } from "./stage.js";
import { framesOf } from "./panels.js";
import { Player } from "./player.js";
import { Run } from "./run.js";
import { runCharts, showRun } from "./charts.js";
import { eventTable } from "./events.js";

const PATHS = { method: "step.method", rule: "impact.rule", law: "impact.law", dt: "step.dt" };
const BUDGET = 24;    // milliseconds of computing per picture
const SHARE = 0.8;    // likewise, of the time between two pictures where drawing takes that long
const LONGEST = 400;  // likewise, at most
const HURRY = 120;    // likewise, where the run is behind a time that was asked for
const CHARTED = 250;  // milliseconds between two pictures of the charts
const SLOW = 60;      // milliseconds between two pictures, beyond what computing takes
const PATIENCE = 500; // milliseconds of slow pictures before they get simpler
const COARSEST = 3;   // detail that goes: shadows (1), then half of the pixels each way

export const sceneView = (carom, place, values) => {
  let source = { name: "", text: "" };
  let asked = {};      // what stands in place of the scene's own
  let run = null, stage = null;
  let charted = 0;
  let computing = 0, slow = 0;
  let coarse = 0, drawn = -1;  // detail that moving pictures go without, and that the last one went without
  let touched = false, turning = false;  // the view was turned by hand, is being turned
  const shows = { contacts: true, impulses: true, paths: false, names: false };

  const view = make("div", { class: "stage" });
  const overlay = make("div", { class: "overlay", "aria-hidden": "true" });
  // software smooths edges by drawing every pixel four times: pictures that move go without, others have more pixels
  const software = THREE.drawnBySoftware();
  const renderer = THREE.makeRenderer(view, !software);
  let orbit = null;

  const scenes = select("Scene", Object.keys(examples.scenes), "", (name) => (name === given?.name ? load(given.name, given.text) : open({ name })));
  let given = null;    // a file that was opened, which the list then has too
  const list = (name, text) => {
    given = { name, text };
    const entry = scenes.box.querySelector("option[data-file]") ?? scenes.box.insertBefore(make("option", { "data-file": "" }), scenes.box.firstChild);
    entry.value = entry.textContent = name;
    scenes.box.value = name;
  };
  const file = make("input", { type: "file", accept: ".json,application/json", id: "file", hidden: true, onchange: async () => { if (file.files[0]) load(file.files[0].name, await file.files[0].text()); file.value = ""; } });
  const ask = (key, value) => { asked = { ...asked, [key]: value }; restart(); };
  const own = { value: "", text: "as the scene says" };
  const method = select("Method", [own, ...carom.catalogue.methods], "", (v) => ask("method", v));
  const rule = select("Rule", [own, ...carom.catalogue.rules.map((r) => r.name)], "", (v) => ask("rule", v));
  const law = select("Law", [own, ...carom.catalogue.laws.map((l) => l.name)], "", (v) => ask("law", v));
  const dt = make("input", { type: "text", inputmode: "decimal", size: 8, "aria-label": "Length of a step, s", placeholder: "dt [s]", onchange: () => ask("dt", dt.value.trim()) });
  const choices = { method: method.box, rule: rule.box, law: law.box, dt };
  [["method", method], ["rule", rule], ["law", law]].forEach(([name, s]) => { s.box.id = `scene-${name}`; });
  dt.id = "scene-dt";
  scenes.box.id = "scene-name";

  const step = make("button", { type: "button", id: "step", title: "one step (.)", onclick: () => stepOnce() }, "Step");
  const facts = make("div", { class: "facts", id: "facts" });
  const charts = runCharts((t) => player.seek(Math.min(t, run.now)));
  const events = make("details", {}, make("summary", {}, "Events"));
  events.addEventListener("toggle", () => { if (events.open && run) eventTable(events, run); });

  const guard = (work) => {
    try {
      return work();
    } catch (error) {
      player.play(false);
      if (run) { player.goal = run.now; run.over = true; }
      say(`${source.name}: ${error.message}`);
      return undefined;
    }
  };

  // at the newest state the library steps; before it, records are stepped through
  const stepOnce = (back = false) => {
    const { records } = run.history;
    const time = Math.min(player.goal, run.now);
    const at = run.history.indexAt(time);
    if (back) player.seek(records[Math.max(0, at - (time > records[at].time ? 0 : 1))].time);
    else if (at + 1 < records.length) player.seek(records[at + 1].time);
    else { guard(() => run.step()); player.seek(run.now); }
    charted = 0;
  };

  const fact = (name, value, bad = false) => make("span", bad ? { class: "bad" } : {}, make("b", {}, name), value);
  const tell = () => {
    const t = run.history.totals, a = run.about;
    facts.replaceChildren(
      fact("bodies", String(a.bodies.length - 1)),
      fact("steps", run.recorded ? `${t.steps + 1} records` : `${t.steps} of ${a.steps}`),
      fact("contacts, most", String(t.contacts)), fact("events", String(t.events)),
      fact("certificate", t.unsolved ? `${t.unsolved} steps not solved` : t.unsure ? `${t.unsure} steps cannot tell`
        : t.bounded ? `every step keeps its bounds (${t.bounded} bounded)` : t.near ? `every step solved or near (${t.near})` : "every step solved", t.unsolved > 0),
      fact("exact for gaps that differ by", `${shown(t.distance)} m`),
      fact("residual", shown(t.residual)), fact("overlap", `${shown(t.penetration)} m`),
      ...(t.impermissible ? [fact("impacts outside the region", String(t.impermissible), true)] : []),
      ...(t.crossings + t.crossingsUnsure ? [fact("pairs passed through each other", t.crossingsUnsure
        ? `${t.crossings}, of ${t.crossingsUnsure} cannot tell` : String(t.crossings), true)] : []),
      ...(t.gain > 0 ? [fact("energy gained without work", `${shown(t.gain)} J`)] : []),
      ...(t.created > 0 ? [fact("energy created", `${shown(t.created)} J`, true)] : []),
      ...(run.recorded ? [] : [make("span", { id: "hash", "data-steps": t.steps, "data-over": String(run.over) }, make("b", {}, "state hash"), make("code", {}, run.scene.hash()))]));
  };

  const show = (time, interval) => {
    const mark = performance.now();
    const record = run.history.at(time);
    overlay.textContent = `${run.recorded ? "recorded" : `${run.about.method}, ${run.about.rule}, ${run.about.law}, dt ${shown(run.about.dt)} s`}\nE ${shown(record.kinetic + record.potential)} J`;
    tell();
    if (mark - charted > CHARTED || (!player.playing && player.goal <= run.now)) { showRun(charts, run.history); charted = mark; }
    if (renderer && stage) drawStage(time, record);
    if (player.playing) ease(interval);
  };

  const drawStage = (time, record) => {
    stage.pose(run.poses(time));
    stage.pushes.show(record.forces, shows);
    stage.showPaths(shows.paths ? run.history.records : null, time);
    // while it plays the camera moves gently, else at once
    for (let i = 0; i < (player.playing ? 1 : 60) && !touched && !run.recorded && stage.isCrowded(); i++) stage.stepBack();
    refine();
    renderer.render(stage.scene, stage.camera);
    renderer.getContext().flush();
  };

  // where pictures come slowly for longer than computing takes, moving ones get simpler
  const ease = (interval) => {
    slow = interval > computing + SLOW ? slow + interval : 0;
    if (slow < PATIENCE) return;
    slow = 0;
    coarse = Math.min(COARSEST, coarse + 1);
  };

  const refine = () => {
    const moves = player.playing || turning || (player.goal > run.now && !run.over);
    const detail = moves ? coarse : 0;
    if (detail === drawn) return;
    drawn = detail;
    stage.sun.castShadow = detail < 1;
    renderer.setPixelRatio(detail < 1 && software ? Math.min(2 * devicePixelRatio, 2) : Math.max(0.5, Math.min(devicePixelRatio, 2) / 2 ** Math.max(0, detail - 1)));
  };

  const reach = (goal, interval) => {
    if (!run) return goal;
    const begun = performance.now();
    const waits = interval > computing + SLOW;
    const budget = !player.playing ? HURRY : waits ? Math.min(LONGEST, SHARE * interval) : BUDGET;
    if (goal > run.now && !run.over) guard(() => run.advance(goal, budget));
    computing = performance.now() - begun;
    return run.over ? Math.max(run.now, goal) : run.now;
  };
  const player = new Player({ reach, show: (time, interval) => { if (run) guard(() => show(time, interval)); } });

  const fit = () => {
    if (!renderer || !stage || !view.clientWidth) return;
    stage.camera.aspect = view.clientWidth / view.clientHeight;
    stage.camera.updateProjectionMatrix();
    renderer.setSize(view.clientWidth, view.clientHeight);
    player.dirty = true;
  };

  const setStage = () => {
    if (!renderer) return;
    stage?.dispose();
    orbit?.dispose();
    stage = new Stage(run.about);
    renderer.shadowMap.enabled = true;
    [coarse, drawn] = [software ? 1 : 0, -1];
    stage.camera.aspect = (view.clientWidth || 4) / (view.clientHeight || 3);
    stage.frame(stage.bounds(framesOf(run)), !run.recorded);
    stage.recolor();
    stage.showNames(shows.names);
    orbit = new THREE.OrbitControls(stage.camera, renderer.domElement);
    orbit.target.copy(stage.centre);
    orbit.update();
    orbit.addEventListener("change", () => { player.dirty = true; });
    orbit.addEventListener("start", () => { touched = turning = true; });
    orbit.addEventListener("end", () => { turning = false; player.dirty = true; });
    touched = turning = false;
    fit();
  };

  // the new run takes the old one's place only when it could be made
  const start = (make) => {
    const next = make();
    run?.close();
    run = next;
    player.start(run.begin, run.duration);
    say("");
    events.open = false;
    setStage();
    charts.forEach((chart) => chart.make(run.begin, run.duration));
    charted = 0;
    if (run.about.overlaps) say(`${source.name}: ${run.about.overlaps} pairs of shapes overlap at the start.`);
  };

  const address = () => { if (source.shipped) writeAddress("scene", { name: source.name, ...asked }); };
  const sets = () => Object.fromEntries(Object.entries(asked).filter(([, v]) => v).map(([k, v]) => [PATHS[k], v]));
  const restart = () => {
    try {
      const parsed = source.recorded;
      start(() => (parsed ? Run.recorded(carom, parsed) : new Run(carom, source.text, sets())));
      address();
    } catch (error) {
      say(`${source.name}: ${error.message}`);
    }
  };

  const setAsked = (given) => {
    asked = Object.fromEntries(Object.keys(PATHS).filter((k) => given[k]).map((k) => [k, given[k]]));
    Object.entries(choices).forEach(([k, box]) => { box.value = asked[k] ?? ""; });
  };

  // a file by its text: a scene, or a trajectory as carom export writes it
  const load = (name, text) => {
    const before = source, askedBefore = asked;
    try {
      let recorded = null;
      if (/^.?HDF/.test(text) || /\.(h5|hdf5|csv)$/i.test(name)) throw new Error(`The page reads JSON: carom export ${name} -o page.json writes it.`);
      if (/^\s*\{\s*"format"\s*:\s*"carom-trajectory"/.test(text)) recorded = JSON.parse(text);
      source = { name, text, recorded };
      setAsked({});
      start(() => (recorded ? Run.recorded(carom, recorded) : new Run(carom, text)));
      list(name, text);
    } catch (error) {
      source = before;
      setAsked(askedBefore);
      say(`${name}: ${error.message}`);
    }
  };

  const open = ({ name, opened, ...values }) => {
    // a scene of the list by its name, unless the command changed a value of it
    const plain = (text) => JSON.stringify(JSON.parse(text));
    const shipped = opened && Object.hasOwn(examples.scenes, opened.name) && plain(examples.scenes[opened.name]) === plain(opened.text);
    if (opened && !shipped) return load(opened.name, opened.text);
    name ??= opened?.name;
    const known = examples.scenes[name] ? name : "newtons-cradle-5";
    source = { name: known, text: examples.scenes[known], shipped: true };
    scenes.box.value = known;
    setAsked(values);
    restart();
    if (name && known !== name) say(`No scene is called ${name}.`);
    return undefined;
  };

  const keys = (e) => {
    if (!player.active || !run || ["INPUT", "SELECT", "TEXTAREA"].includes(e.target.tagName) && e.target !== player.scrub) return;
    const action = { " ": () => player.play(!player.playing), ".": () => stepOnce(), ",": () => stepOnce(true), Home: () => player.seek(0), r: () => resetView() }[e.key];
    if (!action || (e.key === " " && e.target.tagName === "BUTTON") || e.ctrlKey || e.metaKey) return;
    e.preventDefault();
    action();
  };
  const resetView = () => { touched = false; stage?.resetCamera(); if (orbit) { orbit.target.copy(stage.centre); orbit.update(); } player.dirty = true; };
  const box = (name, label) => make("label", {}, make("input", { type: "checkbox", checked: shows[name], onchange: (e) => { shows[name] = e.target.checked; stage?.showNames(shows.names); player.dirty = true; } }), label);

  if (renderer) {
    renderer.domElement.setAttribute("role", "img");
    renderer.domElement.setAttribute("aria-label", "The bodies of the scene; drag or use arrow keys to turn the view, wheel to come closer");
    THREE.turnByKeys(renderer.domElement, () => orbit, () => { touched = true; });
    new ResizeObserver(fit).observe(view);
  }
  addEventListener("keydown", keys);
  place.append(
    make("div", { class: "controls" }, scenes.row, make("button", { type: "button", onclick: () => file.click() }, "Open a file"), file,
      method.row, rule.row, law.row, make("label", {}, "dt", dt)),
    make("figure", { class: "view" }, view, overlay),
    make("div", { class: "controls" }, player.button, step, make("button", { type: "button", id: "restart", onclick: () => restart() }, "Restart"), player.scrub, player.clock, player.speed.row,
      box("contacts", "contacts"), box("impulses", "impulses"), box("paths", "paths"), box("names", "names"), make("button", { type: "button", onclick: resetView }, "Reset view"),
      make("button", { type: "button", onclick: () => save(`${source.name.replace(/\.json$/, "")}.json`, source.text, "application/json") }, "Save scene")),
    make("p", {}, "Drop a scene or a file of carom export anywhere. Keys: space plays, . and , step, Home begins, r resets the view."),
    facts, make("div", { class: "charts" }, ...charts.map((c) => c.place)), events);
  open(values);
  return {
    open, load,
    enter: () => { player.enter(); fit(); if (run) address(); },
    leave: () => player.leave(),
    recolor: () => { stage?.recolor(); if (run) charts.forEach((chart) => chart.make(run.begin, run.duration)); player.dirty = true; charted = 0; },
  };
};
