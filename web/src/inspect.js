// inspect.js - the body that is chosen: what it is, and fields that change it while the scene runs.
import { make, say, select, shown } from "./dom.js";
import { materialOf, withCopy, withMass, withMaterial, withoutBody } from "./edit.js";

const BESIDE = 0.12;  // where a copy appears, of the scene's radius

export class Inspect {
  // now(): { run, stage, scene } with the scene's object; edit(change) makes another scene of it
  constructor({ laws, rules, now, edit, follow, hold, push }) {
    Object.assign(this, { now, edit, body: 0 });
    const field = (label, id, change) => {
      const input = make("input", { type: "number", id, step: "any", min: 0, onchange: () => this.number(input, label, change) });
      return { input, row: make("label", {}, label, input) };
    };
    this.bodies = select("Body", [{ value: "0", text: "none" }], "0", (v) => this.choose(Number(v)));
    this.bodies.box.id = "body";
    this.mass = field("mass [kg]", "body-mass", (value) => (scene, about) => withMass(scene, about.bodies[this.body].name, value, about.parts[this.body].mass));
    this.mu = field("μ", "body-mu", (mu) => (scene, about) => withMaterial(scene, about.bodies[this.body].name, { mu }));
    this.e = field("e", "body-e", (e) => (scene, about) => withMaterial(scene, about.bodies[this.body].name, { e }));
    const button = (text, id, title, act) => make("button", { type: "button", id, title, onclick: () => { if (this.body) act(); else say("Choose a body first: click on it, or take it from the list."); } }, text);
    this.follow = make("input", { type: "checkbox", id: "follow", onchange: () => follow(this.follow.checked) });
    const later = { value: "", text: "as it is" };
    const change = (path, box) => (value) => { if (!value) return; this.edit((scene) => ({ ...scene, impact: { ...scene.impact, [path]: value } })); box().value = ""; };
    this.law = select("law from now on", [later, ...laws], "", change("law", () => this.law.box));
    this.rule = select("rule from now on", [later, ...rules], "", change("rule", () => this.rule.box));
    this.law.box.id = "law-now";
    this.rule.box.id = "rule-now";
    this.place = make("fieldset", {}, make("legend", {}, "Change"), this.bodies.row, this.mass.row, this.mu.row, this.e.row,
      button("Delete", "delete", "the body and what hangs on it (Delete)", () => this.remove()),
      button("Duplicate", "duplicate", "another one beside it (d)", () => this.duplicate()),
      button("Hold", "hold", "hold and let go (g); arrow keys then pull it", () => hold(this.body)),
      button("Push", "push", "away from you (p)", () => push(this.body)),
      make("label", {}, this.follow, "follow"), this.law.row, this.rule.row);
  }

  // of a new run; the body of this name stays chosen
  reset(run, name) {
    const parts = run.recorded ? [] : run.about.parts;
    this.place.disabled = run.recorded;
    this.bodies.box.replaceChildren(make("option", { value: "0" }, "none"), ...parts.flatMap((part, i) => (i > 0 && part.forced ? [make("option", { value: String(i) }, run.about.bodies[i].name)] : [])));
    this.choose(Math.max(0, run.about.bodies.findIndex((b, i) => i > 0 && b.name === name)));
  }

  get name() { return this.body ? this.now().run?.about.bodies[this.body]?.name : null; }

  // a field that is being typed in stays as it is, unless it was refused
  choose(body, refused = false) {
    const { run, scene } = this.now();
    this.body = run?.about.parts?.[body]?.forced ? body : 0;
    this.bodies.box.value = String(this.body);
    const name = this.name, material = name && scene ? scene.materials?.[materialOf(scene, name)] : null;
    const set = ({ input }, value) => { if (document.activeElement === input && !refused) return; input.value = typeof value === "number" ? value : ""; input.placeholder = typeof value === "string" ? value : value != null && typeof value !== "number" ? "table" : ""; input.disabled = !this.body; };
    set(this.mass, name ? Number(shown(run.about.parts[this.body].mass, 7).replace("−", "-")) : null);
    set(this.mu, name ? material?.mu ?? material?.ready ?? 0.5 : null);
    set(this.e, name ? material?.e ?? material?.ready ?? 0 : null);
  }

  number(input, label, change) {
    const value = Number(input.value);
    if (input.value.trim() === "" || !Number.isFinite(value) || value < 0) { say(`${label} must be a number of 0 or more.`); this.choose(this.body, true); return; }
    if (this.body) this.edit(change(value));
  }

  remove() { const { body } = this; this.edit((scene, about) => withoutBody(scene, about, body)); }
  duplicate() {
    const { body } = this, { stage } = this.now();
    const shift = stage.flat ? [BESIDE * stage.radius, BESIDE * stage.radius, 0] : [BESIDE * stage.radius, 0, 0].map((x, k) => x + stage.up.toArray()[k] * BESIDE * stage.radius);
    this.edit((scene, about) => withCopy(scene, about, body, shift));
  }
}
