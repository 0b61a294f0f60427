// shots.mjs CAROM PAGE REPORT OUT [all] - pictures of every view and of a report, for docs/pictures and for looking at.
//
// Without `all` those of the documents: light and wide, and one of a phone, dark. With it also the other widths and
// the other light, as NAME-WIDTH-SCHEME.png.
import { rmSync } from "node:fs";
import { browser, folder, openFile, setRange } from "./tab.mjs";

const [, path, report, out, all] = process.argv.slice(2);
const at = (selector, time) => async (tab) => {
  await setRange(tab, selector, String(time));
  await tab.waitForFunction(([s, t]) => Number.parseFloat(document.querySelector(s.replace("scrub", "clock")).textContent) >= t - 1e-3, [selector, time]);
};
// hash, what is done before, height of the picture
const SHOTS = {
  "web-impulse": [path, "#impulse&preset=tumbling-box", async () => {}, 1300],
  "web-rules": [path, "#rules&name=pool-break", at("#rules-scrub", 0.15), 1300],
  "web-hand": [path, "#scene&name=ant", async (tab) => {
    const box = await tab.locator("#scene .stage canvas").boundingBox();
    await tab.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await tab.mouse.down();
    for (let i = 1; i <= 10; i++) { await tab.mouse.move(box.x + box.width / 2 + 8 * i, box.y + box.height / 2 - 14 * i); await tab.waitForTimeout(80); }
  }, 1250],
  "web-scene": [path, "#scene&name=dominoes", at("#scrub", 0.4), 1250],
  report: [report, "#t=0.2", async () => {}, 1100],
};

const shoot = async (name, [file, hash, before, height], width, colorScheme, target) => {
  const tab = await openFile(`file://${file}${hash}`, { viewport: { width, height: width < 600 ? 1800 : height }, deviceScaleFactor: 1, colorScheme });
  await before(tab);
  await tab.waitForTimeout(1500);
  await tab.screenshot({ path: `${out}/${target}.png` });
  console.log(`${target}.png${tab.faults.length ? `: ${tab.faults.join("; ")}` : ""}`);
  await tab.close();
};

for (const [name, shot] of Object.entries(SHOTS)) {
  await shoot(name, shot, name === "report" ? 1200 : 1400, "light", name);
  if (!all) continue;
  for (const [width, scheme] of [[1280, "dark"], [390, "light"], [390, "dark"]]) await shoot(name, shot, width, scheme, `${name}-${width}-${scheme}`);
}
await shoot("web-phone", SHOTS["web-impulse"], 400, "dark", "web-phone");
await browser.close();
rmSync(folder, { recursive: true });
