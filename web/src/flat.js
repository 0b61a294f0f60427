// flat.js - impulse space in two dimensions, or its section through n and P_II, as SVG.
//
// Up is the normal impulse, right the tangential one. The ellipse is where energy does not change,
// P.V + P.W P/2 = 0; friction lines are |P_t| = mu P_n; the horizontal family is n.V+ = const. Handles: P_II
// (the middle of the ellipse) moves V, the end of an axis turns and stretches W in two dimensions.
import { make, shown, shownVector } from "./dom.js";
import { handle } from "./handle.js";
import { isFlat } from "./collision.js";
import { lawColor } from "./laws.js";

const SIZE = 560;
const EDGE = 26;
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const add = (a, b, s = 1) => a.map((x, i) => x + s * b[i]);

// the picture in the plane of n and d: 2-vectors (tangential, normal). The tangent t points to the same side as it
// did before, so that the picture does not turn over while it is changed.
const planeOf = (p, looks) => {
  const n = [1, 0, 0];
  const world = (P) => [0, 1, 2].map((i) => P[0] * (p.n[i] ?? 0) + P[1] * (p.t1[i] ?? 0) + P[2] * (p.t2[i] ?? 0));
  const turn = looks.side && dot(world(p.d), looks.side) < 0 ? -1 : 1;
  const d = p.d.map((x) => turn * x), t = world(d);
  looks.face(t);
  const flat = (P) => [dot(P, d), P[0]];
  const W = (P) => [0, 1, 2].map((i) => P[0] * p.Wn[i] + P[1] * p.W1[i] + P[2] * p.W2[i]);
  const Wn = W(n), Wd = W(d);
  return { flat, t, n: world(n), W: [[dot(Wd, d), Wd[0]], [dot(Wn, d), Wn[0]]], V: flat(p.V), v: p.V };
};

// points of the curve without energy change, from the origin in every direction
const ellipse = ({ W, V }) => {
  const points = [];
  for (let i = 0; i <= 240; i++) {
    const a = (i / 240) * Math.PI;
    const u = [Math.cos(a), Math.sin(a)];
    const wu = W[0][0] * u[0] * u[0] + 2 * W[0][1] * u[0] * u[1] + W[1][1] * u[1] * u[1];
    const s = wu > 1e-9 * (W[0][0] + W[1][1]) ? (-2 * (V[0] * u[0] + V[1] * u[1])) / wu : NaN;
    if (Number.isFinite(s)) points.push([s * u[0], s * u[1]]);
  }
  return points;
};

const boundsOf = (p, plane, round, hidden) => {
  const all = [[0, 0], ...p.section.map(plane.flat)];
  for (const name of ["P_I", "P_II"]) if (p[name]) all.push(plane.flat(p[name]), plane.flat(p[name]).map((x) => 2 * x));
  const reach = Math.max(...all.flat().map(Math.abs), 1e-9);
  for (const law of p.laws) if (law.P && !hidden.has(law.law)) all.push(plane.flat(law.P));
  all.push(...round.filter((q) => Math.hypot(...q) < 1.6 * reach));
  const lo = [0, 1].map((k) => Math.max(-4 * reach, Math.min(...all.map((q) => q[k]))));
  const hi = [0, 1].map((k) => Math.min(4 * reach, Math.max(...all.map((q) => q[k]))));
  const span = 1.08 * Math.max(hi[0] - lo[0], hi[1] - lo[1], 1e-9);
  const middle = [0, 1].map((k) => (lo[k] + hi[k]) / 2);
  return { middle, span };
};

const projector = ({ middle, span }) => {
  const scale = (SIZE - 2 * EDGE) / span;
  const to = ([x, y]) => [SIZE / 2 + scale * (x - middle[0]), SIZE / 2 - scale * (y - middle[1])];
  const from = ([x, y]) => [(x - SIZE / 2) / scale + middle[0], (SIZE / 2 - y) / scale + middle[1]];
  return { to, from, scale };
};

const pathOf = (points, to, close = false) => points.map((q, i) => `${i ? "L" : "M"}${to(q).map((x) => x.toFixed(2)).join(" ")}`).join("") + (close ? "Z" : "");

// a line a.P = b across the whole picture
const line = (a, b, view, props) => {
  const size = Math.hypot(...a) || 1;
  const foot = a.map((x) => (x * b) / (size * size));
  const along = [-a[1] / size, a[0] / size];
  const ends = [-1, 1].map((s) => add(foot, along, s * 10 * view.span));
  return make("path", { d: pathOf(ends, view.to), ...props });
};

const label = (at, text, props = {}, ...parts) => make("text", { x: at[0].toFixed(1), y: at[1].toFixed(1), ...props }, text, ...parts);
// "2P_I" with its index lowered
const subscripted = (name, i) => {
  const [base, index] = name.split("_");
  const before = i > 0 ? " = " : "";
  return index ? [before + base, make("tspan", { dy: 4, class: "index" }, index), make("tspan", { dy: -4 }, "\u200b")] : [before + base];
};

// points that have names; those that fall together get one label
const namedPoints = (p, plane, to) => {
  const points = [["O", [0, 0]]];
  if (p.P_I) points.push(["P_I", plane.flat(p.P_I)], ["2P_I", plane.flat(p.P_I).map((x) => 2 * x)]);
  if (p.P_II) points.push(["P_II", plane.flat(p.P_II)]);
  const groups = [];
  for (const [name, q] of points) {
    const at = to(q);
    const near = groups.find((g) => Math.hypot(g.at[0] - at[0], g.at[1] - at[1]) < 12);
    if (near) near.names.push(name); else groups.push({ at, names: [name] });
  }
  return groups.flatMap(({ at, names }) => [make("circle", { cx: at[0], cy: at[1], r: 3, class: "dot" }),
    label([at[0] - 7, at[1] + 4], "", { class: "name", "text-anchor": "end" }, ...names.flatMap(subscripted))]);
};

const lawMarks = (p, plane, view, { hidden, light }) => p.laws.filter((law) => !hidden.has(law.law)).map((law, i) => {
  const color = lawColor(law.law);
  const group = make("g", { "data-law": law.law, class: "law", onpointerenter: () => light(law.law), onpointerleave: () => light(null) });
  // the curve is broken where the law jumps
  let run = [];
  const flush = () => { if (run.length > 1) group.append(make("path", { d: pathOf(run, view.to), class: "curve", style: `stroke:${color}` })); run = []; };
  law.curve.forEach((P, k) => {
    const q = plane.flat(P);
    const before = run[run.length - 1];
    if (before && Math.hypot(q[0] - before[0], q[1] - before[1]) > 0.08 * view.span) flush();
    run.push(q);
    if (k === law.curve.length - 1) flush();
  });
  if (law.P && law.regime !== "no-solution") {
    const [x, y] = view.to(plane.flat(law.P));
    const r = 8 - 0.35 * i;
    group.append(make("circle", { cx: x, cy: y, r: law.permissible ? r : r + 1, fill: law.permissible ? color : "none", stroke: law.permissible ? "var(--paper)" : color, "stroke-width": law.permissible ? 1 : 2.5 }));
    if (!law.permissible) group.append(make("path", { d: `M${x - r} ${y - r}L${x + r} ${y + r}M${x - r} ${y + r}L${x + r} ${y - r}`, style: `stroke:${color};stroke-width:2` }));
  }
  group.append(make("title", {}, `${law.law}${law.permissible === false ? ": outside the region" : ""}`));
  return group;
});

// V and W from P_II and the axes of the ellipse, in the user's coordinates
const handles = (p, plane, view, collision, { change, hold }) => {
  if (!collision.W || !p.P_II) return [];
  const size = collision.n.length;
  const world = (q) => [...Array(size).keys()].map((i) => q[1] * plane.n[i] + q[0] * plane.t[i]);
  const drag = (at, title, value, move) => handle(at, title, value, { move: (q) => move(view.from(q)), hold });
  const centre = plane.flat(p.P_II);
  const times = (W, q) => [W[0][0] * q[0] + W[0][1] * q[1], W[1][0] * q[0] + W[1][1] * q[1]];
  const [[a, b], [, c]] = plane.W;
  const mean = (a + c) / 2, off = Math.hypot((a - c) / 2, b);
  const [low, high] = [Math.max(mean - off, 1e-9), mean + off];
  const angle = 0.5 * Math.atan2(2 * b, a - c) + Math.PI / 2;
  const Ec2 = centre[0] * times(plane.W, centre)[0] + centre[1] * times(plane.W, centre)[1];
  const long = Math.sqrt(Ec2 / low), short = Math.sqrt(Ec2 / high);
  const moveV = (q) => {
    const P = world(q);
    change({ ...collision, V: collision.W.map((row) => -row.reduce((sum, x, i) => sum + x * P[i], 0)) });
  };
  const middle = drag(view.to(centre), "Middle of the ellipse: move it to change V", `V ${shownVector(collision.V)}`, moveV);
  if (!isFlat(collision)) return [middle];
  const moveW = (q) => {
    const d = add(q, centre, -1);
    const r = Math.hypot(...d);
    if (r < 0.05 * short) return;
    const u = d.map((x) => x / r);
    const small = high * (short / r) ** 2;
    // u keeps the small eigenvalue, its perpendicular the large one
    const W = [[small * u[0] * u[0] + high * u[1] * u[1], (small - high) * u[0] * u[1]], [0, small * u[1] * u[1] + high * u[0] * u[0]]];
    W[1][0] = W[0][1];
    const axes = [world([1, 0]), world([0, 1])];
    const back = [0, 1].map((i) => [0, 1].map((j) => [0, 1].reduce((sum, k) => sum + [0, 1].reduce((s, l) => s + axes[k][i] * W[k][l] * axes[l][j], 0), 0)));
    const V = world(times(W, centre)).map((x) => -x);
    change({ ...collision, W: back, V });
  };
  const end = add(centre, [Math.cos(angle), Math.sin(angle)], long);
  const other = add(centre, [Math.cos(angle), Math.sin(angle)], -long);
  // the end that is on the sheet
  const at = [end, other].map(view.to).map((q, i) => [q, i]).find(([q]) => q.every((x) => x > 4 && x < SIZE - 4));
  if (!at || !Number.isFinite(long)) return [middle];
  return [middle, drag(at[0], "Axis of the ellipse: move it to change W", `W ${collision.W.map((r) => shownVector(r)).join(", ")}`, (q) => moveW(at[1] ? add(centre, add(centre, q, -1)) : q))];
};

// The compliant law's set over all stiffness ratios and e as one path of cells, each turned the same way: what lies
// under several cells is filled once.
const reachPath = (rows, plane, view) => {
  const cells = [];
  for (let i = 0; i + 1 < rows.length; i++) {
    for (let k = 0; k + 1 < rows[i].length; k++) {
      const corners = [rows[i][k], rows[i + 1][k], rows[i + 1][k + 1], rows[i][k + 1]];
      if (corners.includes(null)) continue;
      const q = corners.map(plane.flat);
      const area = q.reduce((sum, a, j) => sum + a[0] * q[(j + 1) % 4][1] - a[1] * q[(j + 1) % 4][0], 0);
      cells.push(pathOf(area < 0 ? q.reverse() : q, view.to, true));
    }
  }
  return cells.join("");
};

export const drawFlat = (place, p, collision, looks) => {
  const plane = planeOf(p, looks);
  const round = ellipse(plane);
  const frame = looks.held.flat ??= boundsOf(p, plane, round, looks.hidden);
  const view = { ...projector(frame), span: frame.span };
  const svg = make("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, role: "img", "aria-label": "Impulse space: the permissible region and where each law puts its impulse; the table below holds the numbers" });
  const vn = plane.v[0];
  const closing = [plane.W[1][0], plane.W[1][1]];
  svg.append(line([1, 0], 0, view, { class: "axis" }), line([0, 1], 0, view, { class: "axis" }));
  if (p.section.length) svg.append(make("path", { d: pathOf(p.section.map(plane.flat), view.to, true), class: "region" }));
  if (p.area.length) svg.append(make("path", { d: pathOf(p.area.map(plane.flat), view.to, true), class: "area" }, make("title", {}, "all that Chatterjee and Ruina's law can say")));
  if (p.reach.length && !looks.hidden.has("compliant")) svg.append(make("path", { d: reachPath(p.reach, plane, view), class: "reach", style: `fill:${lawColor("compliant")};stroke:${lawColor("compliant")}` }, make("title", {}, "all that the compliant law can say: every stiffness ratio η², e from 0 to 1")));
  svg.append(make("path", { d: pathOf(round, view.to), class: "ellipse" }));
  if (typeof p.mu === "number") {
    svg.append(line([1, -p.mu], 0, view, { class: "friction" }), line([1, p.mu], 0, view, { class: "friction" }));
  }
  svg.append(line(closing, -vn, view, { class: "compression" }), line(closing, -(1 + p.e) * vn, view, { class: "restitution" }));
  if (p.path.length) svg.append(make("path", { d: pathOf(p.path.map(plane.flat), view.to), class: "path" }, make("title", {}, "Routh's path")));
  svg.append(...lawMarks(p, plane, view, looks), ...namedPoints(p, plane, view.to), ...handles(p, plane, view, collision, looks));
  svg.append(label([8, 18], "Pₙ ↑", { class: "name" }), label([SIZE - 8, SIZE - 8], "Pₜ → [N s]", { class: "name", "text-anchor": "end" }));
  const key = make("figcaption", {}, make("span", { class: "key region-key" }, "permissible"), make("span", { class: "key friction-key" }, "friction"),
    make("span", { class: "key ellipse-key" }, "no energy change"), make("span", { class: "key compression-key" }, "n·V⁺ = 0"),
    p.reach.length && !looks.hidden.has("compliant") ? make("span", { class: "key reach-key" }, "compliant: all η², e") : null,
    make("span", { class: "key restitution-key" }, `n·V⁺ = −e n·V, e = ${shown(p.e)}`),
    p.separating ? make("span", { class: "bad" }, "separating: no impulse") : null);
  place.replaceChildren(svg, key);
};
