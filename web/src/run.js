// run.js - one scene with what it did so far: stepped live by the library, or read from a recorded trajectory.
import { History } from "./history.js";

const blend = (a, b, share) => {
  const out = new Float64Array(a.length);
  for (let i = 0; i < a.length; i += 7) {
    let sign = 0;
    for (let k = 3; k < 7; k++) sign += a[i + k] * b[i + k];
    let norm = 0;
    for (let k = 0; k < 7; k++) {
      out[i + k] = a[i + k] + share * ((k > 2 && sign < 0 ? -b[i + k] : b[i + k]) - a[i + k]);
      if (k > 2) norm += out[i + k] ** 2;
    }
    for (let k = 3; k < 7; k++) out[i + k] /= Math.sqrt(norm) || 1;
  }
  return out;
};

export class Run {
  // text of a scene; sets as carom run --set has them
  constructor(carom, text, sets = {}) {
    this.scene = carom.open(text, sets);
    this.about = this.scene.about;
    this.history = new History(this.about.bodies.length);
    this.over = false;
    this.recorded = false;
    this.events = [];
    this.record(this.scene.look());
  }

  // a file of carom export: states placed one after another
  static recorded(carom, file) {
    const { scene, time, q, v } = file;
    if (!scene || !Array.isArray(time) || !Array.isArray(q) || !Array.isArray(v) || !time.length || q.length !== time.length || v.length !== time.length) {
      throw new Error("A recorded trajectory needs scene, time, q and v with one row per time, as carom export writes them.");
    }
    const run = new Run(carom, JSON.stringify(scene));
    const { nq, nv } = run.about;
    run.history = new History(run.about.bodies.length);
    time.forEach((t, i) => {
      if (q[i].length !== nq || v[i].length !== nv) throw new Error(`Record ${i} has ${q[i].length} coordinates and ${v[i].length} velocities; the scene has ${nq} and ${nv}.`);
      run.scene.place(t, q[i], v[i]);
      const numbers = run.scene.look();
      const [residual = 0, penetration = 0, contacts = 0] = file.certificate?.[i] ?? [];
      Object.assign(numbers, { residual, penetration, contacts, unsolved: 0, impacts: 0, steps: i, events: 0 });
      run.history.count(numbers);
      if (run.history.due()) run.record(numbers);
    });
    run.events = file.events ?? [];
    run.history.totals.events = run.events.length;
    run.recorded = run.over = true;
    return run;
  }

  record(numbers) {
    this.history.add({ time: numbers.time, kinetic: numbers.kinetic, potential: numbers.potential, poses: this.scene.poses(), forces: this.recorded ? [] : this.scene.forces(numbers.forces) });
  }

  get duration() { return this.recorded ? this.history.last.time : this.about.duration; }
  get now() { return this.history.last.time; }

  // one step; false at the end
  step() {
    if (this.over) return false;
    if (!this.scene.step()) {
      this.over = true;
      return false;
    }
    const numbers = this.scene.look();
    this.history.count(numbers);
    if (numbers.events && this.events.length < 5000) this.events.push(...this.scene.events(numbers.events));
    this.over = numbers.steps >= this.about.steps;
    if (this.history.due() || this.over) this.record(numbers);
    return true;
  }

  // steps until a time, or until the milliseconds are used up
  advance(time, budget) {
    const end = performance.now() + budget;
    while (!this.over && this.now < time && performance.now() < end) this.step();
  }

  // poses at a time, between two records
  poses(time) {
    const { records } = this.history;
    const before = this.history.at(time);
    const after = records[records.indexOf(before) + 1];
    if (!after || after.time <= before.time) return before.poses;
    const share = Math.min(1, Math.max(0, (time - before.time) / (after.time - before.time)));
    return share === 0 ? before.poses : blend(before.poses, after.poses, share);
  }

  close() { this.scene.close(); }
}
