// charts.js - numbers over time: lines or dots of one or more runs, on a plain or logarithmic axis.
import uPlot from "uplot";
import uplotStyle from "uplot/dist/uPlot.min.css";
import { make, ink } from "./dom.js";

const HEIGHT = 210;
const SMALLEST = 1e-18;  // shown on a logarithmic axis
const FONT = '"DejaVu Sans", sans-serif';
document.head.append(make("style", {}, uplotStyle));

const axis = (label) => ({ label, stroke: ink("ink-2"), grid: { stroke: ink("ink-3"), width: 1 }, ticks: { stroke: ink("ink-3"), width: 1 }, size: 62, labelSize: 18, font: `11px ${FONT}`, labelFont: `12px ${FONT}` });
const figures = (u, values) => values.map((v) => (v === 0 ? "0" : v == null ? "" : Math.abs(v) >= 1e4 || Math.abs(v) < 1e-3 ? v.toExponential(0) : String(Number(v.toPrecision(4)))));
const value = (u, v) => (v == null ? "–" : Math.abs(v) >= 1e-3 && Math.abs(v) < 1e5 || v === 0 ? v.toPrecision(5) : v.toExponential(2));

// decades alone, at most eight of them
const decades = (u, i, min, max) => {
  const [lo, hi] = [Math.ceil(Math.log10(min) - 1e-9), Math.floor(Math.log10(max) + 1e-9)];
  const every = Math.max(1, Math.ceil((hi - lo) / 8));
  return Array.from({ length: Math.max(0, Math.floor((hi - lo) / every) + 1) }, (_, k) => 10 ** (lo + k * every));
};

export class Chart {
  // series: { label, ink, dash, dots } each; seek(time) is called by a click
  constructor({ title, y, series, log = false, seek = () => {} }) {
    Object.assign(this, { y, series, log, seek, plot: null, data: null });
    this.place = make("figure", { role: "img", "aria-label": title }, make("figcaption", { class: "chart-title" }, title));
    new ResizeObserver(() => this.plot?.setSize(this.size())).observe(this.place);
  }

  size() { return { width: Math.max(240, this.place.clientWidth - 12), height: HEIGHT }; }

  // from scratch: another run, or other colours
  make(begin, end) {
    this.plot?.destroy();
    const { log, seek } = this;
    const series = this.series.map((s) => ({ label: s.label, stroke: ink(s.ink), width: s.dots ? 0 : 1.6, dash: s.dash, value, points: s.dots ? { show: true, size: 5, width: 1, fill: ink(s.ink) } : { show: false } }));
    this.plot = new uPlot({
      ...this.size(), scales: { x: { time: false, range: () => [begin, end > begin ? end : begin + 1] }, ...(log ? { y: { distr: 3, log: 10 } } : {}) },
      legend: { live: true }, cursor: { drag: { x: false, y: false } },
      axes: [{ ...axis("t [s]"), size: 34 }, { ...axis(this.y), values: figures, ...(log ? { splits: decades, filter: (u, all) => all } : {}) }],
      series: [{ label: "t", value }, ...series],
      hooks: { ready: [(u) => u.over.addEventListener("click", () => { if (u.cursor.left >= 0) seek(u.posToVal(u.cursor.left, "x")); })] },
    }, [[], ...this.series.map(() => [])], this.place);
    if (this.data) this.show(this.data);
  }

  // one table [times, values ...] for all series, or a list of tables to be put together
  show(data) {
    this.data = data;
    const tables = Array.isArray(data[0]?.[0]) ? data : [data];
    const [t, ...columns] = tables.length > 1 ? uPlot.join(tables) : tables[0];
    const kept = this.log ? columns.map((c) => c.map((v) => (v > 0 ? Math.max(v, SMALLEST) : null))) : columns;
    // an axis of decades needs something to stand on
    if (this.log && kept.every((c) => c.every((v) => v == null))) kept[0] = t.map(() => SMALLEST);
    this.plot.setData([t, ...kept]);
  }
}

// energy and certificate of one run, under its view
export const runCharts = (seek) => [
  new Chart({ title: "Energy", y: "energy [J]", series: [{ label: "kinetic", ink: "ink-6" }, { label: "potential", ink: "ink-7" }, { label: "total", ink: "ink-1" }], seek }),
  new Chart({ title: "Certificate: residual and overlap", y: "certificate", log: true, series: [{ label: "residual", ink: "ink-9" }, { label: "overlap [m]", ink: "ink-8" }], seek }),
];
export const showRun = ([energy, certificate], history) => {
  energy.show(history.columns(["time", "kinetic", "potential", (r) => r.kinetic + r.potential]));
  certificate.show(history.columns(["time", "residual", "penetration"]));
};
