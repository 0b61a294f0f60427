// impulse.js - the impulse explorer: one collision, all laws, live.
//
// The state is the JSON that `carom impact` takes; sliders, handles and presets change it, the library answers,
// and picture, solid and table are drawn from the answers alone.
import examples from "examples";
import { make, say, save, select } from "./dom.js";
import { writeAddress } from "./address.js";
import { drawFlat } from "./flat.js";
import { Solid } from "./solid.js";
import { drawBodies } from "./bodies.js";
import { fillTable } from "./laws.js";
import { asMass, collisionOf, sliders } from "./collision.js";
import { savePicture } from "./picture.js";

export const impulseView = (carom, place, values) => {
  let collision = null;
  let chosen = "generic";
  let after = "routh";  // law whose velocities after are drawn
  let side = null;      // the side to which the picture's tangent points
  let last = null;      // answers to the collision
  let held = {};        // scales of the drawings
  let holding = false;  // while a handle is moved
  const hidden = new Set();

  const presets = select("Collision", Object.keys(examples.impacts), chosen, (name) => preset(name));
  const comment = make("p", { class: "comment" });
  const controls = make("div", { class: "sliders" });
  const flat = make("figure", { class: "flat" });
  const solid = new Solid(make("div", { class: "solid" }));
  const bodies = make("figure", { class: "bodies" });
  const table = make("div", { class: "wide", id: "laws" });

  const answer = () => {
    const text = JSON.stringify(collision);
    try {
      return { picture: carom.picture(text), impact: carom.impact(JSON.stringify({ ...collision, law: "all" })) };
    } catch (error) {
      say(error.message);
      return null;
    }
  };

  const light = (law) => place.querySelectorAll("[data-law]").forEach((e) => e.classList.toggle("lit", e.dataset.law === law));
  const toggle = (law) => { if (!hidden.delete(law)) hidden.add(law); address(); draw(); };
  const choose = (law) => { after = law; address(); draw(); };
  const address = () => writeAddress("impulse", { c: JSON.stringify(collision), after: after === "routh" ? "" : after, hide: [...hidden].join(",") });

  const hold = (on) => { holding = on; if (!on) draw(); };

  const draw = () => {
    const got = answer();
    if (!got) return;
    last = got;
    if (!holding) held = {};
    const looks = { hidden, light, change, hold, held, side, face: (t) => { side = t; } };
    drawFlat(flat, got.picture, collision, looks);
    solid.draw(got.picture, hidden);
    drawBodies(bodies, got, collision, { law: after, choose, change, hold, held });
    fillTable(table, got, collision, carom.catalogue, { hidden, toggle, light });
    comment.textContent = collision.comment ?? "";
    reduce.hidden = !collision.bodies;
  };

  // a new value from a slider or a handle; the controls follow where it was a handle
  const change = (next, quiet = false) => {
    collision = next;
    say("");
    address();
    if (!quiet) sliders(controls, collision, change);
    draw();
  };

  const preset = (name) => {
    chosen = name;
    side = null;
    change(collisionOf(JSON.parse(examples.impacts[name])));
  };

  const open = ({ c, preset: name, after: law, hide, name: file }) => {
    const known = new Set(carom.catalogue.laws.map((l) => l.name));
    after = known.has(law) ? law : "routh";
    hidden.clear();
    hide?.split(",").filter((l) => known.has(l)).forEach((l) => hidden.add(l));
    side = null;
    if (c) {
      try {
        const given = collisionOf(JSON.parse(c));
        carom.impact(JSON.stringify({ ...given, law: "all" }));
        presets.box.value = examples.impacts[given.name] ? given.name : "";
        change(given);
        return;
      } catch (error) {
        preset(chosen);
        return say(`${file ?? "The collision of the address"} is refused: ${error.message}`);
      }
    }
    presets.box.value = examples.impacts[name] ? name : chosen;
    preset(presets.box.value);
    if (name && !examples.impacts[name]) say(`No collision is called ${name}.`);
  };

  const name = () => collision.name ?? "collision";
  const copyLink = async (e) => {
    const button = e.target;
    try {
      await navigator.clipboard.writeText(location.href);
      button.textContent = "Copied";
    } catch {
      // some browsers keep the clipboard from pages that are files
      say("The link is the address of this page, in the browser's bar.");
    }
  };
  const reduce = make("button", { type: "button", id: "reduce", title: "leave the bodies: only W and V are kept", onclick: () => change(asMass(collision, last.picture)) }, "As W and V");
  place.append(
    make("div", { class: "controls" }, presets.row, reduce,
      make("button", { type: "button", id: "save-svg", onclick: () => savePicture(flat.querySelector("svg"), `${name()}.svg`) }, "Save SVG"),
      make("button", { type: "button", id: "save-png", onclick: () => savePicture(flat.querySelector("svg"), `${name()}.png`) }, "Save PNG"),
      make("button", { type: "button", id: "save-json", onclick: () => save(`${name()}.json`, `${JSON.stringify(collision, null, 2)}\n`, "application/json") }, "Save JSON"),
      make("button", { type: "button", id: "copy-link", onclick: copyLink }, "Copy link")),
    comment,
    make("div", { class: "explorer" },
      make("div", { class: "panel" }, bodies, controls), flat,
      make("figure", { class: "space" }, solid.place)),
    table);
  open(values);
  return { open, enter: () => solid.resize(), recolor: () => { draw(); } };
};
