// main.js - starts the page: the library, the three views, what the address or the command asks for.
import { Carom } from "./carom.js";
import { make, say } from "./dom.js";
import { readAddress } from "./address.js";
import { orderLaws } from "./laws.js";
import { impulseView } from "./impulse.js";
import { rulesView } from "./rules.js";
import { sceneView } from "./scene.js";

const VIEWS = { impulse: impulseView, rules: rulesView, scene: sceneView };
const byId = (id) => document.getElementById(id);
const dark = () => (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

const start = async () => {
  const carom = await Carom.load(await globalThis.unpack("wasm").arrayBuffer());
  orderLaws(carom.catalogue.laws.map((law) => law.name));
  const made = {};
  let current = null;

  const show = (name, values) => {
    for (const view of Object.keys(VIEWS)) {
      byId(view).hidden = view !== name;
      const tab = byId(`tab-${view}`);
      tab.setAttribute("aria-selected", view === name);
      tab.tabIndex = view === name ? 0 : -1;
    }
    made[current]?.leave?.();
    current = name;
    say("");
    try {
      if (!made[name]) made[name] = VIEWS[name](carom, byId(name), values ?? {});
      else if (values) made[name].open(values);
      made[name].enter?.();
    } catch (error) {
      console.error(error);
      say(error.message);
    }
  };

  const names = Object.keys(VIEWS);
  for (const name of names) {
    byId(`tab-${name}`).addEventListener("click", () => show(name));
    byId(`tab-${name}`).addEventListener("keydown", (e) => {
      const turn = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
      if (!turn) return;
      const next = names[(names.indexOf(name) + turn + names.length) % names.length];
      byId(`tab-${next}`).focus();
      show(next);
    });
  }
  const theme = byId("theme");
  const themeChanged = () => {
    theme.textContent = dark() ? "Light" : "Dark";
    Object.values(made).forEach((view) => view.recolor?.());
  };
  theme.addEventListener("click", () => {
    document.documentElement.dataset.theme = dark() ? "light" : "dark";
    themeChanged();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", themeChanged);
  addEventListener("hashchange", () => {
    const { view, values } = readAddress();
    if (VIEWS[view]) show(view, values);
  });
  // a file dropped anywhere is a collision where it has a normal, else a scene or a recorded trajectory
  const isCollision = (text) => {
    try {
      return Array.isArray(JSON.parse(text).n);
    } catch {
      return false;
    }
  };
  addEventListener("dragover", (e) => e.preventDefault());
  addEventListener("drop", async (e) => {
    e.preventDefault();
    const file = e.dataTransfer?.files?.[0];
    if (!file) return undefined;
    const text = await file.text();
    if (isCollision(text)) return show("impulse", { c: text, name: file.name });
    show("scene");
    return made.scene.load(file.name, text);
  });

  byId("footer").replaceChildren(`carom ${carom.catalogue.version} (numerics revision ${carom.catalogue.numerics}), the library itself, compiled to WebAssembly. Units: SI.`);
  const opened = JSON.parse(byId("opened").textContent);
  const { view, values } = readAddress();
  if (VIEWS[view]) {
    show(view, values);
  } else if (opened) {
    show("scene", { opened });
  } else {
    show("impulse");
  }
  themeChanged();
  document.body.dataset.ready = "true";
};

start().catch((error) => {
  console.error(error);
  say(`The page cannot start: ${error.message}`);
  document.body.append(make("p", {}, "It needs a browser with WebAssembly and DecompressionStream."));
});
