// engine.js - scenes that run on their own, in a worker: they step towards a time that is asked for and tell what
// happened, many steps in one message.
//
// Messages in: { type, id, ... } with the id of a run. open (text, sets), goal (time, stride), step, close, and
// call (name, args, ticket) for one of CALLS below. Messages out: steps, failed, answer. A call is answered in its turn,
// between two slices of computing.
import { WIDTH } from "./carom.js";

const SLICE = 10;    // milliseconds of computing between two looks at what is asked for
const MARKS = 50;    // states that are kept to go back to
const EVENTS = 11;   // numbers of an event

// what the steps of a slice told, packed for one message
class Bundle {
  constructor() { Object.assign(this, { numbers: [], recorded: [], poses: [], forces: [], sensed: [], controls: [], events: [] }); }

  add(scene, row, record) {
    const [events, forces] = [row[11], row[12]];
    this.numbers.push(row.slice());
    this.recorded.push(record ? 1 : 0);
    this.events.push(events ? scene.eventRows(events) : new Float64Array(0));
    if (!record) return;
    this.poses.push(scene.poses());
    this.forces.push(scene.forces(forces));
    this.sensed.push(scene.sense());
    this.controls.push(scene.controls());
  }

  // arrays one after another, and how long each is
  packed() {
    const join = (parts, Kind) => {
      const all = new Kind(parts.reduce((sum, p) => sum + p.length, 0));
      let at = 0;
      for (const p of parts) { all.set(p, at); at += p.length; }
      return all;
    };
    return {
      steps: this.numbers.length, numbers: join(this.numbers, Float64Array), recorded: Uint8Array.from(this.recorded),
      poses: join(this.poses, Float64Array), forces: join(this.forces, Float32Array), forceSizes: Uint32Array.from(this.forces, (f) => f.length),
      sensed: join(this.sensed, Float64Array), controls: join(this.controls, Float64Array),
      events: join(this.events, Float64Array), eventSizes: Uint32Array.from(this.events, (e) => e.length / EVENTS),
    };
  }
}

class Live {
  constructor(carom, { id, text, sets }) {
    Object.assign(this, { id, scene: carom.open(text, sets), goal: -Infinity, asked: 0, stride: 1, offered: 0, over: false, marks: [], hands: new Set() });
    this.total = this.scene.about.steps;
    this.time = this.scene.row()[0];
    this.steps = this.scene.row()[10];
  }

  get due() { return !this.over && (this.asked > 0 || this.time < this.goal); }

  step(bundle) {
    if (!this.scene.step()) { this.over = true; return; }
    const row = this.scene.row();
    [this.time, this.steps] = [row[0], row[10]];
    this.over = this.steps >= this.total;
    bundle.add(this.scene, row, this.offered++ % this.stride === 0 || this.over || this.asked > 0);
    this.asked = Math.max(0, this.asked - 1);
  }

  // a state to go back to; its name
  mark() {
    this.marks.push({ bytes: this.scene.save(), steps: this.steps, time: this.time });
    if (this.marks.length > MARKS) this.marks.shift();
    return this.marks.length;
  }
}

// what may be asked of a run; what they return is the answer
const CALLS = {
  grip: (live, body, point, size) => {
    live.mark();
    const hand = live.scene.grip(body, point, size);
    if (hand >= 0) live.hands.add(hand); else live.marks.pop();
    return hand;
  },
  pull: (live, hand, target) => live.scene.pull(hand, target),
  release: (live, hand) => { live.hands.delete(hand); live.scene.release(hand); },
  push: (live, body, point, impulse) => {
    live.mark();
    const hand = live.scene.push(body, point, impulse);
    if (hand < 0) live.marks.pop();
    return hand;
  },
  control: (live, actuator, value, first) => { if (first) live.mark(); live.scene.control(actuator, value); },
  // to the state before the last thing that was done; its time, or null where nothing was
  undo: (live) => {
    const mark = live.marks.pop();
    if (!mark) return null;
    live.scene.load(mark.bytes, mark.steps);
    live.hands.clear();
    Object.assign(live, { time: mark.time, steps: mark.steps, goal: -Infinity, asked: 0, over: mark.steps >= live.total });
    return { time: mark.time, steps: mark.steps, hash: live.scene.hash() };
  },
  extend: (live, duration) => {
    if (!live.scene.extend(duration)) return false;
    live.total = Math.round(duration / live.scene.about.dt);
    live.over = live.steps >= live.total;
    return true;
  },
  record: (live) => live.scene.record(),
  state: (live) => ({ ...live.scene.state(), controls: [...live.scene.controls()], time: live.time, steps: live.steps }),
};

// post(message, transfer) sends; the result takes messages
export const makeEngine = (carom, post) => {
  const runs = new Map();
  const channel = new MessageChannel();
  let waiting = false;
  const wake = () => { if (!waiting) { waiting = true; channel.port2.postMessage(null); } };

  const tell = (live, bundle, ended) => {
    const packed = bundle.packed();
    const hands = [...live.hands].map((hand) => ({ hand, ...live.scene.hand(hand) }));
    const transfer = Object.values(packed).filter((v) => v.buffer).map((v) => v.buffer);
    post({ type: "steps", id: live.id, ...packed, over: live.over, hash: live.scene.hash(), hands, asked: ended }, transfer);
  };

  const slice = (live) => {
    const bundle = new Bundle(), end = performance.now() + SLICE, asked = live.asked > 0;
    try {
      while (live.due && performance.now() < end) live.step(bundle);
    } catch (error) {
      live.over = true;
      tell(live, bundle, false);
      post({ type: "failed", id: live.id, message: error.message });
      return;
    }
    tell(live, bundle, asked && live.asked === 0);
  };

  channel.port1.onmessage = () => {
    waiting = false;
    for (const live of runs.values()) if (live.due) slice(live);
    if ([...runs.values()].some((live) => live.due)) wake();
  };

  const answer = (ticket, work) => {
    try {
      post({ type: "answer", ticket, value: work() });
    } catch (error) {
      post({ type: "answer", ticket, error: error.message });
    }
  };

  const take = {
    open: (message) => {
      try {
        runs.set(message.id, new Live(carom, message));
      } catch (error) {
        post({ type: "failed", id: message.id, message: error.message });
      }
    },
    goal: ({ id, time, stride }) => { const live = runs.get(id); if (live) Object.assign(live, { goal: time, stride }); },
    step: ({ id }) => { const live = runs.get(id); if (live) live.asked++; },
    close: ({ id }) => { runs.get(id)?.scene.close(); runs.delete(id); },
    call: ({ id, name, args, ticket }) => answer(ticket, () => {
      if (!runs.has(id)) throw new Error("the run is closed");
      return CALLS[name](runs.get(id), ...args);
    }),
  };
  return (message) => { take[message.type](message); wake(); };
};
