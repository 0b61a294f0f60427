// events.js - the events of a run as a table: impacts and new contacts.
import { make, shown, shownVector } from "./dom.js";

const MOST = 200;

export const eventTable = (place, run) => {
  const name = (i) => run.about.bodies[i]?.name ?? "";
  const rows = run.events.slice(0, MOST).map((e) => make("tr", {}, ...[e.time.toFixed(6), name(e.a), name(e.b), shown(e.approach),
    shown(Math.hypot(...e.impulse)), shownVector(e.point), shown(e.energyChange)].map((t) => make("td", {}, t))));
  const heads = ["time [s]", "body", "other", "approach [m/s]", "impulse [N s]", "point [m]", "energy change [J]"];
  const more = run.events.length > MOST ? ` (the first ${MOST})` : "";
  place.replaceChildren(make("summary", {}, `Events: ${run.events.length}${more}`),
    make("div", { class: "wide" }, make("table", {}, make("thead", {}, make("tr", {}, ...heads.map((h) => make("th", { scope: "col" }, h)))), make("tbody", {}, ...rows))));
};
