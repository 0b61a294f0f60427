// shot.mjs PAGE OUT WIDTH SCHEME HASH [SCRIPT] - a picture of the page, for looking at it.
import { chromium } from "playwright-core";

const [page, out, width, scheme, hash, script] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--enable-unsafe-swiftshader"] });
const tab = await browser.newPage({ viewport: { width: Number(width), height: 900 }, colorScheme: scheme });
tab.on("console", (m) => console.log(m.type(), m.text()));
tab.on("pageerror", (e) => console.log("error", e.message));
await tab.goto(`file://${page}${hash ?? ""}`);
await tab.waitForSelector("body[data-ready]", { timeout: 60000 });
if (script) console.log(JSON.stringify(await tab.evaluate(script)));
await tab.waitForTimeout(500);
console.log("overflow", await tab.evaluate("document.documentElement.scrollWidth - innerWidth"));
await tab.screenshot({ path: out, fullPage: true });
await browser.close();
