// tab.mjs - the page in a headless Chromium, and the command it is compared with.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { chromium } from "playwright-core";
import { FLAGS } from "./flags.mjs";

export const root = new URL("../../", import.meta.url).pathname;
export const folder = mkdtempSync(`${tmpdir()}/carom-page-`);
export const [command, path] = process.argv.slice(2);
export const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });

export const must = (condition, what) => { if (!condition) throw new Error(what); };
export const equal = (got, wanted, what) => must(got === wanted, `${what}: ${got}, not ${wanted}`);

// what the command prints; status 4 is a step that was not solved to its tolerance, and an answer all the same
export const run = async (args, input) => {
  const running = promisify(execFile)(command, args, { encoding: "utf8", maxBuffer: 1 << 28 });
  running.child.stdin.end(input);
  try {
    return (await running).stdout;
  } catch (error) {
    if (error.code !== 4) throw error;
    return error.stdout;
  }
};
export const carom = async (verb, args, input) => JSON.parse(await run([verb, "--json", ...args], input));

// a file in a tab of its own, with few pixels because a processor draws them; errors of scripts and anything fetched are failures
export const openFile = async (address, options = {}) => {
  const tab = await browser.newPage({ viewport: { width: 1100, height: 640 }, deviceScaleFactor: 0.25, reducedMotion: "reduce", ...options });
  tab.setDefaultTimeout(60000);
  tab.faults = [];
  tab.on("pageerror", (e) => tab.faults.push(e.message));
  tab.on("console", (m) => { if (m.type() === "error") tab.faults.push(m.text()); });
  tab.on("request", (r) => { if (!/^(file|data|blob):/.test(r.url())) tab.faults.push(`fetched ${r.url()}`); });
  await tab.goto(address);
  await tab.waitForSelector("body[data-ready]");
  return tab;
};

// the page at a place of it: in a tab that another test has done with, or a new one
const idle = [];
export const openTab = async (hash = "#impulse&preset=generic", options = null) => {
  const tab = options ? null : idle.pop();
  if (!tab) return Object.assign(await openFile(`file://${path}${hash}`, options ?? {}), { plain: !options });
  await tab.evaluate((h) => new Promise((done) => {
    addEventListener("hashchange", () => setTimeout(done), { once: true });
    location.hash = "#";
    location.hash = h;
  }), hash);
  await tab.evaluate(() => { document.activeElement?.blur(); scrollTo(0, 0); });
  return tab;
};
// after a test that went well
export const release = (tab) => (tab.plain ? idle.push(tab) : tab.close());
export const calm = (tab) => must(tab.faults.length === 0, `errors in the page: ${tab.faults.join("; ")}`);
export const quiet = async (tab, what) => must(await tab.locator("#message").isHidden(), `${what}: ${await tab.locator("#message").textContent()}`);

export const setRange = (tab, selector, value) => tab.locator(selector).evaluate((e, v) => {
  e.value = v === "max" ? e.max : v;
  e.dispatchEvent(new Event("input", { bubbles: true }));
}, value);
export const runToEnd = async (tab) => {
  await setRange(tab, "#scrub", "max");
  await tab.waitForSelector("#hash[data-over=true]");
  return tab.locator("#hash code").textContent();
};
export const dropFile = (tab, name, text) => tab.evaluate(([n, t]) => {
  const data = new DataTransfer();
  data.items.add(new File([t], n));
  window.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}, [name, text]);

// share of a canvas's pixels that have a colour, which background, ground and text have not
export const coloured = (tab, selector) => tab.locator(selector).evaluate((canvas) => {
  const copy = Object.assign(document.createElement("canvas"), { width: 200, height: 120 });
  const pen = copy.getContext("2d");
  pen.drawImage(canvas, 0, 0, 200, 120);
  const { data } = pen.getImageData(0, 0, 200, 120);
  let count = 0;
  for (let i = 0; i < data.length; i += 4) count += Math.max(data[i], data[i + 1], data[i + 2]) - Math.min(data[i], data[i + 1], data[i + 2]) > 60 ? 1 : 0;
  return count / (200 * 120);
});
