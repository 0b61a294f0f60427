// carom.js - the library compiled to WebAssembly: text in, answers out, scenes that run.
//
// Strings cross as UTF-8 in the module's memory. A refusal is a CaromError with the library's own message,
// field, line and column.

export class CaromError extends Error {
  constructor(error) {
    const place = error.line > 0 ? `line ${error.line}, column ${error.column}: ` : "";
    super(`${place}${error.message} (${error.code})`);
    this.code = error.code;
    this.field = error.field;
    this.line = error.line;
    this.column = error.column;
  }
}

// what wasi-libc asks of a host; nothing is read, and what it prints is dropped
const host = (memory) => {
  const view = () => new DataView(memory().buffer);
  const good = () => 0;
  return {
    environ_get: good,
    environ_sizes_get: (count, size) => {
      view().setUint32(count, 0, true);
      view().setUint32(size, 0, true);
      return 0;
    },
    fd_close: good,
    fd_seek: () => 70,
    fd_fdstat_get: () => 8,
    fd_write: (fd, vectors, count, written) => {
      let total = 0;
      for (let i = 0; i < count; i++) total += view().getUint32(vectors + 8 * i + 4, true);
      view().setUint32(written, total, true);
      return 0;
    },
    proc_exit: (status) => { throw new Error(`the module ended (${status})`); },
  };
};

// numbers of carom_scene_look, in the order of web/wasm/page.h
const NUMBERS = ["time", "kinetic", "potential", "residual", "penetration", "contacts", "impacts", "unsolved",
  "impermissible", "created", "steps", "events", "forces", "near", "unsure", "bounded", "eta", "distance", "crossings",
  "crossingsUnsure", "gain", "work", "impactsUnsure"];
export const WIDTH = NUMBERS.length;
export const numbersOf = (row) => Object.fromEntries(NUMBERS.map((name, i) => [name, row[i]]));

// rows of time, bodies, approach, energy change, point, impulse
export const eventsOf = (rows) => Array.from({ length: rows.length / 11 }, (_, i) => {
  const r = rows.subarray(11 * i, 11 * i + 11);
  return { time: r[0], a: r[1], b: r[2], approach: r[3], energyChange: r[4], point: [...r.subarray(5, 8)], impulse: [...r.subarray(8, 11)] };
});

export class Carom {
  // of the bytes of the library, or of what a browser made of them
  static async load(library) {
    let exports = null;
    const module = library instanceof WebAssembly.Module ? library : await WebAssembly.compile(library);
    const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: host(() => exports.memory) });
    exports = instance.exports;
    exports._initialize();
    return new Carom(exports, module);
  }

  constructor(exports, module) {
    this.exports = exports;
    this.module = module;
    this.catalogue = this.take(exports.carom_catalogue());
  }

  // calls with the text in the module's memory
  give(texts, call) {
    const { exports } = this;
    const given = texts.map((text) => {
      const bytes = new TextEncoder().encode(text);
      const at = exports.carom_alloc(bytes.length);
      if (at === 0) throw new Error("out of memory");
      new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);
      return [at, bytes.length];
    });
    try {
      return call(...given.flat());
    } finally {
      given.forEach(([at]) => exports.carom_free(at));
    }
  }

  // the JSON at an address, which is then free; infinities come as strings
  take(at) {
    if (at === 0) throw new Error("out of memory");
    const bytes = new Uint8Array(this.exports.memory.buffer, at);
    const text = new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0)));
    this.exports.carom_free(at);
    const value = JSON.parse(text);
    if (value.error && value.error.code) throw new CaromError(value.error);
    return value;
  }

  impact(text) { return this.take(this.give([text], this.exports.carom_impact)); }
  resolve(text) { return this.take(this.give([text], this.exports.carom_resolve)); }
  picture(text) { return this.take(this.give([text], this.exports.carom_picture)); }

  // sets: { "step.dt": "0.001", ... } as carom run --set has them
  open(text, sets = {}) {
    const has = Object.keys(sets).length > 0;
    const at = this.give([text, has ? JSON.stringify(sets) : ""], this.exports.carom_scene_open);
    if (at === 0) throw new Error("out of memory");
    try {
      return new Scene(this, at, this.take(this.exports.carom_scene_describe(at)));
    } catch (error) {
      this.exports.carom_scene_close(at);
      throw error;
    }
  }
}

// A scene that runs. `about` is its description; close it when done.
export class Scene {
  constructor(carom, at, about) {
    this.carom = carom;
    this.at = at;
    this.about = about;
  }

  doubles(at, count) { return new Float64Array(this.carom.exports.memory.buffer, at, count); }

  // true where a step was made, false at the end of the run
  step() {
    const made = this.carom.exports.carom_scene_step(this.at);
    if (made < 0) this.carom.take(this.carom.exports.carom_scene_error(this.at));
    return made > 0;
  }

  hash() {
    return BigInt.asUintN(64, this.carom.exports.carom_scene_hash(this.at)).toString(16).padStart(16, "0");
  }

  // numbers of the last step in the order of web/wasm/page.h; they live until the next call
  row() { return this.doubles(this.carom.exports.carom_scene_look(this.at), WIDTH); }
  look() { return numbersOf(this.row()); }

  // after look: p and quaternion (w first) of each body, a copy
  poses() { return this.doubles(this.carom.exports.carom_scene_poses(this.at), 7 * this.about.bodies.length).slice(); }

  // after look: point, impulse and kind of everything that pushed in the last step, as precise as a screen
  forces(count) { return new Float32Array(count > 0 ? this.doubles(this.carom.exports.carom_scene_forces(this.at), 7 * count) : 0); }

  // after look: the last step's events, a copy
  eventRows(count) { return this.doubles(this.carom.exports.carom_scene_events(this.at), 11 * count).slice(); }
  events(count) { return count === 0 ? [] : eventsOf(this.eventRows(count)); }

  // puts the bodies where a recording has them
  place(time, q, v) {
    const { nq, nv } = this.about;
    const state = this.doubles(this.carom.exports.carom_scene_state(this.at), nq + nv);
    state.set(q);
    state.set(v, nq);
    this.carom.exports.carom_scene_place(this.at, time);
  }

  // hands, as web/wasm/page.h has them; -1: the body does not move by forces
  grip(body, point, size) { return this.carom.exports.carom_hand_grip(this.at, body, ...point, size); }
  pull(hand, target) { this.carom.exports.carom_hand_pull(this.at, hand, ...target); }
  release(hand) { this.carom.exports.carom_hand_release(this.at, hand); }
  push(body, point, impulse) { return this.carom.exports.carom_hand_push(this.at, body, ...point, ...impulse); }
  hand(hand) {
    const row = this.doubles(this.carom.exports.carom_hand_look(this.at, hand), 9);
    return { at: [...row.subarray(0, 3)], force: [...row.subarray(3, 6)], target: [...row.subarray(6, 9)] };
  }

  control(actuator, value) {
    if (this.carom.exports.carom_scene_control(this.at, actuator, value) < 0) this.carom.take(this.carom.exports.carom_scene_error(this.at));
  }
  controls() { return this.doubles(this.carom.exports.carom_scene_controls(this.at), this.about.actuators.length).slice(); }
  sense() {
    const count = this.about.sensors.reduce((sum, s) => sum + s.size, 0);
    return count ? this.doubles(this.carom.exports.carom_scene_sense(this.at), count).slice() : new Float64Array(0);
  }

  // what hands did so far, as rows over time
  record() { return this.carom.take(this.carom.exports.carom_scene_record(this.at)); }
  extend(duration) { return this.carom.exports.carom_scene_extend(this.at, duration) > 0; }

  save() {
    const at = this.carom.exports.carom_scene_save(this.at);
    if (at === 0) throw new Error("out of memory");
    return new Uint8Array(this.carom.exports.memory.buffer, at, this.carom.exports.carom_scene_save_size(this.at)).slice();
  }
  load(bytes, steps) {
    const { exports } = this.carom;
    const at = exports.carom_alloc(bytes.length);
    if (at === 0) throw new Error("out of memory");
    new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);
    const status = exports.carom_scene_load(this.at, at, bytes.length, steps);
    exports.carom_free(at);
    if (status < 0) this.carom.take(exports.carom_scene_error(this.at));
  }

  // q and v as they are now
  state() {
    const { nq, nv } = this.about;
    const both = this.doubles(this.carom.exports.carom_scene_read_state(this.at), nq + nv);
    return { q: [...both.subarray(0, nq)], v: [...both.subarray(nq)] };
  }

  close() {
    this.carom.exports.carom_scene_close(this.at);
    this.at = 0;
  }
}
