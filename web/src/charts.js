// charts.js - energy and certificate over time, under the view of a scene.
import uPlot from "uplot";
import { make, ink } from "./dom.js";

const size = (place) => ({ width: Math.max(240, place.clientWidth - 12), height: 210 });

const axis = (label) => ({ label, stroke: ink("ink-2"), grid: { stroke: ink("ink-3"), width: 1 }, ticks: { stroke: ink("ink-3"), width: 1 }, size: 62, labelSize: 18, font: '11px "DejaVu Sans", sans-serif', labelFont: '12px "DejaVu Sans", sans-serif' });

const figures = (u, values) => values.map((v) => (v === 0 ? "0" : v == null ? "" : Math.abs(v) >= 1e4 || Math.abs(v) < 1e-3 ? v.toExponential(0) : String(Number(v.toPrecision(4)))));
const value = (u, v) => (v == null ? "–" : Math.abs(v) >= 1e-3 && Math.abs(v) < 1e5 || v === 0 ? v.toPrecision(5) : v.toExponential(2));

export class Charts {
  // seek(time) is called by a click
  constructor(seek) {
    this.seek = seek;
    this.places = [make("figure", { role: "img", "aria-label": "Energy over time" }), make("figure", { role: "img", "aria-label": "Certificate over time: residual and overlap" })];
    this.place = make("div", { class: "charts" }, ...this.places);
    this.plots = [];
    new ResizeObserver(() => this.plots.forEach((plot, i) => plot.setSize(size(this.places[i])))).observe(this.place);
  }

  make(duration) {
    this.plots.forEach((plot) => plot.destroy());
    const series = (label, name) => ({ label, stroke: ink(name), width: 1.6, value, points: { show: false } });
    const x = { label: "t", value };
    const options = (i, list, scales, y, splits) => ({
      ...size(this.places[i]), scales, legend: { live: true }, cursor: { drag: { x: false, y: false } },
      axes: [{ ...axis("t [s]"), size: 34 }, { ...axis(y), values: figures, ...(splits ? { splits, filter: (u, all) => all } : {}) }], series: [x, ...list],
      hooks: { ready: [(u) => u.over.addEventListener("click", () => { if (u.cursor.left >= 0) this.seek(u.posToVal(u.cursor.left, "x")); })] },
    });
    // decades alone, at most eight of them
    const decades = (u, i, min, max) => {
      const [lo, hi] = [Math.ceil(Math.log10(min) - 1e-9), Math.floor(Math.log10(max) + 1e-9)];
      const every = Math.max(1, Math.ceil((hi - lo) / 8));
      return Array.from({ length: Math.max(0, Math.floor((hi - lo) / every) + 1) }, (_, k) => 10 ** (lo + k * every));
    };
    const plain = { x: { time: false, range: () => [0, duration] } };
    this.plots = [
      new uPlot(options(0, [series("kinetic", "ink-6"), series("potential", "ink-7"), series("total", "ink-1")], plain, "energy [J]"), [[], [], [], []], this.places[0]),
      new uPlot(options(1, [series("residual [m/s]", "ink-9"), series("overlap [m]", "ink-8")], { ...plain, y: { distr: 3, log: 10 } }, "certificate", decades), [[], [], []], this.places[1]),
    ];
  }

  show(history) {
    const positive = (name) => (r) => (r[name] > 0 ? Math.max(r[name], 1e-18) : null);
    this.plots[0].setData(history.columns(["time", "kinetic", "potential", (r) => r.kinetic + r.potential]));
    const certificate = history.columns(["time", positive("residual"), positive("penetration")]);
    const empty = certificate.slice(1).every((c) => c.every((v) => v == null));
    this.plots[1].setData(empty ? [certificate[0], certificate[0].map(() => 1e-18), certificate[2]] : certificate);
  }
}
