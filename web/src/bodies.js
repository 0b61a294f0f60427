// bodies.js - the collision itself: two bodies as their inertia has them, contact point, normal, velocities before
// and after.
//
// Bodies that are only W and V are drawn as the velocity of the contact point alone. The tips of velocities before
// can be moved. What happens in space is seen from a little aside and above.
import { make, shown, shownVector, select } from "./dom.js";
import { handle } from "./handle.js";
import { isFlat } from "./collision.js";
import { flatOutline, spaceOutline } from "./outline.js";

const SIZE = 320;
const MIDDLE = SIZE / 2;
const BODIES = 236;  // of the drawing, for both bodies
const SPEED = 90;   // likewise, for the fastest velocity

const arrow = (from, to, props) => {
  const d = [to[0] - from[0], to[1] - from[1]];
  const size = Math.hypot(...d);
  if (size < 2) return make("circle", { cx: to[0], cy: to[1], r: 2, ...props });
  const u = d.map((x) => x / size), w = [-u[1], u[0]], head = Math.min(10, size);
  const back = [to[0] - head * u[0], to[1] - head * u[1]];
  return make("g", props, make("path", { d: `M${from}L${to}` }),
    make("path", { class: "head", d: `M${back[0] + 0.45 * head * w[0]} ${back[1] + 0.45 * head * w[1]}L${to}L${back[0] - 0.45 * head * w[0]} ${back[1] - 0.45 * head * w[1]}` }));
};

const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
const minus = (a, b) => a.map((x, i) => x - b[i]);
const pad = (v = []) => [v[0] ?? 0, v[1] ?? 0, v[2] ?? 0];
const unit = (v) => v.map((x) => x / Math.hypot(...v));

// right and up of the drawing
const axesOf = (collision) => {
  if (isFlat(collision)) return [[1, 0, 0], [0, 1, 0]];
  // a normal that lies flat is seen from above
  if (Math.abs(collision.n[2]) < 0.5) return [[1, 0, 0], unit([0, 0.92, 0.39])];
  const right = unit([0.94, 0.34, 0]);
  return [right, unit([-0.25 * right[1], 0.25 * right[0], 0.97])];
};

// outline of the points' hull, counterclockwise
const hull = (points) => {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (list) => list.reduce((h, p) => {
    while (h.length > 1 && (h.at(-1)[0] - h.at(-2)[0]) * (p[1] - h.at(-2)[1]) <= (h.at(-1)[1] - h.at(-2)[1]) * (p[0] - h.at(-2)[0])) h.pop();
    return [...h, p];
  }, []).slice(0, -1);
  return [...half(sorted), ...half(sorted.reverse())];
};

const EDGES = Array.from({ length: 8 }, (_, k) => [1, 2, 4].filter((bit) => !(k & bit)).map((bit) => [k, k | bit])).flat();

// what is drawn for a body; to(x) projects, scale is of lengths
const drawOutline = (look, body, point, n, side, { to, scale }) => {
  const c = to(body.at), q = to(point), style = side < 0 ? "body-a" : "body-b";
  const ball = (r) => make("circle", { cx: c[0], cy: c[1], r: Math.max(3, scale * r), class: style });
  const angle = (Math.atan2(q[1] - c[1], q[0] - c[0]) * 180) / Math.PI;
  const about = { transform: `rotate(${angle} ${c[0]} ${c[1]})`, class: style };
  if (look.kind === "ground") {
    const t = [n[1], n[0]], deep = [side * n[0] * 26, -side * n[1] * 26];
    const [a, b] = [-1, 1].map((s) => [q[0] + s * 150 * t[0], q[1] + s * 150 * t[1]]);
    return [make("path", { d: `M${a}L${b}l${deep}L${a[0] + deep[0]} ${a[1] + deep[1]}Z`, class: "ground" })];
  }
  if (look.kind === "ball") return [ball(look.r)];
  if (look.kind === "stick") return [make("path", { d: `M${c}L${q}`, class: `${style} stick` }), ball(look.r)];
  if (look.kind === "ellipse") return [make("ellipse", { cx: c[0], cy: c[1], rx: scale * look.a, ry: scale * look.b, ...about })];
  if (look.kind === "rod") {
    const long = Math.hypot(q[0] - c[0], q[1] - c[1]);
    return [make("rect", { x: c[0] - long, y: c[1] - 4, width: 2 * long, height: 8, rx: 3, ...about })];
  }
  const corners = look.corners.map((x) => to(x.map((y, i) => y + body.at[i])));
  return [make("path", { d: `M${hull(corners).join("L")}Z`, class: style }), make("path", { d: EDGES.map(([i, j]) => `M${corners[i]}L${corners[j]}`).join(""), class: `${style} edges` })];
};

// corners of what is seen of a body, relative to its centre
const extent = (look, arm, flat) => {
  if (look.kind === "ground") return [flat(arm)];
  if (look.corners) return [...look.corners, arm].map(flat);
  const r = Math.max(look.r ?? 0, look.b ?? 0, look.kind === "stick" ? 0 : Math.hypot(...arm));
  return [[-r, -r], [r, r], flat(arm)];
};

// scale and middle by which the bodies fill the drawing, in the plane of right and up
const frameOf = (bodies, point, flat) => {
  const all = bodies.flatMap((b) => { const c = flat(minus(b.at, point)); return extent(b.look, minus(point, b.at), flat).map((q) => [q[0] + c[0], q[1] + c[1]]); });
  const ranges = [0, 1].map((k) => [Math.min(0, ...all.map((q) => q[k])), Math.max(0, ...all.map((q) => q[k]))]);
  const span = Math.max(...ranges.map(([lo, hi]) => hi - lo));
  return { scale: span > 0 ? BODIES / span : 1, middle: ranges.map(([lo, hi]) => (lo + hi) / 2) };
};

const rounded = (x) => Number(x.toPrecision(4));

// tips of velocities before, of bodies or of the contact point
const tips = (collision, bodies, V, { right, up, ahead, pace, centre }, { change, hold }) => {
  const moved = (v, from, q) => {
    const d = [(q[0] - from[0]) / pace, (from[1] - q[1]) / pace];
    const next = v.map((x, k) => x + (d[0] - dot(v, right)) * right[k] + (d[1] - dot(v, up)) * up[k]);
    return next.slice(0, (collision.n ?? [0, 0]).length).map(rounded);
  };
  if (!bodies.length) return [handle(ahead(centre, V), "V: move it to change it", shownVector(V), { move: (q) => change({ ...collision, V: moved(V, centre, q) }), hold })];
  return bodies.flatMap((b, i) => (b.fixed ? [] : [handle(ahead(b.from, b.v), `Velocity of ${"ab"[i]}: move it to change it`, shownVector(b.v), {
    move: (q) => {
      const velocity = moved(b.v, b.from, q);
      change({ ...collision, bodies: collision.bodies.map((old, k) => (k === i ? { ...old, velocity } : old)) });
    },
    hold,
  })]));
};

const spins = (bodies, after) => bodies.flatMap((b, i) => {
  if (b.fixed) return [];
  const text = (w) => (Array.isArray(w) ? shownVector(w) : shown(w ?? 0));
  return [`ω of ${"ab"[i]}: ${text(b.omega)}${after?.bodies ? ` → ${text(after.bodies[i].omega)}` : ""} rad/s`];
});

// after: the answer of one law, by which velocities after are drawn
const draw = (p, collision, after, looks) => {
  const [right, up] = axesOf(collision);
  const flat = (v) => [dot(pad(v), right), dot(pad(v), up)];
  const point = pad(collision.point);
  const look = isFlat(collision) ? flatOutline : spaceOutline;
  const bodies = (collision.bodies ?? []).map((b) => ({ ...b, at: pad(b.position), v: pad(b.velocity) }));
  bodies.forEach((b) => { b.look = look(b, minus(point, b.at)); });
  const { scale, middle } = frameOf(bodies, point, flat);
  const to = (x) => { const d = flat(minus(x, point)); return [MIDDLE + scale * (d[0] - middle[0]), MIDDLE - scale * (d[1] - middle[1])]; };
  const centre = to(point);
  bodies.forEach((b) => { b.from = to(b.at); });
  const V = [0, 1, 2].map((i) => p.V[0] * (p.n[i] ?? 0) + p.V[1] * (p.t1[i] ?? 0) + p.V[2] * (p.t2[i] ?? 0));
  const speed = Math.max(1e-9, ...(bodies.length ? bodies.map((b) => Math.hypot(...b.v)) : [Math.hypot(...V)]));
  // a scale that does not follow every little change
  const pace = looks.held.pace ??= SPEED / 2 ** Math.ceil(Math.log2(speed) - 1e-9);
  const ahead = (from, v) => { const d = flat(v); return [from[0] + pace * d[0], from[1] - pace * d[1]]; };
  const n = flat(p.n);
  const svg = make("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, role: "group", "aria-label": "The collision: bodies, contact point, normal, velocities before and after" });
  bodies.forEach((b, i) => svg.append(...drawOutline(b.look, b, point, n, i ? 1 : -1, { to, scale })));
  if (!bodies.length) svg.append(...drawOutline({ kind: "ground" }, { at: point }, point, n, -1, { to, scale }));
  svg.append(arrow(centre, [centre[0] + 46 * n[0], centre[1] - 46 * n[1]], { class: "normal" }), make("circle", { cx: centre[0], cy: centre[1], r: 4, class: "dot" }),
    make("text", { x: centre[0] + 58 * n[0] + 8 * Math.abs(n[1]), y: centre[1] - 58 * n[1] + 4, class: "name" }, "n"));
  const arrows = bodies.length ? bodies.map((b, i) => (b.fixed ? null : [b.from, b.v, after?.bodies?.[i].velocity])) : [[centre, V, after?.V_plus]];
  arrows.forEach((row, i) => {
    if (!row) return;
    const [from, before, then] = row;
    svg.append(arrow(from, ahead(from, before), { class: "velocity" }));
    if (then) svg.append(arrow(from, ahead(from, then), { class: "velocity after" }));
    if (bodies.length) svg.append(make("text", { x: from[0] - 16, y: from[1] + 5, class: "name" }, "ab"[i]));
  });
  svg.append(...tips(collision, bodies, V, { right, up, ahead, pace, centre }, looks));
  return { svg, bodies };
};

// law: whose velocities after are drawn; choose(law) changes it
export const drawBodies = (place, { picture, impact }, collision, { law, choose, ...looks }) => {
  const answered = impact.results.filter((r) => !r.error);
  const after = answered.find((r) => r.law === law) ?? answered[0];
  const { svg, bodies } = draw(picture, collision, after, looks);
  const laws = select("after, by", answered.map((r) => r.law), after?.law, choose);
  laws.box.id = "after";
  place.replaceChildren(svg, make("figcaption", {}, make("span", { class: "key before-key" }, bodies.length ? "velocity before" : "velocity of b's contact point before"),
    make("span", { class: "key after-key" }, laws.row), ...spins(bodies, after).map((text) => make("span", {}, text))));
};
