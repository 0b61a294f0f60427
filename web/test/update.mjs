// update.mjs WASM SCENE - processor time of a picture without its drawing: node runs what the page runs between two pictures, the steps
// of a sixtieth of a second (in the page they are the worker's) and the update of what is seen.
import { readFileSync } from "node:fs";
import { Carom } from "../src/carom.js";

const [wasm, path] = process.argv.slice(2);
// a page that draws nothing
const pen = new Proxy({}, { get: () => () => {}, set: () => true });
globalThis.document = { createElement: () => ({ getContext: () => pen, style: {}, append() {} }), documentElement: {} };
globalThis.getComputedStyle = () => ({ getPropertyValue: () => "#336699" });
globalThis.HTMLCanvasElement = class {};
const { Stage } = await import("../src/stage.js");

const carom = await Carom.load(readFileSync(wasm));
const scene = carom.open(readFileSync(path, "utf8"));
const stage = new Stage(scene.about);
stage.frame(stage.bounds([scene.poses()]), true);
stage.recolor();
const spent = { steps: 0, update: 0 };
const timed = (part, work) => { const begun = process.cpuUsage(); work(); spent[part] += process.cpuUsage(begun).user / 1000; };
let pictures = 0, owed = 0, going = true;
while (going) {
  owed += 1 / 60;
  timed("steps", () => { for (; going && owed > 0; owed -= scene.about.dt) going = scene.step(); });
  timed("update", () => stage.pose(scene.poses()));
  pictures++;
}
console.log(`${scene.about.bodies.length - 1} bodies, ${pictures} pictures at 60 a second: steps ${(spent.steps / pictures).toFixed(1)} ms, update ${(spent.update / pictures).toFixed(1)} ms of a processor each`);
