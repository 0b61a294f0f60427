// report.js - the moving part of a report: the page's player and charts over the data that the command wrote.
//
// Poses are differences of whole numbers from frame to frame (plot/page_data.c). `#t=0.2` opens at that time.
import { make } from "./dom.js";
import { Chart } from "./charts.js";
import { Panels } from "./panels.js";
import { Player } from "./player.js";
import { Playback } from "./run.js";

const FEW = 40;     // moving bodies with paths from the start
const BODIES = 12;  // in a chart; more would be a carpet
const inkOf = (i) => `ink-${6 + (i % 8)}`;
const dashOf = (i) => [undefined, [6, 4], [2, 3]][Math.floor(i / 8) % 3];
const byId = (id) => document.getElementById(id);

const playbackOf = (given, { quantum, turn }) => {
  const run = new Playback({ bodies: given.bodies, planes: given.planes, ties: given.ties, gravity: given.gravity });
  const { moving, rest, frames } = given;
  const width = 7 * moving.length;
  const sum = new Float64Array(width);
  given.time.forEach((time, k) => {
    const poses = Float64Array.from(rest.flat());
    for (let i = 0; i < width; i++) {
      sum[i] += frames[k * width + i];
      poses[7 * moving[Math.floor(i / 7)] + (i % 7)] = sum[i] * (i % 7 < 3 ? quantum : turn);
    }
    run.history.add({ time, poses, forces: new Float32Array(0) });
  });
  return run;
};

// columns of all runs in one chart; with one run the columns have names of their own
const overTime = (data, title, y, columns, log) => {
  const runs = data.runs.filter((r) => r.time.length);
  if (!columns.every(([, of]) => runs.every((r) => of(r)))) return [];
  const series = runs.flatMap((r, i) => columns.map(([name], k) => ({ label: runs.length > 1 ? r.label : name, ink: inkOf(runs.length > 1 ? i : k), dash: dashOf(i) })));
  return [{ chart: new Chart({ title, y, series, log, seek: (t) => seek(t) }), tables: runs.map((r) => [r.time, ...columns.map(([, of]) => of(r))]) }];
};

const eventCharts = (data) => {
  const runs = data.runs;
  if (!runs.every((r) => r.events)) return [];
  return [["Approach speed of each event", "speed [m/s]", 1], ["Impulse of each event", "impulse [N s]", 2]].map(([title, y, k]) => ({
    chart: new Chart({ title, y, series: runs.map((r, i) => ({ label: runs.length > 1 ? r.label : y, ink: inkOf(i), dots: true })), seek: (t) => seek(t) }),
    tables: runs.map((r) => [r.events.map((e) => e[0]), r.events.map((e) => e[k])]),
  }));
};

// coordinates of centres of mass that change, of one run
const positionCharts = (data, runs) => {
  if (runs.length > 1) return [];
  const [{ history, about }] = runs;
  const { moving } = data.runs[0];
  const bodies = moving.slice(0, BODIES);
  const part = bodies.length < moving.length ? ` (${bodies.length} of ${moving.length} bodies)` : "";
  return ["x", "y", "z"].flatMap((name, axis) => {
    const rows = bodies.map((i) => history.records.map((r) => r.poses[7 * i + axis]));
    const spans = rows.map((r) => Math.max(...r) - Math.min(...r));
    if (Math.max(0, ...spans) < 1e-3 * Math.max(1e-12, ...data.runs[0].frames.map((d) => Math.abs(d) * data.quantum))) return [];
    return [{ chart: new Chart({ title: `Position, ${name}${part}`, y: `${name} [m]`, series: bodies.map((i, k) => ({ label: about.bodies[i].name, ink: inkOf(k), dash: dashOf(k) })), seek: (t) => seek(t) }), tables: [[history.records.map((r) => r.time), ...rows]] }];
  });
};

const total = (r) => r.kinetic?.map((k, i) => k + r.potential[i]);
const chartsOf = (data, runs) => [
  ...(runs.length > 1 ? overTime(data, "Total energy", "energy [J]", [["total", total]]) : overTime(data, "Energy", "energy [J]", [["kinetic", (r) => r.kinetic], ["potential", (r) => r.potential], ["total", total]])),
  ...positionCharts(data, runs), ...eventCharts(data),
  ...overTime(data, "Residual of the contact solves", "residual", [["residual", (r) => r.residual]], true),
  ...overTime(data, "Deepest overlap", "overlap [m]", [["overlap", (r) => r.penetration]], true),
  ...overTime(data, "Contacts", "contacts", [["contacts", (r) => r.contacts]]),
];

let seek = () => {};

const start = () => {
  const data = JSON.parse(byId("data").textContent);
  const runs = data.runs.map((r) => playbackOf(r, data));
  const begin = Math.min(...runs.map((r) => r.begin)), end = Math.max(...runs.map((r) => r.duration));
  const shows = { paths: data.runs.every((r) => r.moving.length <= FEW), names: false };
  const panels = new Panels({ shadows: runs.length === 1, aspect: runs.length === 1 ? 1.8 : 1.5, changed: () => { player.dirty = true; } });
  panels.open(runs.map((run, i) => ({ label: data.runs[i].label, run })));
  const player = new Player({
    reach: () => Infinity,
    show: (time) => panels.draw(time, (stage, run) => stage.showPaths(shows.paths ? run.history.records : null, time)),
  });
  seek = (time) => player.seek(time);
  const box = (name) => make("label", {}, make("input", { type: "checkbox", id: name, checked: shows[name], onchange: (e) => {
    shows[name] = e.target.checked;
    if (name === "names") panels.drawn.forEach((c) => c.stage.showNames(shows.names));
    player.dirty = true;
  } }), name);
  const button = (text, label, act) => make("button", { type: "button", "aria-label": label, onclick: act }, text);
  byId("stages").append(
    make("div", { class: runs.length > 1 ? "stages" : "stages one" }, ...panels.cells.map(({ canvas }, i) => make("figure", {}, runs.length > 1 ? make("figcaption", {}, data.runs[i].label) : null, canvas))),
    make("div", { class: "controls" }, player.button, player.scrub, player.clock, player.speed.row, box("paths"), box("names"),
      button("+", "Closer", () => panels.closer(0.8)), button("−", "Farther", () => panels.closer(1.25)), button("Reset view", "Reset view", () => panels.reset())),
    make("p", {}, "Drag to turn the view; ctrl and the wheel, or + and −, to come closer."), panels.shop);
  const charts = chartsOf(data, runs);
  byId("charts").append(...charts.map((c) => c.chart.place));
  const fill = () => charts.forEach(({ chart, tables }) => { chart.make(begin, end); chart.show(tables.length > 1 ? tables : tables[0]); });
  fill();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { panels.recolor(); fill(); player.dirty = true; });
  addEventListener("resize", () => { player.dirty = true; });

  player.start(begin, end);
  const asked = /[#&]t=([-+.\deE]+)/.exec(location.hash);
  if (asked) player.seek(Number(asked[1]) || 0);
  else player.play(end > begin && !matchMedia("(prefers-reduced-motion: reduce)").matches);
  player.enter();
  document.body.dataset.ready = "true";
};

start();
