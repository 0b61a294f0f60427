// edit.js - a scene changed while it runs: the text of a new one that starts where the old one is.
//
// Every function takes a scene (the object of its text) and returns another; what is not changed stays as it was
// written. The state is a keyframe, "now", at which the scene starts. `about` is the library's description: bodies in
// the order of the scene, with the places of their coordinates (parts).

const NOW = "now";
const copy = (value) => structuredClone(value);
const listed = (scene, name) => scene[name] ?? [];

// copies of a lattice written out, and every body with its name, in the library's order
export const expand = (given) => {
  const scene = copy(given);
  let index = 0;
  scene.bodies = listed(scene, "bodies").flatMap((body) => {
    const { repeat, ...one } = body;
    if (!repeat?.length) return [{ ...one, name: one.name ?? `body${index + 1}` }].map((b) => { index++; return b; });
    const counts = [0, 1, 2].map((k) => repeat[k]?.count ?? 1);
    return Array.from({ length: counts[0] * counts[1] * counts[2] }, (_, i) => {
      const at = [i % counts[0], Math.floor(i / counts[0]) % counts[1], Math.floor(i / counts[0] / counts[1])];
      const pos = [...(one.pos ?? [0, 0, 0])];
      repeat.forEach(({ step }, k) => step.forEach((x, d) => { if (d < pos.length) pos[d] += at[k] * x; }));
      index++;
      return { ...copy(one), pos, name: one.name ? `${one.name}${i + 1}` : `body${index}`, ...(one.joint_name ? { joint_name: `${one.joint_name}${i + 1}` } : {}) };
    });
  });
  return scene;
};

// values as carom run --set has them
const isNumber = (text) => text.trim() !== "" && Number.isFinite(Number(text));
export const withSets = (given, sets) => {
  const scene = copy(given);
  for (const [path, text] of Object.entries(sets)) {
    const [part, name] = path.split(".");
    scene[part] = { ...scene[part], [name]: isNumber(text) ? Number(text) : text };
  }
  return scene;
};

// the scene that starts at a state: { time, q, v, controls }
export const startingAt = (given, { time, q, v, controls }) => {
  const scene = copy(given);
  scene.keyframes = [...listed(scene, "keyframes").filter((k) => k.name !== NOW), { name: NOW, time, q, v, ...(controls.length ? { ctrl: controls } : {}) }];
  scene.start = NOW;
  return scene;
};

// forces and controls that hands gave, as tables over time
export const withRecord = (given, about, { forces, controls, steps, time }) => {
  const scene = copy(given);
  scene.forces = [...listed(scene, "forces"), ...forces.map(({ body, point, table }) => ({ body: about.bodies[body].name, point, force: { table } }))];
  if (!scene.forces.length) delete scene.forces;
  for (const { actuator, table } of controls) scene.actuators.find((a) => a.name === about.actuators[actuator].name).ctrl = { table };
  const over = steps >= about.steps && Math.abs(time - about.duration) < 1e-6 * about.dt;
  scene.step = { ...scene.step, duration: over ? about.duration : steps * about.dt };
  return scene;
};

// a body and what hangs on it, by index
export const treeOf = (about, index) => about.parts.reduce((tree, part, i) => (i === index || tree.includes(part.parent) ? [...tree, i] : tree), []);

// every keyframe with coordinates and velocities of these bodies alone, in their order
const reordered = (scene, about, order) => {
  const pick = (list, first, count) => list && order.flatMap((i) => list.slice(about.parts[i][first], about.parts[i][first] + about.parts[i][count]));
  scene.keyframes = listed(scene, "keyframes").map((k) => ({ ...k, ...(k.q ? { q: pick(k.q, "q", "nq") } : {}), ...(k.v ? { v: pick(k.v, "v", "nv") } : {}) }));
};

// expects an expanded scene; all that names the bodies goes too
export const withoutBody = (given, about, index) => {
  const scene = copy(given), gone = treeOf(about, index);
  const names = new Set(gone.map((i) => about.bodies[i].name));
  const joints = new Set(scene.bodies.filter((b) => names.has(b.name)).map((b) => b.joint_name ?? b.name));
  const keep = (list, test) => { if (scene[list]) scene[list] = scene[list].filter(test); };
  const lost = new Set([...listed(scene, "sites").filter((s) => names.has(s.body)).map((s) => s.name)]);
  const slack = new Set(listed(scene, "tendons").filter((t) => t.sites?.some((s) => lost.has(s)) || t.joints?.some((j) => joints.has(j.joint))).map((t) => t.name));
  const actuators = listed(scene, "actuators").map((a) => !joints.has(a.joint) && !a.joints?.some((j) => joints.has(j.joint)) &&
    !slack.has(a.tendon) && ![a.site, a.reference, a.slider].some((s) => lost.has(s)));
  const idle = new Set(listed(scene, "actuators").filter((_, i) => !actuators[i]).map((a) => a.name));
  keep("actuators", (_, i) => actuators[i]);
  scene.keyframes = listed(scene, "keyframes").map((k) => (k.ctrl ? { ...k, ctrl: k.ctrl.filter((_, i) => actuators[i]) } : k));
  keep("tendons", (t) => !slack.has(t.name));
  keep("sensors", (s) => !lost.has(s.site) && !slack.has(s.tendon) && !joints.has(s.joint) && !idle.has(s.actuator));
  keep("sites", (s) => !names.has(s.body));
  keep("forces", (f) => !names.has(f.body));
  keep("drive", (d) => !names.has(d.body));
  keep("constraints", (c) => !c.bodies.some((b) => names.has(b)));
  keep("exclude", (pair) => !(pair.bodies ?? pair).some((b) => names.has(b)));
  scene.bodies = scene.bodies.filter((b) => !names.has(b.name));
  reordered(scene, about, about.parts.map((_, i) => i).filter((i) => i > 0 && !gone.includes(i)));
  return scene;
};

const freeName = (taken, name) => {
  for (let k = 2; ; k++) if (!taken.has(`${name}-${k}`)) return `${name}-${k}`;
};

// a second one of a body with what hangs on it, beside it; expects an expanded scene that starts at a keyframe
export const withCopy = (given, about, index, shift) => {
  const scene = copy(given), tree = treeOf(about, index);
  const taken = new Set(scene.bodies.flatMap((b) => [b.name, b.joint_name]));
  const names = new Map(tree.map((i) => { const name = freeName(taken, about.bodies[i].name); taken.add(name); return [about.bodies[i].name, name]; }));
  const copies = tree.map((i) => {
    const body = copy(scene.bodies[i - 1]);
    body.name = names.get(body.name);
    if (body.joint_name) { body.joint_name = freeName(taken, body.joint_name); taken.add(body.joint_name); }
    if (names.has(body.parent)) body.parent = names.get(body.parent);
    if (i === index) body.pos = (body.pos ?? [0, 0, 0]).map((x, k) => x + shift[k]);
    return body;
  });
  scene.bodies.push(...copies);
  reordered(scene, about, [...about.parts.map((_, i) => i).slice(1), ...tree]);
  if (["free", "planar"].includes(about.parts[index].kind)) {
    const at = about.nq;
    for (const k of scene.keyframes) if (k.q) for (let d = 0; d < (about.parts[index].kind === "free" ? 3 : 2); d++) k.q[at + d] += shift[d];
  }
  return scene;
};

export const withMass = (given, name, mass, before) => {
  const scene = copy(given), body = scene.bodies.find((b) => b.name === name);
  const scaled = (x) => (Array.isArray(x) ? x.map(scaled) : (x * mass) / before);
  if (body.inertia != null) body.inertia = scaled(body.inertia);
  body.mass = mass;
  return scene;
};

export const materialOf = (scene, name) => scene.bodies.find((b) => b.name === name)?.shapes?.[0]?.material ?? null;

// mu, e of what a body is made of: of its material, or of a new one where its shapes name none
export const withMaterial = (given, name, values) => {
  const scene = copy(given), body = scene.bodies.find((b) => b.name === name);
  let material = materialOf(scene, name);
  scene.materials = { ...scene.materials };
  if (!material) {
    material = freeName(new Set(Object.keys(scene.materials)), name);
    scene.materials[material] = { mu: 0.5, e: 0 };
    body.shapes?.forEach((shape) => { shape.material ??= material; });
  }
  scene.materials[material] = { ...scene.materials[material], ...values };
  // what a pair of materials says of its own stands above both
  return scene;
};

// coordinates with a body moved by a way in space; null where its joint cannot
export const movedState = (about, index, { q, ...rest }, way, turn) => {
  const { kind, q: at } = about.parts[index], moved = [...q];
  if (kind === "free") [0, 1, 2].forEach((d) => { moved[at + d] += way[d]; });
  else if (kind === "planar") [0, 1].forEach((d) => { moved[at + d] += way[d]; });
  else if (kind === "hinge") moved[at] += turn.angle;
  else if (kind === "slider") moved[at] += turn.shift;
  else return null;
  return { q: moved, ...rest };
};
