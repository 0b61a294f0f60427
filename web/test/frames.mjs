// frames.mjs PAGE SCENE [SECONDS] - steps and pictures per second of a scene played in headless Chromium, drawn,
// what its main thread did meanwhile, and the time of a picture: scripts of the page, which move and light what is seen, and the
// graphics process. The graphics are software's where there is no card; speed.mjs has the time of the steps, which the worker takes.
// What is compiled and made once, in the first second, does not count. Calls of WebGL that draw are counted too.
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";
import { FLAGS } from "./flags.mjs";

const [page, path, seconds = "6"] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });
const tab = await browser.newPage({ viewport: { width: 1280, height: 900 } });
await tab.addInitScript(() => {
  window.drawCalls = 0;
  for (const name of ["drawArrays", "drawElements", "drawArraysInstanced", "drawElementsInstanced", "drawRangeElements"]) {
    const own = WebGL2RenderingContext.prototype[name];
    WebGL2RenderingContext.prototype[name] = function (...all) { window.drawCalls++; return own.apply(this, all); };
  }
});
await tab.goto(`file://${page}#scene&name=bouncing-ball`);
await tab.waitForSelector("body[data-ready]");
await tab.evaluate(([name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name));
  window.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}, [path, readFileSync(path, "utf8")]);
await tab.waitForSelector("#hash[data-steps='0']");
await tab.click("#play");
await tab.waitForTimeout(1000);
const watch = await tab.context().newCDPSession(tab);
await watch.send("Profiler.enable");
await watch.send("Profiler.start");
const system = await browser.newBrowserCDPSession();
const drawing = async () => (await system.send("SystemInfo.getProcessInfo")).processInfo.filter(({ type }) => type === "GPU").reduce((sum, { cpuTime }) => sum + cpuTime, 0);
const drawn = await drawing();
const seen = await tab.evaluate(async (ms) => {
  const steps = () => Number(document.getElementById("hash").dataset.steps);
  const begun = performance.now(), from = steps(), calls = window.drawCalls;
  let pictures = 0;
  while (performance.now() - begun < ms && document.getElementById("hash").dataset.over !== "true") {
    await new Promise(requestAnimationFrame);
    pictures++;
  }
  return { pictures, calls: window.drawCalls - calls, steps: steps() - from, seconds: (performance.now() - begun) / 1000 };
}, 1000 * Number(seconds));
const graphics = 1000 * (await drawing() - drawn);
const { profile } = await watch.send("Profiler.stop");
await browser.close();

const names = new Map(profile.nodes.map((n) => [n.id, n.callFrame]));
const spent = {};
profile.samples.forEach((id, i) => {
  const { functionName, url } = names.get(id);
  const part = url.startsWith("wasm") ? "library" : { "(idle)": "idle", "(garbage collector)": "garbage", "(program)": "browser" }[functionName] ?? "scripts";
  spent[part] = (spent[part] ?? 0) + profile.timeDeltas[i] / 1000;
});
console.log(`${(seen.steps / seen.seconds).toFixed(0)} steps/s and ${(seen.pictures / seen.seconds).toFixed(0)} pictures/s over ${seen.seconds.toFixed(1)} s; main thread: `
  + Object.entries(spent).map(([part, ms]) => `${part} ${((100 * ms) / (1000 * seen.seconds)).toFixed(0)} %`).join(", ")
  + `; a picture ${(((spent.scripts ?? 0) + (spent.garbage ?? 0)) / seen.pictures).toFixed(1)} ms of scripts, ${(graphics / seen.pictures).toFixed(0)} ms of the graphics process, ${(seen.calls / seen.pictures).toFixed(1)} calls that draw`);
if (process.env.CAROM_VERBOSE) {
  const own = {};
  profile.samples.forEach((id, i) => { const f = names.get(id); if (!f.url.startsWith("wasm")) own[`${f.functionName || "?"}:${f.columnNumber}`] = (own[`${f.functionName || "?"}:${f.columnNumber}`] ?? 0) + profile.timeDeltas[i] / 1000; });
  Object.entries(own).sort((a, b) => b[1] - a[1]).slice(0, 15).forEach(([name, ms]) => console.log(`${ms.toFixed(0)} ms ${name}`));
}
