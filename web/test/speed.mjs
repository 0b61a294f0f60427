// speed.mjs CAROM WASM SCENE - steps per second of a scene in WebAssembly (node runs what Chromium runs) and
// natively, one after the other, on this machine as it is now.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { Carom } from "../src/carom.js";

const [command, wasm, path] = process.argv.slice(2);
const carom = await Carom.load(readFileSync(wasm));
const scene = carom.open(readFileSync(path, "utf8"));
const begun = process.cpuUsage();
let steps = 0, slowest = 0;
while (true) {
  const start = performance.now();
  if (!scene.step()) break;
  slowest = Math.max(slowest, performance.now() - start);
  steps++;
}
const seconds = process.cpuUsage(begun).user / 1e6;
// status 4: a step was not solved to its tolerance; the answer counts all the same
const run = spawnSync(command, ["run", path, "--json"], { encoding: "utf8", maxBuffer: 1 << 28 });
const native = JSON.parse(run.stdout);
console.log(`${scene.about.bodies.length - 1} bodies, ${steps} steps: WebAssembly ${(steps / seconds).toFixed(0)} steps/s (slowest ${slowest.toFixed(0)} ms), `
  + `natively ${(native.steps / native.wall_time).toFixed(0)} steps/s, same state ${scene.hash() === native.hash}`);
