// history.js - what a run did, kept for scrubbing and charts: poses, pushes, energy, certificate.
//
// At most LIMIT numbers of poses and pushes: when they are full every second record goes, and later ones are
// kept at double the spacing. The worst certificate of those that go stays.

const LIMIT = 8e6;
const FEWEST = 64;  // records that are always kept
const WORST = { residual: 0, penetration: 0, contacts: 0 };

export class History {
  constructor() {
    this.records = [];
    this.numbers = 0;  // kept
    this.stride = 1;
    this.offered = 0;
    this.worst = { ...WORST };
    this.totals = { steps: 0, impacts: 0, events: 0, unsolved: 0, impermissible: 0, created: 0, residual: 0, penetration: 0, contacts: 0,
      near: 0, unsure: 0, bounded: 0, crossings: 0, crossingsUnsure: 0, gain: 0, work: 0, impactsUnsure: 0, eta: 0, distance: 0 };
  }

  get length() { return this.records.length; }
  get last() { return this.records[this.records.length - 1]; }

  // adds up what a step told
  count(numbers) {
    const t = this.totals;
    t.steps = numbers.steps;
    for (const name of ["impacts", "events", "unsolved", "impermissible", "created", "near", "unsure", "bounded", "crossings",
      "crossingsUnsure", "gain", "work", "impactsUnsure"]) t[name] += numbers[name] ?? 0;
    for (const name of ["residual", "penetration", "contacts", "eta", "distance"]) t[name] = Math.max(t[name], numbers[name] ?? 0);
    for (const name of Object.keys(WORST)) this.worst[name] = Math.max(this.worst[name], numbers[name]);
  }

  // forgets what came after a time; totals are those of then
  cut(time, totals) {
    this.records = this.records.filter((r) => r.time <= time);
    this.numbers = this.records.reduce((sum, r) => sum + r.poses.length + r.forces.length, 0);
    this.totals = { ...totals };
    this.worst = { ...WORST };
  }

  due() { return this.offered++ % this.stride === 0; }

  add(record) {
    this.records.push({ ...record, ...this.worst });
    this.numbers += record.poses.length + record.forces.length;
    this.worst = { ...WORST };
    if (this.numbers < LIMIT || this.records.length < FEWEST) return;
    this.records = this.records.filter((_, i) => i % 2 === 0);
    this.numbers = this.records.reduce((sum, r) => sum + r.poses.length + r.forces.length, 0);
    this.stride *= 2;
  }

  // place of the last record not after a time
  indexAt(time) {
    let lo = 0, hi = this.records.length - 1;
    while (lo < hi) {
      const mid = (lo + hi + 1) >> 1;
      if (this.records[mid].time <= time) lo = mid; else hi = mid - 1;
    }
    return lo;
  }
  at(time) { return this.records[this.indexAt(time)]; }

  // columns for a chart, thinned
  columns(names, points = 1500) {
    const every = Math.max(1, Math.ceil(this.records.length / points));
    const kept = this.records.filter((_, i) => i % every === 0 || i === this.records.length - 1);
    return names.map((name) => kept.map((r) => (typeof name === "function" ? name(r) : r[name])));
  }
}
