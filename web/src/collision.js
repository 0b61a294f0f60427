// collision.js - the collision being explored and the sliders that change it.
//
// W and V as given, or two bodies; bodies given as a and b become a list. In two dimensions W is shown by its
// ellipse (handles in the picture) and by sliders that keep it positive definite.
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
    oninput: () => { output.textContent = shown(Number(input.value)); change(Number(input.value)); },
  });
  input.value = value;
  return { row: make("label", { class: "slider", title }, make("span", {}, label), input, output), input };
};

const asNumber = (x, fallback) => (typeof x === "number" ? x : fallback);

// W and V of a flat collision; the off-diagonal as a share of what is possible
const massRows = (collision, change) => {
  const { W, V } = collision;
  const most = 5;
  const put = (next) => change({ ...collision, ...next }, true);
  let [wnn, wtt] = [W[0][0], W[1][1]];
  let share = W[0][1] / Math.sqrt(wnn * wtt || 1);
  const matrix = () => {
    const off = share * Math.sqrt(wnn * wtt);
    return { W: [[wnn, off], [off, wtt]] };
  };
  const v = [...V];
  return [
    row("W₁₁", "W, first diagonal entry, 1/kg", 0.1, most, 0.01, wnn, (x) => { wnn = x; collision = { ...collision, ...matrix() }; put({}); }),
    row("W₂₂", "W, second diagonal entry, 1/kg", 0.1, most, 0.01, wtt, (x) => { wtt = x; collision = { ...collision, ...matrix() }; put({}); }),
    row("skew", "W, off-diagonal entry as a share of its largest", -1, 1, 0.01, share, (x) => { share = x; collision = { ...collision, ...matrix() }; put({}); }),
    ...[0, 1].map((i) => row(`V${"₁₂"[i]}`, `relative velocity, component ${i + 1}, m/s`, -3, 3, 0.01, v[i], (x) => {
      v[i] = x;
      collision = { ...collision, V: [...v] };
      put({});
    })),
  ];
};

const spinRows = (collision, change) => collision.bodies.flatMap((body, i) => {
  if (body.fixed || Array.isArray(body.omega)) return [];
  const spin = asNumber(body.omega, 0);
  return [row(`ω of ${"ab"[i]}`, `angular velocity of body ${"ab"[i]}, rad/s`, -60, 60, 0.5, spin, (x) => {
    const bodies = collision.bodies.map((b, k) => (k === i ? { ...b, omega: x } : b));
    change({ ...collision, bodies }, true);
  })];
});

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
  const geometry = !isFlat(collision) ? [] : collision.bodies ? spinRows(collision, (next) => put({ ...now, bodies: next.bodies }, true))
    : collision.W && collision.W.length === 2 ? massRows(collision, (next) => put({ ...now, W: next.W, V: next.V }, true)) : [];
  const open = place.querySelector("details")?.open ?? false;
  place.replaceChildren(...plain(LAW), ...geometry.map((r) => r.row),
    make("details", { open }, make("summary", {}, "parameters of single laws"), ...plain(MORE)));
};
