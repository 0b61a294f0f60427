// live.js - a run that the engine steps elsewhere: what it told so far, and what hands ask of it.
//
// The scene is opened here too, to be described and refused at once; the engine opens its own.
import { eventsOf, numbersOf, WIDTH } from "./carom.js";
import { History } from "./history.js";
import { Playback } from "./run.js";
import { startEngine } from "./threads.js";

const EVENTS = 5000;  // that are kept

// The engine with the runs that listen to it.
export class Engine {
  constructor(carom) {
    Object.assign(this, { carom, runs: new Map(), tickets: new Map(), next: 1 });
    this.link = startEngine(carom, (message) => this.hear(message));
  }

  get kind() { return this.link.kind; }
  post(message) { this.link.post(message); }

  hear({ type, id, ticket, ...rest }) {
    if (type === "answer") {
      const { done, fail } = this.tickets.get(ticket) ?? {};
      this.tickets.delete(ticket);
      if (rest.error) fail?.(new Error(rest.error)); else done?.(rest.value);
    } else {
      this.runs.get(id)?.hear(type, rest);
    }
  }

  call(id, name, args) {
    const ticket = this.next++;
    this.post({ type: "call", id, name, args, ticket });
    return new Promise((done, fail) => { this.tickets.set(ticket, { done, fail }); });
  }
}

export class LiveRun extends Playback {
  // text of a scene; sets as carom run --set has them; heard() after news, failed(message) where a step was refused
  constructor(engine, text, sets = {}) {
    const scene = engine.carom.open(text, sets);
    super(scene.about);
    Object.assign(this, { engine, text, sets, id: engine.next++, recorded: false, over: false, goal: null, hands: [], done: [], heard: () => {}, failed: () => {}, stepped: () => {} });
    this.length = scene.about.duration;
    try {
      const numbers = scene.look();
      this.history.totals.steps = numbers.steps;
      this.hash = scene.hash();
      this.add(numbers, { poses: scene.poses(), forces: new Float32Array(0), sensed: scene.sense(), controls: scene.controls() });
      this.over = numbers.steps >= this.about.steps;
    } finally {
      scene.close();
    }
    engine.runs.set(this.id, this);
    engine.post({ type: "open", id: this.id, text, sets });
  }

  get duration() { return this.length; }
  get touched() { return this.done.length > 0; }

  add({ time, kinetic, potential }, parts) { this.history.add({ time, kinetic, potential, ...parts }); }

  hear(type, message) {
    if (type === "failed") {
      this.over = true;
      this.failed(message.message);
      return;
    }
    this.unpack(message);
    Object.assign(this, { over: message.over, hash: message.hash, hands: message.hands });
    this.heard();
    if (message.asked) this.stepped();
  }

  unpack({ steps, numbers, recorded, poses, forces, forceSizes, sensed, controls, events, eventSizes }) {
    const at = { poses: 0, forces: 0, sensed: 0, controls: 0, events: 0 };
    const width = { poses: 7 * this.about.bodies.length, sensed: recorded.some(Boolean) ? sensed.length / recorded.reduce((a, b) => a + b, 0) : 0, controls: this.about.actuators.length };
    const cut = (all, name, size) => { at[name] += size; return all.slice(at[name] - size, at[name]); };
    let record = 0;
    for (let i = 0; i < steps; i++) {
      const row = numbersOf(numbers.subarray(WIDTH * i, WIDTH * (i + 1)));
      this.history.count(row);
      const happened = cut(events, "events", 11 * eventSizes[i]);
      if (happened.length && this.events.length < EVENTS) this.events.push(...eventsOf(happened));
      if (!recorded[i]) continue;
      this.add(row, { poses: cut(poses, "poses", width.poses), forces: cut(forces, "forces", forceSizes[record++]),
        sensed: cut(sensed, "sensed", width.sensed), controls: cut(controls, "controls", width.controls) });
    }
  }

  // asks for steps up to a time
  advance(time) {
    if (this.over || time <= this.now || time === this.goal) return;
    this.goal = time;
    this.engine.post({ type: "goal", id: this.id, time, stride: this.history.stride });
  }
  step() { if (!this.over) this.engine.post({ type: "step", id: this.id }); }

  ask(name, ...args) { return this.engine.call(this.id, name, args); }

  // something a hand does, which undo() takes back
  async act(name, ...args) {
    this.done.push({ ...this.history.totals });
    try {
      const value = await this.ask(name, ...args);
      if (value === -1) this.done.pop();
      return value;
    } catch (error) {
      this.done.pop();
      throw error;
    }
  }

  // back to before the last of it; false where nothing was done
  async undo() {
    const before = await this.ask("undo");
    if (!before) return false;
    this.history.cut(before.time, this.done.pop() ?? this.history.totals);
    this.history.totals.steps = before.steps;
    this.events = this.events.filter((e) => e.time <= before.time);
    Object.assign(this, { hash: before.hash, over: false, goal: null, hands: [] });
    this.heard();
    return true;
  }

  // a longer run, whole steps long; false where its last step was a short one
  async extend(duration) {
    const whole = Math.ceil(duration / this.about.dt) * this.about.dt;
    if (!(await this.ask("extend", whole))) return false;
    Object.assign(this, { length: whole, over: false, goal: null });
    this.about.steps = Math.round(whole / this.about.dt);
    return true;
  }

  close() {
    this.engine.runs.delete(this.id);
    this.engine.post({ type: "close", id: this.id });
  }
}
