// page.mjs CAROM PAGE - the page and reports in headless Chromium: what they show against what the command says.
//
// TOGETHER tests run at a time, each in its tab; a tab goes on to the next test. CAROM_WEB_TEST=words runs those that have the words in
// their name. Exit status 1 where a test fails.
import { rmSync } from "node:fs";
import { browser, folder, release } from "./tab.mjs";
import impulse from "./impulse.mjs";
import views from "./views.mjs";
import report from "./report.mjs";
import touch from "./touch.mjs";

const TOGETHER = 3;
const only = process.env.CAROM_WEB_TEST ?? "";
const waiting = Object.entries({ ...impulse, ...views, ...report, ...touch }).filter(([name]) => name.includes(only));
let failed = 0;
const work = async () => {
  while (waiting.length) {
    const [name, test] = waiting.shift();
    const begun = Date.now();
    try {
      await release(await test());
      console.log(`pass  ${name} (${((Date.now() - begun) / 1000).toFixed(1)} s)`);
    } catch (error) {
      failed++;
      console.log(`FAIL  ${name}: ${error.message}`);
    }
  }
};
await Promise.all(Array.from({ length: TOGETHER }, work));
await browser.close();
rmSync(folder, { recursive: true });
process.exit(failed > 0 ? 1 : 0);
