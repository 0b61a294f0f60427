// bodies.js - the collision itself: two bodies, contact point, normal, velocities before; a plan for flat ones.
//
// Bodies that are only W and V are drawn as the velocity of the contact point alone. The tips of velocities can
// be dragged. Spatial bodies are seen along t2.
import { make } from "./dom.js";
import { isFlat } from "./collision.js";

const SIZE = 320;
const MIDDLE = SIZE / 2;

const arrow = (from, to, props) => {
  const d = [to[0] - from[0], to[1] - from[1]];
  const size = Math.hypot(...d);
  if (size < 2) return make("circle", { cx: to[0], cy: to[1], r: 2, ...props });
  const u = d.map((x) => x / size), w = [-u[1], u[0]], head = Math.min(10, size);
  const back = [to[0] - head * u[0], to[1] - head * u[1]];
  return make("path", { d: `M${from[0]} ${from[1]}L${to[0]} ${to[1]}M${back[0] + 0.45 * head * w[0]} ${back[1] + 0.45 * head * w[1]}L${to[0]} ${to[1]}L${back[0] - 0.45 * head * w[0]} ${back[1] - 0.45 * head * w[1]}`, ...props });
};

const tip = (at, title, move) => {
  const circle = make("circle", { cx: at[0], cy: at[1], r: 8, class: "handle", tabindex: 0, role: "slider", "aria-label": title, "aria-valuetext": title }, make("title", {}, title));
  circle.addEventListener("pointerdown", (down) => {
    down.preventDefault();
    const host = circle.ownerSVGElement.parentNode;
    const go = (e) => {
      const box = host.querySelector("svg").getBoundingClientRect();
      move([((e.clientX - box.left) / box.width) * SIZE, ((e.clientY - box.top) / box.height) * SIZE]);
    };
    const end = () => { removeEventListener("pointermove", go); removeEventListener("pointerup", end); };
    addEventListener("pointermove", go);
    addEventListener("pointerup", end);
  });
  circle.addEventListener("keydown", (e) => {
    const turn = { ArrowLeft: [-4, 0], ArrowRight: [4, 0], ArrowUp: [0, -4], ArrowDown: [0, 4] }[e.key];
    if (!turn) return;
    e.preventDefault();
    move([at[0] + turn[0], at[1] + turn[1]]);
    document.querySelector(`[aria-label="${title}"]`)?.focus();
  });
  return circle;
};

// axes of the drawing: the plane of the collision, or n and t1 in space
const axesOf = (p, collision) => (isFlat(collision) ? [[1, 0, 0], [0, 1, 0]]
  : Math.abs(p.n[2]) > 0.9 ? [[1, 0, 0], [0, 0, 1]] : [[1, 0, 0], [0, 1, 0]]);
const pad = (v = []) => [v[0] ?? 0, v[1] ?? 0, v[2] ?? 0];

// a body as the circle about its centre that reaches the contact, or ground where it is fixed
const outline = (body, centre, point, project, n, side) => {
  const c = project(centre), q = project(point);
  const r = Math.hypot(c[0] - q[0], c[1] - q[1]);
  if (body.fixed || r < 4) {
    const t = [n[1], -n[0]];
    const deep = [-side * n[0] * 26, side * n[1] * 26];
    const ends = [-1, 1].map((s) => [q[0] + s * 150 * t[0], q[1] - s * 150 * t[1]]);
    return make("path", { d: `M${ends[0]}L${ends[1]}l${-deep[0]} ${-deep[1]}L${ends[0][0] - deep[0]} ${ends[0][1] - deep[1]}Z`, class: "ground" });
  }
  return make("circle", { cx: c[0], cy: c[1], r, class: side < 0 ? "body-a" : "body-b" });
};

export const drawBodies = (place, p, collision, change) => {
  const [right, up] = axesOf(p, collision);
  const along = (v, axis) => v.reduce((sum, x, i) => sum + x * axis[i], 0);
  const flat = (v) => [along(pad(v), right), along(pad(v), up)];
  const point = pad(collision.point);
  const bodies = (collision.bodies ?? []).map((b) => ({ ...b, at: pad(b.position), v: pad(b.velocity) }));
  const reach = Math.max(1e-9, ...bodies.filter((b) => !b.fixed).map((b) => Math.hypot(...flat(b.at.map((x, i) => x - point[i])))));
  const scale = bodies.length ? 78 / reach : 1;
  const project = (x) => { const d = flat(x.map((y, i) => y - point[i])); return [MIDDLE + scale * d[0], MIDDLE - scale * d[1]]; };
  const V = pad([0, 1, 2].map((i) => p.V[0] * (p.n[i] ?? 0) + p.V[1] * (p.t1[i] ?? 0) + p.V[2] * (p.t2[i] ?? 0)));
  const speed = Math.max(1e-9, Math.hypot(...V), ...bodies.map((b) => Math.hypot(...b.v)));
  // a scale that does not follow every little change
  const reachV = 2 ** Math.ceil(Math.log2(speed) - 1e-9);
  const pace = 110 / reachV;
  const ahead = (from, v) => { const d = flat(v); return [from[0] + pace * d[0], from[1] - pace * d[1]]; };
  const n2 = flat(p.n);
  const svg = make("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, role: "img", "aria-label": "The collision: bodies, contact point, normal and velocities before it" });
  bodies.forEach((b, i) => svg.append(outline(b, b.at, point, project, n2, i ? 1 : -1)));
  if (!bodies.length) svg.append(outline({ fixed: true }, point, point, project, n2, -1));
  svg.append(arrow([MIDDLE, MIDDLE], [MIDDLE + 46 * n2[0], MIDDLE - 46 * n2[1]], { class: "normal" }), make("circle", { cx: MIDDLE, cy: MIDDLE, r: 4, class: "dot" }),
    make("text", { x: MIDDLE + 58 * n2[0] + 8 * Math.abs(n2[1]), y: MIDDLE - 58 * n2[1] + 4, class: "name" }, "n"));
  bodies.forEach((b, i) => {
    if (b.fixed) return;
    const from = project(b.at), to = ahead(from, b.v);
    svg.append(arrow(from, to, { class: "velocity" }), make("text", { x: from[0] - 14, y: from[1] + 5, class: "name" }, "ab"[i]));
    svg.append(tip(to, `Velocity of ${"ab"[i]}: drag to change it`, (q) => {
      const d = [(q[0] - from[0]) / pace, (from[1] - q[1]) / pace];
      const size = (collision.n ?? []).length;
      const v = b.v.map((x, k) => x + (d[0] - along(b.v, right)) * right[k] + (d[1] - along(b.v, up)) * up[k]).slice(0, size).map((x) => Number(x.toPrecision(4)));
      change({ ...collision, bodies: collision.bodies.map((old, k) => (k === i ? { ...old, velocity: v } : old)) });
    }));
  });
  if (!bodies.length) {
    const from = [MIDDLE, MIDDLE];
    const to = ahead(from, V);
    svg.append(arrow(from, to, { class: "velocity" }));
    if (isFlat(collision)) svg.append(tip(to, "V: drag to change it", (q) => change({ ...collision, V: [(q[0] - from[0]) / pace, (from[1] - q[1]) / pace].map((x) => Number(x.toPrecision(4))) })));
  }
  place.replaceChildren(svg, make("figcaption", {}, bodies.length ? "velocities before the collision" : "velocity of b's contact point relative to a's"));
};
