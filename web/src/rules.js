// rules.js - simultaneous impacts: the same collision by every rule, side by side.
//
// Above, a scene runs by each rule in step; below, the instant of the impact itself
// as `carom resolve` answers it: velocities after, energy, ties, and the whole outcome set of the feasible rule.
import examples from "examples";
import { make, say, select, shown } from "./dom.js";
import { writeAddress } from "./address.js";
import { Panels } from "./panels.js";
import { Player } from "./player.js";
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
  let rows = [], name = null;
  const grid = make("div", { class: "panels" });
  const tables = make("div");
  const comment = make("p", { class: "comment" });
  const cases = select("Collision", Object.entries(CASES).map(([value, [text]]) => ({ value, text })), "newtons-cradle-5", (v) => open({ name: v }));
  cases.box.id = "case";
  const panels = new Panels({ changed: () => { player.dirty = true; } });

  const makeRow = (rule, text) => {
    const row = { rule, run: null, failed: false, note: make("p", { title: rule.guarantee }) };
    try {
      row.run = new Run(carom, text, { "impact.rule": rule.name });
    } catch (error) {
      refuse(row, error, "refused");
    }
    return row;
  };
  const refuse = (row, error, look) => {
    row.failed = true;
    row.note.textContent = error.message;
    row.note.className = look;
  };

  const tell = ({ run, failed, note }, time) => {
    if (failed) return;
    const t = run.history.totals;
    const record = run.history.at(time), first = run.history.records[0];
    const change = record.kinetic + record.potential - first.kinetic - first.potential;
    note.textContent = `${t.events} event${t.events === 1 ? "" : "s"}, energy ${change >= 0 ? "+" : "−"}${shown(Math.abs(change))} J${t.unsolved ? `, ${t.unsolved} step${t.unsolved === 1 ? "" : "s"} not solved` : ""}`;
    note.className = t.created > 1e-9 || t.unsolved ? "bad" : "";
  };

  // every rule gets its share of the time; the slowest says how far all are
  const reach = (goal) => {
    let reached = Infinity;
    for (const row of rows.filter((r) => !r.failed && !r.run.over && r.run.now < goal)) {
      try {
        row.run.advance(goal, BUDGET / rows.length);
      } catch (error) {
        refuse(row, error, "bad");
      }
      if (!row.failed && !row.run.over) reached = Math.min(reached, row.run.now);
    }
    return reached;
  };
  const show = (time) => {
    panels.draw(time);
    rows.forEach((row) => tell(row, time));
  };
  const player = new Player({ reach, show, prefix: "rules-" });

  const open = ({ name: given }) => {
    name = CASES[given] ? given : "newtons-cradle-5";
    if (given && !CASES[given]) say(`No collision is called ${given}.`);
    cases.box.value = name;
    rows.forEach((row) => row.run?.close());
    const text = sceneText(name);
    rows = carom.catalogue.rules.map((rule) => makeRow(rule, text));
    panels.open(rows.map(({ rule, run }) => ({ label: `by the rule ${rule.name}`, run })));
    grid.replaceChildren(...rows.map(({ rule, note }, i) => make("figure", {}, make("figcaption", { title: rule.title }, rule.name), panels.cells[i].canvas, note)));
    comment.textContent = JSON.parse(text).comment ?? "";
    player.start(0, rows.find((r) => r.run)?.run.duration ?? 1);
    const answer = carom.resolve(JSON.stringify({ ...JSON.parse(examples.resolve[CASES[name][1]]), rule: "all" }));
    tables.replaceChildren(make("h2", {}, `The impact itself: ${CASES[name][1]}`), make("p", {}, JSON.parse(examples.resolve[CASES[name][1]]).comment ?? ""),
      resolveTable(answer, carom.catalogue), ...outcomeTable(answer));
    writeAddress("rules", { name });
    player.play(!matchMedia("(prefers-reduced-motion: reduce)").matches);
  };

  place.append(make("div", { class: "controls" }, cases.row, player.button, player.scrub, player.clock, player.speed.row,
    make("button", { type: "button", onclick: () => panels.reset() }, "Reset view")), comment, grid, tables, panels.shop);
  open(values);
  return {
    open,
    enter: () => { player.enter(); writeAddress("rules", { name }); },
    leave: () => player.leave(),
    recolor: () => { panels.recolor(); player.dirty = true; },
  };
};
