// scene.js - the scene player: load, run live by any method, rule, law and step, look, scrub, touch.
//
// The engine computes in a worker (live.js); here is what is shown and asked for. An edit is a new scene that starts
// where the old one is; the old run stays, so that undo brings it back with all it did.
import examples from "examples";
import * as THREE from "./three.js";
import { counted, make, say, save, select, shown } from "./dom.js";
import { writeAddress } from "./address.js";
import { Stage } from "./stage.js";
import { framesOf } from "./panels.js";
import { Player } from "./player.js";
import { Run } from "./run.js";
import { Engine, LiveRun } from "./live.js";
import { Touch } from "./touch.js";
import { Inspect } from "./inspect.js";
import { Drives } from "./drives.js";
import { expand, movedState, startingAt, withRecord, withSets } from "./edit.js";
import { runCharts, showRun } from "./charts.js";
import { eventTable } from "./events.js";

const PATHS = { method: "step.method", rule: "impact.rule", law: "impact.law", dt: "step.dt" };
const CHARTED = 250;  // milliseconds between two pictures of the charts
const SLOW = 60;      // milliseconds between two pictures
const PATIENCE = 500; // milliseconds of slow pictures before they get simpler
const UNDONE = 20;    // edits that can be taken back
const AHEAD = 1;      // seconds before its end that a run which was touched gets longer
const LOWEST = 0.5 * Math.PI;  // angle of the camera from above
const COARSEST = 3;   // detail that goes: shadows (1), then half of the pixels each way

export const sceneView = (carom, place, values) => {
  let source = { name: "", text: "" };
  let asked = {};      // what stands in place of the scene's own
  let run = null, stage = null;
  let charted = 0;
  let slow = 0;
  let coarse = 0, drawn = -1;  // detail that moving pictures go without, and that the last one went without
  let touched = false, turning = false;  // the view was turned by hand, is being turned
  let past = [];       // runs before each edit
  let followed = null; // where the body that the camera follows was last
  let longer = false;  // a longer run is asked for
  let editing = Promise.resolve();  // edits wait for each other
  const engine = new Engine(carom);
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
    else run.step();
    charted = 0;
  };

  const fact = (name, value, bad = false) => make("span", bad ? { class: "bad" } : {}, make("b", {}, name), value);
  const tell = () => {
    const t = run.history.totals, a = run.about;
    facts.replaceChildren(
      fact("bodies", String(a.bodies.length - 1)),
      fact("steps", run.recorded ? counted(t.steps + 1, "record") : `${t.steps} of ${a.steps}`),
      fact("contacts, most", String(t.contacts)), fact("events", String(t.events)),
      fact("certificate", t.unsolved ? `${counted(t.unsolved, "step")} not solved` : t.unsure ? `${counted(t.unsure, "step")} cannot tell`
        : t.bounded ? `every step keeps its bounds (${t.bounded} bounded)` : t.near ? `every step solved or near (${t.near})` : "every step solved", t.unsolved > 0),
      fact("exact for gaps that differ by", `${shown(t.distance)} m`),
      fact("residual", shown(t.residual)), fact("overlap", `${shown(t.penetration)} m`),
      ...(t.impermissible ? [fact("impacts outside the region", String(t.impermissible), true)] : []),
      ...(t.crossings + t.crossingsUnsure ? [fact("pairs passed through each other", t.crossingsUnsure
        ? `${t.crossings}, of ${t.crossingsUnsure} cannot tell` : String(t.crossings), true)] : []),
      ...(t.gain > 0 ? [fact("energy gained without work", `${shown(t.gain)} J`)] : []),
      ...(t.created > 0 ? [fact("energy created", `${shown(t.created)} J`, true)] : []),
      ...(run.recorded ? [] : [make("span", { id: "hash", "data-steps": t.steps, "data-over": String(run.over), "data-touched": String(run.touched), "data-engine": engine.kind }, make("b", {}, "state hash"), make("code", {}, run.hash))]));
  };

  const show = (time, interval) => {
    const mark = performance.now();
    const record = run.history.at(time);
    overlay.textContent = `${run.recorded ? "recorded" : `${run.about.method}, ${run.about.rule}, ${run.about.law}, dt ${shown(run.about.dt)} s`}\nE ${shown(record.kinetic + record.potential)} J`;
    tell();
    drives.follow(record);
    if (mark - charted > CHARTED || (!player.playing && player.goal <= run.now)) { showRun(charts, run.history); drives.chartAll(); charted = mark; }
    if (renderer && stage) drawStage(time, record);
    if (player.playing) ease(interval);
  };

  const drawStage = (time, record) => {
    stage.pose(run.poses(time));
    stage.pushes.show(record.forces, shows);
    if (!run.recorded) touch.draw();
    follow();
    stage.showPaths(shows.paths ? run.history.records : null, time);
    // while it plays the camera moves gently, else at once
    for (let i = 0; i < (player.playing ? 1 : 60) && !touched && !run.recorded && stage.isCrowded(); i++) stage.stepBack();
    refine();
    renderer.render(stage.scene, stage.camera);
    renderer.getContext().flush();
  };

  // the camera goes along with the body that is chosen
  const follow = () => {
    if (!inspect.follow.checked || !inspect.body) { followed = null; return; }
    const at = stage.centreOf(inspect.body, new THREE.Vector3());
    if (followed) { stage.camera.position.add(at).sub(followed); orbit.target.add(at).sub(followed); touched = true; }
    followed = at;
  };

  // where pictures come slowly, moving ones get simpler
  const ease = (interval) => {
    slow = interval > SLOW ? slow + interval : 0;
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

  const reach = (goal) => {
    if (!run) return goal;
    if (!run.recorded) run.advance(goal);
    if (run.touched && player.playing && goal > run.duration - AHEAD) lengthen();
    return run.over ? Math.max(run.now, goal) : run.now;
  };

  // a run that is touched does not end
  const lengthen = async () => {
    if (longer) return;
    longer = true;
    const own = run;
    const done = await own.extend(own.duration + Math.max(2 * AHEAD, own.duration - own.begin)).catch(() => false);
    longer = false;
    if (!done || own !== run) return;
    player.extend(run.duration);
    charts.forEach((chart) => chart.make(run.begin, run.duration));
    drives.remake();
  };
  const player = new Player({ reach, show: (time, interval) => { if (run) guard(() => show(time, interval)); } });

  const inspect = new Inspect({
    laws: carom.catalogue.laws.map((l) => l.name), rules: carom.catalogue.rules.map((r) => r.name),
    now: () => ({ run, stage, get scene() { return parsed(); } }), edit: (change) => edit(change),
    follow: () => { followed = null; player.dirty = true; }, hold: (body) => { renderer?.domElement.focus(); touch.holdChosen(body); }, push: () => pushChosen(),
  });
  const drives = new Drives((t) => player.seek(Math.min(t, run.now)));
  const touch = renderer ? new Touch(view, renderer.domElement, {
    now: () => ({ run, stage, orbit }), chosen: (body) => inspect.choose(body), dirty: () => { player.dirty = true; },
    play: (on) => { if (player.time < run.now) player.cut(run.now); player.play(on); },
    moved: (body, way) => edit((scene, about, state) => {
      const moved = movedState(about, body, state, way.way, way);
      if (!moved) throw new Error(`${about.bodies[body].name} hangs on a joint that a pointer cannot move.`);
      return startingAt(scene, moved);
    }),
  }) : { reset() {}, draw() {}, holdChosen() {}, tool: select("A pointer", ["pull"], "pull", () => {}), strength: make("input", { type: "number", "aria-label": "Speed" }), pushAlong() {} };

  const fit = () => {
    if (!renderer || !stage || !view.clientWidth) return;
    stage.camera.aspect = view.clientWidth / view.clientHeight;
    stage.camera.updateProjectionMatrix();
    renderer.setSize(view.clientWidth, view.clientHeight);
    player.dirty = true;
  };

  // keep: the camera stays where it is
  const setStage = (keep) => {
    if (!renderer) return;
    const seen = keep && stage && orbit ? { position: stage.camera.position.clone(), target: orbit.target.clone() } : null;
    touch.reset();
    followed = null;
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
    orbit.target.copy(seen?.target ?? stage.centre);
    if (seen) stage.camera.position.copy(seen.position);
    // not below the ground
    if (!stage.flat && run.about.planes.length) orbit.maxPolarAngle = LOWEST;
    orbit.update();
    orbit.addEventListener("change", () => { player.dirty = true; });
    orbit.addEventListener("start", () => { touched = turning = true; });
    orbit.addEventListener("end", () => { turning = false; player.dirty = true; });
    touched = seen !== null;
    turning = false;
    fit();
  };

  // the new run takes the old one's place only when it could be made
  const start = (make) => {
    const next = make();
    forget();
    run?.close();
    take(next);
    player.start(run.begin, run.duration);
    drives.reset(run);
  };

  const forget = () => past.splice(0).forEach((p) => p.run.close());

  // shows a run in place of another
  const take = (next, keep = false) => {
    const name = keep ? inspect.name : null;
    run = next;
    if (!run.recorded) {
      const own = run;
      run.heard = () => { if (own === run) player.dirty = true; };
      run.stepped = () => { if (own === run) player.seek(run.now); };
      run.failed = (message) => { if (own === run) { player.play(false); player.cut(run.now); say(`${source.name}: ${message}`); } };
    }
    say("");
    facts.replaceChildren();
    events.open = false;
    setStage(keep);
    inspect.reset(run, name);
    charts.forEach((chart) => chart.make(run.begin, run.duration));
    charted = 0;
    player.dirty = true;
    if (run.about.overlaps) say(`${source.name}: ${run.about.overlaps === 1 ? "a pair of shapes overlaps" : `${run.about.overlaps} pairs of shapes overlap`} at the start.`);
  };

  const address = () => { if (source.shipped) writeAddress("scene", { name: source.name, ...asked }); };
  const sets = () => Object.fromEntries(Object.entries(asked).filter(([, v]) => v).map(([k, v]) => [PATHS[k], v]));
  const restart = () => {
    try {
      const { recorded } = source;
      start(() => (recorded ? Run.recorded(carom, recorded) : new LiveRun(engine, source.text, sets())));
      address();
    } catch (error) {
      say(`${source.name}: ${error.message}`);
    }
  };

  const parsed = () => { try { return expand(JSON.parse(source.text)); } catch { return null; } };

  // the scene as it is now, with everything that was asked for
  const sceneNow = async () => {
    const state = await run.ask("state");
    const scene = startingAt(withSets(parsed(), sets()), state);
    const { dt } = run.about, left = run.duration - state.time;
    if (left < dt) scene.step = { ...scene.step, duration: (state.steps + Math.round((run.duration - run.begin) / dt || 1)) * dt };
    else scene.step = { ...scene.step, duration: run.duration };
    return { scene, state };
  };

  // change(scene, about, state) makes another scene, which goes on in place of this one; refused: nothing happens
  const edit = (change) => { editing = editing.then(() => editNow(change)); return editing; };
  const editNow = async (change) => {
    if (!run || run.recorded) return;
    const own = run, playing = player.playing;
    try {
      const { scene, state } = await sceneNow();
      if (own !== run) return;
      const text = JSON.stringify(change(scene, run.about, state), null, 1);
      const next = new LiveRun(engine, text);
      past.push({ run, source, asked });
      if (past.length > UNDONE) past.shift().run.close();
      source = { ...source, text, shipped: false, edited: true };
      setAsked({});
      resume(next, playing);
    } catch (error) {
      say(`${source.name}: ${error.message}`);
      inspect.choose(inspect.body, true);
    }
  };

  const resume = (next, playing) => {
    take(next, true);
    const speed = player.speed.box.value;
    player.start(run.begin, run.duration);
    player.speed.box.value = speed;
    player.cut(run.now);
    drives.reset(run);
    player.play(playing);
  };

  const undo = () => { editing = editing.then(undoNow); return editing; };
  const undoNow = async () => {
    if (!run || run.recorded) return;
    if (run.touched) {
      const own = run;
      touch.reset();
      await run.undo().catch((error) => say(error.message));
      if (own === run) { player.cut(run.now); player.play(false); charted = 0; }
      return;
    }
    const before = past.pop();
    if (!before) { say("Nothing is left to undo."); return; }
    run.close();
    source = before.source;
    setAsked(before.asked);
    resume(before.run, false);
  };

  const fileName = (more) => `${source.name.replace(/\.json$/, "")}${more}.json`;
  const saveScene = (more, scene) => save(fileName(more), typeof scene === "string" ? scene : `${JSON.stringify(scene, null, 1)}\n`, "application/json");
  const saveNow = async () => {
    if (run.recorded) return;
    try { saveScene("-now", (await sceneNow()).scene); } catch (error) { say(error.message); }
  };
  // the scene with all that hands did: carom run of it ends at the hash that is shown
  const saveRecording = async () => {
    if (run.recorded) return;
    try {
      player.play(false);
      const record = await run.ask("record");
      if (record.lost) { say("More was done than a scene can hold: save the scene from here instead."); return; }
      saveScene("-touched", withRecord(withSets(JSON.parse(source.text), sets()), run.about, record));
    } catch (error) {
      say(error.message);
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
      start(() => (recorded ? Run.recorded(carom, recorded) : new LiveRun(engine, text)));
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
    if ((e.ctrlKey || e.metaKey) && e.key === "z") { e.preventDefault(); undo(); return; }
    const action = { " ": () => playOn(), ".": () => stepOnce(), ",": () => stepOnce(true), Home: () => player.seek(0), r: () => resetView(), u: () => undo(),
      g: () => touch.holdChosen(inspect.body), p: () => pushChosen(), d: () => { if (inspect.body) inspect.duplicate(); }, Delete: () => { if (inspect.body) inspect.remove(); },
      f: () => { inspect.follow.checked = !inspect.follow.checked; player.dirty = true; }, "1": () => choose("pull"), "2": () => choose("push"), "3": () => choose("move") }[e.key];
    if (!action || (e.key === " " && e.target.tagName === "BUTTON") || e.ctrlKey || e.metaKey) return;
    e.preventDefault();
    action();
  };
  const resetView = () => { touched = false; stage?.resetCamera(); if (orbit) { orbit.target.copy(stage.centre); orbit.update(); } player.dirty = true; };
  const box = (name, label) => make("label", {}, make("input", { type: "checkbox", checked: shows[name], onchange: (e) => { shows[name] = e.target.checked; stage?.showNames(shows.names); player.dirty = true; } }), label);

  const choose = (tool) => { touch.tool.box.value = tool; };
  const pushChosen = () => { if (inspect.body && stage) touch.pushAlong(inspect.body, stage.centreOf(inspect.body, new THREE.Vector3()), stage.camera.getWorldDirection(new THREE.Vector3())); };
  // at its end a run begins again, one that was touched goes on
  const playOn = async () => {
    if (run?.touched && !player.playing && player.time >= player.end) await lengthen();
    player.play(!player.playing);
  };
  player.toggle = playOn;

  if (renderer) {
    renderer.domElement.setAttribute("role", "application");
    renderer.domElement.setAttribute("aria-label", "The bodies of the scene; drag a body to pull it, drag beside it or use arrow keys to turn the view, wheel to come closer");
    THREE.turnByKeys(renderer.domElement, () => orbit, () => { touched = true; });
    new ResizeObserver(fit).observe(view);
  }
  addEventListener("keydown", keys);
  const button = (text, id, title, act) => make("button", { type: "button", id, title, onclick: act }, text);
  place.append(
    make("div", { class: "controls" }, scenes.row, make("button", { type: "button", onclick: () => file.click() }, "Open a file"), file,
      method.row, rule.row, law.row, make("label", {}, "dt", dt)),
    make("figure", { class: "view" }, view, overlay),
    make("div", { class: "controls" }, player.button, step, make("button", { type: "button", id: "restart", onclick: () => restart() }, "Restart"), player.scrub, player.clock, player.speed.row,
      box("contacts", "contacts"), box("impulses", "impulses"), box("paths", "paths"), box("names", "names"), make("button", { type: "button", onclick: resetView }, "Reset view"),
      button("Save scene", "save-scene", "as it was opened or changed", () => saveScene("", source.text))),
    make("div", { class: "touch" },
      make("fieldset", {}, make("legend", {}, "Hand"), touch.tool.row, make("label", {}, "pushes change its speed by [m/s]", touch.strength), button("Undo", "undo", "what was done last (u, ctrl z)", undo),
        button("Save from here", "save-now", "a scene that starts at what is shown last", saveNow), button("Save recording", "save-recording", "the scene with all that was done: carom run gives the same hash", saveRecording)),
      inspect.place),
    drives.controls,
    make("p", {}, "Drag a body to pull it by a spring; let go while it moves to throw it. Drop a scene or a file of carom export anywhere. Keys: space plays, . and , step, Home begins, r resets the view, 1 2 3 choose what a pointer does, g holds the chosen body (arrows pull), p pushes it, d doubles it, Delete removes it, f follows it, u undoes."),
    facts, make("div", { class: "charts" }, ...charts.map((c) => c.place)), drives.sensors, events);
  open(values);
  return {
    open, load,
    enter: () => { player.enter(); fit(); if (run) address(); },
    leave: () => player.leave(),
    recolor: () => { stage?.recolor(); if (run) { charts.forEach((chart) => chart.make(run.begin, run.duration)); drives.remake(); } player.dirty = true; charted = 0; },
  };
};
