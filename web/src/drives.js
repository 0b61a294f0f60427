// drives.js - a slider for every control of a scene, and a chart for every sensor.
import { make, say, shown } from "./dom.js";
import { Chart } from "./charts.js";

const OPEN = 8;     // charts of sensors that are shown without being asked for
const MOST = 40;    // charts at most
const INKS = 6;
const PARTS = ["x", "y", "z", "w"];
const UNITS = { joint_position: "m, rad", joint_velocity: "m/s, rad/s", position: "m", velocity: "m/s", velocimeter: "m/s", angular_velocity: "rad/s", gyro: "rad/s", accelerometer: "m/s²", force: "N", torque: "N m", touch: "N", range: "m", energy: "J" };

// ends of a slider where the scene has none
const endsOf = ({ lower, upper, ctrl }) => {
  const far = 10 * Math.max(1, Math.abs(ctrl));
  return [Number.isFinite(lower) ? lower : Math.min(-far, ctrl), Number.isFinite(upper) ? upper : Math.max(far, ctrl)];
};

export class Drives {
  constructor(seek) {
    Object.assign(this, { seek, sliders: [], charts: [] });
    this.controls = make("div", { class: "drives", id: "drives", role: "group", "aria-label": "Controls of the actuators" });
    this.grid = make("div", { class: "charts" });
    this.sensors = make("details", { id: "sensors", ontoggle: () => { this.remake(); } }, make("summary", {}, "Sensors"), this.grid);
  }

  // of a new run
  reset(run) {
    this.run = run;
    const { actuators = [], sensors = [] } = run.recorded ? {} : run.about;
    this.sliders = actuators.map((actuator, i) => this.slider(actuator, i));
    this.controls.replaceChildren(...this.sliders.map((s) => s.row));
    this.controls.hidden = !actuators.length;
    this.charts = sensors.slice(0, MOST).map((sensor) => ({ sensor, chart: this.chart(sensor) }));
    this.grid.replaceChildren(...this.charts.map((c) => c.chart.place));
    this.sensors.hidden = !sensors.length;
    this.sensors.querySelector("summary").textContent = `Sensors: ${sensors.length}${sensors.length > MOST ? ` (the first ${MOST})` : ""}`;
    this.sensors.open = sensors.length > 0 && sensors.length <= OPEN;
    this.remake();
  }

  slider(actuator, index) {
    const [min, max] = endsOf(actuator);
    const output = make("output", {}, shown(actuator.ctrl));
    let fresh = true;  // whether the next change is one that undo takes back
    const input = make("input", { type: "range", min, max, step: "any", "data-actuator": actuator.name, "aria-label": `Control of ${actuator.name}` });
    input.value = actuator.ctrl;
    const give = async () => {
      const value = Number(input.value);
      output.textContent = shown(value);
      const asked = fresh ? this.run.act("control", index, value, true) : this.run.ask("control", index, value, false);
      fresh = false;
      await asked.catch((error) => say(error.message));
    };
    input.addEventListener("input", give);
    input.addEventListener("change", () => { fresh = true; });
    return { row: make("label", { class: "slider" }, make("span", { title: actuator.name }, actuator.name), input, output), input, output };
  }

  chart({ name, kind, size }) {
    const labels = size === 1 ? [name] : kind === "energy" ? ["kinetic", "potential"] : Array.from({ length: size }, (_, k) => (size <= 3 ? PARTS[k] : String(k)));
    return new Chart({ title: name, y: `${kind.replaceAll("_", " ")}${UNITS[kind] ? ` [${UNITS[kind]}]` : ""}`, series: labels.map((label, k) => ({ label, ink: `ink-${6 + (k % INKS)}` })), seek: this.seek });
  }

  // other colours, another length, or charts that come into view
  remake() {
    if (!this.run || !this.sensors.open) return;
    this.charts.forEach(({ chart }) => chart.make(this.run.begin, this.run.duration));
    this.chartAll();
  }

  chartAll() {
    if (!this.sensors.open || !this.run) return;
    for (const { sensor, chart } of this.charts) {
      if (!chart.plot) chart.make(this.run.begin, this.run.duration);
      chart.show(this.run.history.columns(["time", ...Array.from({ length: sensor.size }, (_, k) => (r) => r.sensed?.[sensor.first + k] ?? null)]));
    }
  }

  // sliders follow what a scene's own schedule does, unless a hand is on them
  follow(record) {
    this.sliders.forEach(({ input, output }, i) => {
      const value = record.controls?.[i];
      if (value == null || document.activeElement === input || Math.abs(Number(input.value) - value) < 1e-9 * (1 + Math.abs(value))) return;
      input.value = value;
      output.textContent = shown(value);
    });
  }
}
