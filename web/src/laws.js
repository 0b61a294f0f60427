// laws.js - how laws look, and the table of what each predicts.
import { make, shown, shownVector } from "./dom.js";

// colours of the pictures of `carom region`, a lighter one for dark pages, in the order of the catalogue
const COLORS = [
  ["#117733", "#4bc26f"], ["#44aa99", "#5cc9b6"], ["#0072b2", "#4aa8e0"], ["#d55e00", "#f08a3c"],
  ["#cc79a7", "#e09ac0"], ["#009e73", "#2dc492"], ["#332288", "#9c8df0"], ["#c98a00", "#e69f00"],
  ["#882255", "#d97aa8"], ["#7d7d28", "#b9b94a"], ["#2f8fc4", "#56b4e9"], ["#aa4499", "#d67cc6"],
  ["#661100", "#cf7c63"],
];
let order = [];
export const orderLaws = (names) => { order = names; };
export const isDark = () => getComputedStyle(document.documentElement).getPropertyValue("--paper").trim() < "#8";
export const lawColor = (law) => {
  const place = order.indexOf(law);
  return (place < 0 ? ["#555555", "#aaaaaa"] : COLORS[place % COLORS.length])[isDark() ? 1 : 0];
};

const cell = (text, props = {}) => make("td", props, text);

const verdict = (result) => {
  if (result.permissible) return cell("inside");
  const out = Object.entries(result.margins).filter(([, m]) => typeof m === "number" && m < 0).map(([name]) => name);
  return cell(`outside: ${out.join(", ") || "by rounding"}`, { class: "bad" });
};

const bodyCells = (result) => (result.bodies ?? []).map((body) => make("td", { title: JSON.stringify(body) },
  make("div", {}, shownVector(body.velocity, 3)), make("div", {}, Array.isArray(body.omega) ? shownVector(body.omega, 3) : shown(body.omega, 3))));

const lawRow = (result, columns, { hidden, toggle, light }, info) => {
  const name = result.law;
  const box = make("input", { type: "checkbox", checked: !hidden.has(name), "aria-label": `show ${name}`, onchange: () => toggle(name) });
  const swatch = make("span", { class: "swatch", style: `background:${lawColor(name)}` });
  const head = make("th", { scope: "row", title: info?.title ?? "" }, make("label", {}, box, swatch, name));
  const row = make("tr", { "data-law": name, onpointerenter: () => light(name), onpointerleave: () => light(null) }, head);
  if (result.error) {
    row.append(make("td", { colspan: columns, class: "refused" }, result.error.message));
    return row;
  }
  const numbers = { "data-p": JSON.stringify(result.P), title: `P = ${JSON.stringify(result.P)}` };
  row.append(cell(shownVector(result.P), numbers), cell(shownVector(result.V_plus)),
    cell(shown(result.energy_change), { class: result.creates_energy ? "bad" : "" }), verdict(result),
    cell(result.regime), ...bodyCells(result));
  return row;
};

export const fillTable = (place, { impact }, collision, catalogue, looks) => {
  const heads = ["law", "P [N s]", "V after [m/s]", "energy change [J]", "region", "regime",
    ...(collision.bodies ? ["a after: v, ω", "b after: v, ω"] : [])];
  place.replaceChildren(make("table", {},
    make("caption", {}, "What each law predicts, in the coordinates of the collision"),
    make("thead", {}, make("tr", {}, ...heads.map((h) => make("th", { scope: "col" }, h)))),
    make("tbody", {}, ...impact.results.map((r) => lawRow(r, heads.length - 1, looks, catalogue.laws.find((l) => l.name === r.law))))));
};
