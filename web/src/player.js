// player.js - time: play, pause, scrub, speed; the loop that computes towards a time and draws it.
//
// The time that is asked for (goal) and the time that is shown differ where computing is behind: what is shown
// never runs ahead of what is known. A picture is drawn before the next is computed, so that the graphics card
// works meanwhile.
import { make, select } from "./dom.js";

const SPEEDS = ["0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10"];
const SHORT = 2.9;    // seconds that playing should take at least
const LONGEST = 0.5;  // seconds between two pictures that count

export class Player {
  // reach(goal, interval) computes towards a time and returns how far it came, interval being the milliseconds
  // between two pictures; show(time) draws
  constructor({ reach, show, prefix = "" }) {
    Object.assign(this, { reach, draw: show, time: 0, goal: 0, begin: 0, end: 1, playing: false, active: false, dirty: true, last: 0 });
    this.button = make("button", { type: "button", id: `${prefix}play`, onclick: () => this.toggle() }, "Play");
    this.scrub = make("input", { type: "range", id: `${prefix}scrub`, "aria-label": "Time", min: 0, max: 1, step: "any", oninput: () => this.seek(Number(this.scrub.value)) });
    this.clock = make("output", { for: `${prefix}scrub`, id: `${prefix}clock` }, "0 s");
    this.speed = select("Speed", SPEEDS, "1", () => {});
    this.tick = this.tick.bind(this);
  }

  // a run between two times, shown from its start
  start(begin, end) {
    Object.assign(this, { begin, end });
    this.scrub.min = begin;
    this.scrub.max = end;
    this.play(false);
    this.time = this.goal = begin;
    // the fastest speed, real time at most, at which the run takes three seconds
    this.speed.box.value = [...SPEEDS].reverse().find((s) => Number(s) <= 1 && (end - begin) / Number(s) >= SHORT) ?? SPEEDS[0];
  }

  // what the button does
  toggle() { this.play(!this.playing); }

  play(on) {
    this.playing = on;
    if (on && this.time >= this.end) this.time = this.goal = this.begin;
    this.button.textContent = on ? "Pause" : "Play";
    this.dirty = true;
  }

  // a later end
  extend(end) {
    this.end = end;
    this.scrub.max = end;
  }

  // all there is ends here, and goes on from here
  cut(time) {
    this.time = this.goal = time;
    this.dirty = true;
  }

  seek(time) {
    this.play(false);
    this.goal = Math.min(this.end, Math.max(this.begin, time));
  }

  enter() {
    if (this.active) return;
    this.active = this.dirty = true;
    this.next = requestAnimationFrame(this.tick);
  }

  leave() {
    this.active = false;
    cancelAnimationFrame(this.next);
    this.play(false);
  }

  tick(now) {
    this.next = requestAnimationFrame(this.tick);
    const interval = now - this.last;
    this.last = now;
    if (this.dirty) {
      this.dirty = false;
      this.scrub.value = this.goal;
      this.clock.textContent = `${this.time.toFixed(3)} s`;
      this.draw(this.time, interval);
    }
    if (this.playing) this.goal = Math.min(this.end, this.time + Math.min(interval / 1000, LONGEST) * Number(this.speed.box.value));
    const reached = this.reach(this.goal, interval);
    const time = Math.min(this.goal, reached);
    if (time !== this.time || reached < this.goal) this.dirty = true;
    this.time = time;
    if (this.playing && time >= this.end) this.play(false);
  }
}
