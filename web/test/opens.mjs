// opens.mjs PAGE - the page of carom view in Chromium: it gets ready, and a step of its scene has a hash.
import { chromium } from "playwright-core";
import { FLAGS } from "./flags.mjs";

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });
const tab = await browser.newPage({ reducedMotion: "reduce" });
await tab.goto(`file://${process.argv[2]}`);
await tab.waitForSelector("body[data-ready]", { timeout: 120000 });
await tab.click("#step");
await tab.waitForSelector("#hash[data-steps='1']", { timeout: 120000, state: "attached" });
console.log(await tab.locator("#hash code").textContent());
await browser.close();
