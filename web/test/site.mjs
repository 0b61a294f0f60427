// site.mjs SITE [SHOTS] - the static site in a browser: every kind of page at desk and phone width, light and dark, the
// search; nothing is fetched from elsewhere. With SHOTS pictures of every page go there. Links are site_links.py's.
import { chromium } from "playwright-core";
import { FLAGS } from "./flags.mjs";

const [site, shots] = process.argv.slice(2);
const must = (condition, what) => { if (!condition) throw new Error(what); };
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });
const faults = [];
const open = async (page, options) => {
  const tab = await browser.newPage({ reducedMotion: "reduce", ...options });
  tab.on("pageerror", (e) => faults.push(`${page}: ${e.message}`));
  // what a tab that goes on to the next page gives up is not missing
  tab.on("requestfailed", (r) => { if (r.failure()?.errorText !== "net::ERR_ABORTED") faults.push(`${page}: no ${r.url()}`); });
  tab.on("request", (r) => { if (!/^(file|data|blob):/.test(r.url())) faults.push(`${page}: fetched ${r.url()}`); });
  await tab.goto(`file://${site}/${page}`);
  return tab;
};

// nothing is wider than the window, and text has contrast with what is behind it
const checkLayout = async (tab, page, width) => {
  const wide = await tab.evaluate(() => document.documentElement.scrollWidth);
  must(wide <= width, `${page} at ${width}: ${wide} pixels wide`);
  const contrast = await tab.evaluate(() => {
    const numbers = (c) => c.match(/[\d.]+/g).map(Number);
    const light = (c) => numbers(c).slice(0, 3).map((x) => x / 255).map((x) => (x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4))
      .reduce((sum, x, i) => sum + x * [0.2126, 0.7152, 0.0722][i], 0);
    const behind = (e) => { while (e) { const c = getComputedStyle(e).backgroundColor; if ((numbers(c)[3] ?? 1) > 0) return c; e = e.parentElement; } return "rgb(255,255,255)"; };
    let worst = [99, ""];
    for (const e of document.querySelectorAll("p, li, td, th, a, h1, h2, code, summary, figcaption")) {
      if (!e.textContent.trim() || e.closest("[hidden]") || e.matches(".anchor")) continue;
      const [a, b] = [light(getComputedStyle(e).color), light(behind(e))].sort((x, y) => y - x);
      const ratio = (a + 0.05) / (b + 0.05);
      if (ratio < worst[0]) worst = [ratio, e.outerHTML.slice(0, 80)];
    }
    return worst;
  });
  must(contrast[0] >= 4.5, `${page}: contrast ${contrast[0].toFixed(2)} at ${contrast[1]}`);
};

const WIDTHS = [1280, 390];
const KINDS = ["index.html", "gallery.html", "docs/index.html", "docs/coming-from.html", "docs/choose.html", "docs/laws/routh.html", "docs/scenes.html",
  "docs/tutorials/first-scene.html", "docs/laws/index.html", "source/examples/first_impact.c.html", "README.html", "api/index.html", "api/resolve.html"];
const checkPages = async () => {
  for (const page of KINDS) {
    const tab = await open(page, { viewport: { width: WIDTHS[0], height: 900 } });
    await tab.waitForSelector("body[data-ready]");
    const broken = await tab.evaluate(async () => {
      const images = [...document.images];
      for (const image of images) image.loading = "eager";
      await Promise.all(images.map((image) => image.decode().catch(() => {})));
      return images.filter((image) => image.naturalWidth === 0).map((image) => image.src);
    });
    must(broken.length === 0, `${page}: pictures do not show: ${broken}`);
    for (const width of WIDTHS) {
      await tab.setViewportSize({ width, height: 900 });
      for (const colorScheme of ["light", "dark"]) {
        await tab.emulateMedia({ colorScheme });
        await checkLayout(tab, page, width);
        if (shots) await tab.screenshot({ path: `${shots}/${page.replace(/[/.]/g, "-")}-${width}-${colorScheme}.png` });
      }
    }
    await tab.close();
  }
};

const checkMath = async () => {
  const tab = await open("docs/laws/routh.html", {});
  const heights = await tab.locator("math").evaluateAll((all) => all.map((e) => e.getBoundingClientRect().height));
  must(heights.length > 10 && Math.min(...heights) > 8, `formulas: ${heights.length}`);
  must(!(await tab.locator("main").textContent()).includes("\\"), "no LaTeX is left");
  await tab.close();
};

const checkSearch = async () => {
  const tab = await open("docs/laws/routh.html", {});
  for (const [words, first] of [["deadband", /glossary|world|scenes/], ["cr_model_add_load", /api\/dynamics\.html#cr_model_add_load$/], ["pool break", /./], ["newtons-cradle-5", /gallery\.html#newtons-cradle-5/]]) {
    await tab.keyboard.press("Escape");
    await tab.locator("h1").click();
    await tab.keyboard.press("/");
    await tab.locator(".search input").fill(words);
    await tab.waitForSelector(".found li[aria-selected=true] a");
    const address = await tab.locator(".found li[aria-selected=true] a").evaluate((a) => a.href);
    must(first.test(address), `search for ${words}: ${address}`);
  }
  await tab.keyboard.press("Enter");
  await tab.waitForURL(/gallery\.html#newtons-cradle-5/);
  await tab.locator(".search input").fill("<img src=x onerror=alert(1)> zzzz");
  await tab.waitForSelector(".found .none");
  must(await tab.locator(".found img").count() === 0, "what is typed is no markup");
  await tab.close();
};

// a card of the gallery opens its scene in the live page
const checkLive = async () => {
  const tab = await open("gallery.html", { viewport: { width: 1100, height: 700 }, deviceScaleFactor: 0.5 });
  await tab.locator("#bouncing-ball a", { hasText: "run it here" }).click();
  await tab.waitForSelector("body[data-ready]", { timeout: 60000 });
  must(/live\.html#scene&name=bouncing-ball/.test(tab.url()), tab.url());
  await tab.close();
};

try {
  await checkPages();
  await checkMath();
  await checkSearch();
  await checkLive();
  must(faults.length === 0, faults.slice(0, 5).join("\n"));
  console.log(`${KINDS.length} kinds of page at two widths, light and dark`);
} finally {
  await browser.close();
}
