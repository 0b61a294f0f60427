// run.js - a scene with what it did so far: played back from records, or stepped live by the library.
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

// What is known of a run: bodies, records, events.
export class Playback {
  constructor(about) {
    this.about = about;
    this.history = new History();
    this.events = [];
    this.over = this.recorded = true;
  }

  get begin() { return this.history.records[0].time; }
  get duration() { return this.history.last.time; }
  get now() { return this.history.last.time; }

  // poses at a time, between two records
  poses(time) {
    const { records } = this.history;
    const at = this.history.indexAt(time);
    const [before, after] = [records[at], records[at + 1]];
    if (!after || after.time <= before.time) return before.poses;
    const share = Math.min(1, Math.max(0, (time - before.time) / (after.time - before.time)));
    return share === 0 ? before.poses : blend(before.poses, after.poses, share);
  }

  close() {}
}

export class Run extends Playback {
  // text of a scene; sets as carom run --set has them
  constructor(carom, text, sets = {}) {
    const scene = carom.open(text, sets);
    super(scene.about);
    this.scene = scene;
    this.over = this.recorded = false;
    this.record(this.scene.look());
  }

  // a file of carom export: states placed one after another
  static recorded(carom, file) {
    const { scene, time, q, v } = file;
    const rows = (list) => Array.isArray(list) && list.length === time.length && list.every(Array.isArray);
    if (!scene || !Array.isArray(time) || !time.length || !rows(q) || !rows(v)) {
      throw new Error("A recorded trajectory needs scene, time, q and v with one row per time, as carom export writes them.");
    }
    const run = new Run(carom, JSON.stringify(scene));
    try {
      run.placeAll(file);
    } catch (error) {
      run.close();
      throw error;
    }
    run.events = file.events ?? [];
    run.history.totals.events = run.events.length;
    run.recorded = run.over = true;
    return run;
  }

  placeAll({ time, q, v, certificate }) {
    const { nq, nv } = this.about;
    this.history = new History();
    time.forEach((t, i) => {
      if (q[i].length !== nq || v[i].length !== nv) throw new Error(`Record ${i} has ${q[i].length} coordinates and ${v[i].length} velocities; the scene has ${nq} and ${nv}.`);
      this.scene.place(t, q[i], v[i]);
      const numbers = this.scene.look();
      const [residual = 0, penetration = 0, contacts = 0] = certificate?.[i] ?? [];
      Object.assign(numbers, { residual, penetration, contacts, unsolved: 0, impacts: 0, steps: i, events: 0 });
      this.history.count(numbers);
      if (this.history.due() || i === time.length - 1) this.record(numbers);
    });
  }

  record(numbers) {
    this.history.add({ time: numbers.time, kinetic: numbers.kinetic, potential: numbers.potential, poses: this.scene.poses(), forces: this.scene.forces(numbers.forces) });
  }

  get hash() { return this.scene.hash(); }
  get duration() { return this.recorded ? super.duration : this.about.duration; }

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

  close() { this.scene.close(); }
}
