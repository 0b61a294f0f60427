// outcomes.js - what rules say of one impact: velocities, energy, ties, and all outcomes of the feasible rule.
import { make, shown } from "./dom.js";

const MOST = 24;  // velocities or outcomes shown

// velocities as bars about a line, one scale for all
const bars = (v, most) => make("span", { class: "bars", "aria-hidden": "true" }, ...v.slice(0, MOST).map((x) => {
  const size = Math.max(1, Math.round((14 * Math.abs(x)) / most));
  return make("span", { class: x < 0 ? "down" : "", style: `height:${size}px;transform:translateY(${x < 0 ? size / 2 : -size / 2}px)` });
}));

const numbers = (v) => `${v.slice(0, 8).map((x) => shown(Math.abs(x) < 1e-12 ? 0 : x)).join(", ")}${v.length > 8 ? ", …" : ""}`;
const largest = (rows) => Math.max(1e-12, ...rows.flat().map(Math.abs));

const uniqueness = (r) => (r.tie ? `tie: ${r.tie}` : r.unique === false ? "one of several" : r.unique ? "the only one" : "");

export const resolveTable = (answer, catalogue) => {
  const most = largest(answer.results.filter((r) => r.v).map((r) => r.v));
  const rows = answer.results.map((r) => {
    const head = make("th", { scope: "row", title: catalogue.rules.find((x) => x.name === r.rule)?.title ?? "" }, r.rule);
    if (r.error) return make("tr", { "data-rule": r.rule }, head, make("td", { colspan: 5, class: "refused" }, r.error.message));
    return make("tr", { "data-rule": r.rule, "data-v": JSON.stringify(r.v) }, head, make("td", {}, bars(r.v, most)), make("td", { title: JSON.stringify(r.v) }, numbers(r.v)),
      make("td", { class: r.audit.creates_energy ? "bad" : "" }, shown(r.energy_change)),
      make("td", { class: r.audit.permissible ? "" : "bad" }, r.audit.permissible ? "inside" : "outside"), make("td", { class: "notes" }, [uniqueness(r), ...r.notes].filter(Boolean).join("; ")));
  });
  const heads = ["rule", "", "velocities after", "energy change [J]", "region", "notes"];
  return make("div", { class: "wide", id: "resolved" }, make("table", {}, make("thead", {}, make("tr", {}, ...heads.map((h) => make("th", { scope: "col" }, h)))), make("tbody", {}, ...rows)));
};

const same = (a, b) => a.every((x, i) => Math.abs(x - b[i]) < 1e-9);

export const outcomeTable = (answer) => {
  const r = answer.results.find((x) => x.rule === "feasible" && x.outcomes);
  if (!r || r.outcomes.length === 0) return [];
  const most = largest(r.outcomes);
  const rows = r.outcomes.slice(0, MOST).map((v, i) => make("tr", { class: same(v, r.v) ? "chosen" : "" }, make("th", { scope: "row" }, same(v, r.v) ? `${i + 1}, the one returned` : String(i + 1)),
    make("td", {}, bars(v, most)), make("td", { title: JSON.stringify(v) }, numbers(v))));
  const more = r.outcomes.length > MOST ? `, the first ${MOST}` : "";
  return [make("h2", {}, `All outcomes of the feasible rule: ${r.outcomes.length}${more}`),
    make("div", { class: "wide", id: "outcomes" }, make("table", {}, make("thead", {}, make("tr", {}, ...["outcome", "", "velocities after"].map((h) => make("th", { scope: "col" }, h)))), make("tbody", {}, ...rows)))];
};
