// outline.js - what a body looks like, as far as its mass and inertia tell.
//
// In the plane, with k^2 = I/m and d the distance of the contact: a disc or ball that reaches the contact where
// k^2/d^2 is 1/2, 2/5 or 2/3; a rod of length 2d at 1/3; else an ellipse of axes d and sqrt(4 k^2 - d^2), which
// has that inertia; a disc on a stick where the mass lies nearer than that. In space: the box of those principal
// moments, h_1^2 = 3 (I_2 + I_3 - I_1)/(2 m), or a ball.
const CLOSE = 0.03;
const near = (x, y) => Math.abs(x - y) < CLOSE * y;

// eigenvalues and vectors of a symmetric 3x3 matrix, by Jacobi's rotations
export const principal = (matrix) => {
  const A = matrix.map((r) => [...r]), Q = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
  for (let sweep = 0; sweep < 12; sweep++) {
    for (const [p, q] of [[0, 1], [0, 2], [1, 2]]) {
      if (A[p][q] === 0) continue;
      const theta = 0.5 * Math.atan2(2 * A[p][q], A[q][q] - A[p][p]), c = Math.cos(theta), s = Math.sin(theta);
      for (const M of [A, Q]) M.forEach((row) => { [row[p], row[q]] = [c * row[p] - s * row[q], s * row[p] + c * row[q]]; });
      for (let k = 0; k < 3; k++) [A[p][k], A[q][k]] = [c * A[p][k] - s * A[q][k], s * A[p][k] + c * A[q][k]];
    }
  }
  return { values: [0, 1, 2].map((i) => A[i][i]), axes: [0, 1, 2].map((i) => Q.map((row) => row[i])) };
};

const turned = ([w, x, y, z], v) => {
  const t = [2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])];
  return [v[0] + w * t[0] + y * t[2] - z * t[1], v[1] + w * t[1] + z * t[0] - x * t[2], v[2] + w * t[2] + x * t[1] - y * t[0]];
};

// { kind: ground | ball | rod | ellipse | stick, ... } of a body whose contact is `arm` away from its centre
export const flatOutline = (body, arm) => {
  const d = Math.hypot(...arm);
  if (body.fixed || d === 0) return { kind: "ground" };
  const ratio = body.inertia / body.mass / (d * d);
  if ([2 / 5, 1 / 2, 2 / 3].some((r) => near(ratio, r))) return { kind: "ball", r: d };
  if (near(ratio, 1 / 3)) return { kind: "rod" };
  if (ratio > 1 / 4) return { kind: "ellipse", a: d, b: d * Math.sqrt(4 * ratio - 1) };
  return { kind: "stick", r: d * Math.sqrt(2 * ratio) };
};

// { kind: ground | ball | stick | box, ... }; a box has its corners relative to the centre, in pairs along its axes
export const spaceOutline = (body, arm) => {
  const d = Math.hypot(...arm);
  if (body.fixed || d === 0) return { kind: "ground" };
  if (!Array.isArray(body.inertia)) {
    const ratio = body.inertia / body.mass / (d * d);
    return [2 / 5, 2 / 3].some((r) => near(ratio, r)) ? { kind: "ball", r: d } : { kind: "stick", r: d * Math.sqrt(2.5 * ratio) };
  }
  const { values, axes } = Array.isArray(body.inertia[0]) ? principal(body.inertia) : { values: body.inertia, axes: [[1, 0, 0], [0, 1, 0], [0, 0, 1]] };
  const sum = values.reduce((s, x) => s + x, 0);
  const half = values.map((I) => Math.sqrt(Math.max(0, (1.5 * (sum - 2 * I)) / body.mass)));
  const edges = axes.map((axis, i) => turned(body.orientation ?? [1, 0, 0, 0], axis).map((x) => half[i] * x));
  return { kind: "box", corners: Array.from({ length: 8 }, (_, k) => [0, 1, 2].map((c) => edges.reduce((s, e, i) => s + ((k >> i) & 1 ? e[c] : -e[c]), 0))) };
};
