// collision.js - the collision being explored and the sliders that change it.
//
// W and V as given, or two bodies; bodies given as a and b become a list. W is changed by handles in the picture and
// by sliders that keep it positive.
import { make, shown } from "./dom.js";

export const collisionOf = (given) => {
  const { a, b, ...rest } = given;
  if (a || b) rest.bodies = [a ?? { fixed: true }, b ?? { fixed: true }];
  delete rest.law;
  return rest;
};

export const isFlat = (collision) => (collision.n ?? [1, 0]).length === 2;

// key, label, range, step, value where none is given, what it is
const LAW = [
  ["mu", "μ", 0, 2, 0.01, 0, "friction coefficient"],
  ["e", "e", 0, 1.2, 0.01, 0, "normal restitution"],
  ["et", "eₜ", -1, 1, 0.01, 0, "tangential restitution"],
];
const MORE = [
  ["nu", "ν", 0, 1, 0.01, 1, "pfeiffer-glocker: share of tangential restitution"],
  ["eta2", "η²", 0.1, 4, 0.01, 1.21, "compliant: normal over tangential stiffness"],
  ["sigma", "σ", 0, 1, 0.01, 0.5, "composite: weight of the first law"],
  ["psi1", "ψ₁", 0, 3.14, 0.01, 0, "spherical: angle from n"],
  ["psi2", "ψ₂", 0, 6.28, 0.01, 0, "spherical: angle about n"],
  ["rho", "ρ", 0, 1, 0.01, 0, "spherical: share of the way out of the region"],
];

const row = (label, title, min, max, step, value, change) => {
  const output = make("output", {}, shown(value));
  const input = make("input", {
    type: "range", min: Math.min(min, value), max: Math.max(max, value), step, "aria-label": title,
    // a change may go less far than it was asked to
    oninput: () => {
      const allowed = change(Number(input.value)) ?? Number(input.value);
      if (allowed !== Number(input.value)) input.value = allowed;
      output.textContent = shown(allowed);
    },
  });
  input.value = value;
  return { row: make("label", { class: "slider", title }, make("span", {}, label), input, output), input };
};

const asNumber = (x, fallback) => (typeof x === "number" ? x : fallback);

// W by its diagonal and its off-diagonal entries as shares of sqrt(W_ii W_jj), which keep it positive: a share may
// go as far as the other two let it, c_ij between c_ik c_jk -+ sqrt((1 - c_ik^2)(1 - c_jk^2)). And V.
const massRows = (collision, put) => {
  const size = collision.W.length, all = [...Array(size).keys()];
  const w = all.map((i) => collision.W[i][i]), V = [...collision.V];
  const share = all.map((i) => all.map((j) => (i === j ? 1 : collision.W[i][j] / (Math.sqrt(w[i] * w[j]) || 1))));
  const bounded = (i, j, x) => {
    const k = 3 - i - j;
    if (size < 3) return x;
    const [a, b] = [share[i][k], share[j][k]], room = Math.sqrt(Math.max(0, (1 - a * a) * (1 - b * b)));
    return Math.min(a * b + room, Math.max(a * b - room, x));
  };
  const matrix = () => put({ W: all.map((i) => all.map((j) => (i === j ? w[i] : share[i][j] * Math.sqrt(w[i] * w[j])))) });
  const digit = (i) => "₁₂₃"[i];
  const diagonal = all.map((i) => row(`W${digit(i)}${digit(i)}`, `W, entry ${i + 1} of its diagonal, 1/kg`, 0.1, 5, 0.01, w[i], (x) => { w[i] = x; matrix(); }));
  const skews = all.flatMap((i) => all.slice(i + 1).map((j) => row(`skew${size > 2 ? digit(i) + digit(j) : ""}`, `W, entry ${i + 1}, ${j + 1} as a share of its largest`, -1, 1, 0.01, share[i][j], (x) => {
    share[i][j] = share[j][i] = bounded(i, j, x);
    matrix();
    return share[i][j];
  })));
  const speeds = all.map((i) => row(`V${digit(i)}`, `relative velocity, component ${i + 1}, m/s`, -3, 3, 0.01, V[i], (x) => { V[i] = x; put({ V: [...V] }); }));
  return [...diagonal, ...skews, ...speeds].map((r) => r.row);
};

// mass, velocity and spin of the bodies; one that is fixed has no mass
const bodyRows = (collision, put) => {
  const bodies = collision.bodies.map((b) => ({ ...b }));
  const size = isFlat(collision) ? 2 : 3;
  const set = (i, key, x) => { bodies[i] = { ...bodies[i], [key]: x }; put({ bodies: [...bodies] }); };
  const entries = (i, key, label, what, most, step) => [...Array(size).keys()].map((k) => {
    const given = () => Array.from({ length: size }, (_, j) => bodies[i][key]?.[j] ?? 0);
    return row(`${label}${"₁₂₃"[k]}`, `${what} of body ${"ab"[i]}, component ${k + 1}`, -most, most, step, given()[k], (x) => set(i, key, given().map((y, j) => (j === k ? x : y)))).row;
  });
  return bodies.map((body, i) => make("details", { open: i === 1, class: "body-sliders" }, make("summary", {}, `body ${"ab"[i]}${body.fixed ? ", fixed" : ""}`),
    body.fixed ? null : row("mass", `mass of body ${"ab"[i]}, kg`, body.mass / 10, body.mass * 10, body.mass / 100, body.mass, (x) => set(i, "mass", x)).row,
    ...entries(i, "velocity", "v", "velocity, m/s,", 3, 0.01),
    ...(size === 2 ? [row("ω", `angular velocity of body ${"ab"[i]}, rad/s`, -60, 60, 0.5, asNumber(body.omega, 0), (x) => set(i, "omega", x)).row] : entries(i, "omega", "ω", "angular velocity, rad/s,", 60, 0.5))));
};

// fills the panel with sliders; change(next, quiet) is called with the new collision
export const sliders = (place, collision, change) => {
  let now = collision;
  const put = (next, quiet) => { now = { ...next }; change(now, quiet); };
  const plain = (list) => list.map(([key, label, min, max, step, fallback, title]) => {
    const value = now[key] === "inf" ? max : asNumber(now[key], fallback);
    const made = row(label, title, min, max, step, value, (x) => put({ ...now, [key]: x }, true));
    made.input.id = `slider-${key}`;
    return made.row;
  });
  const part = (next) => put({ ...now, ...next }, true);
  const geometry = collision.bodies ? bodyRows(collision, part) : collision.W ? massRows(collision, part) : [];
  const open = [...place.querySelectorAll("details")].map((d) => d.open);
  place.replaceChildren(...plain(LAW), ...geometry, make("details", {}, make("summary", {}, "parameters of single laws"), ...plain(MORE)));
  // what was open stays open
  const folds = [...place.querySelectorAll("details")];
  if (open.length === folds.length) folds.forEach((fold, i) => { fold.open = open[i]; });
};

// the same collision by W and V, from its picture in the contact frame
export const asMass = (collision, p) => {
  const size = collision.n.length, F = [p.n, p.t1, p.t2], W = [p.Wn, p.W1, p.W2];
  const all = [...Array(size).keys()];
  const { bodies, point, m, ...rest } = collision;
  const entry = (i, j) => F.reduce((sum, f, k) => sum + F.reduce((s, g, l) => s + (f[i] ?? 0) * W[k][l] * (g[j] ?? 0), 0), 0);
  return { ...rest, W: all.map((i) => all.map((j) => entry(Math.min(i, j), Math.max(i, j)))), V: all.map((i) => F.reduce((sum, f, k) => sum + (f[i] ?? 0) * p.V[k], 0)) };
};
