// report.mjs - tests of what the script of a report draws.
import { calm, carom, coloured, equal, folder, must, openFile, run, setRange } from "./tab.mjs";

const report = async (name, args, options) => {
  await run([...args, `${folder}/${name}`]);
  return openFile(`file://${folder}/${name}`, { deviceScaleFactor: 0.5, ...options });
};
const time = (tab) => tab.locator("#clock").textContent();

export default {
  "a report plays, scrubs and charts": async () => {
    const tab = await report("one.html", ["run", "bouncing-ball", "--report"]);
    equal(await tab.locator("#stages figure canvas").count(), 1, "stages");
    must((await coloured(tab, "#stages figure canvas")) > 0.002, "nothing is drawn");
    equal(await time(tab), "0.000 s", "with less motion asked for nothing plays by itself");
    const titles = await tab.$$eval("#charts figcaption", (list) => list.map((e) => e.textContent));
    for (const title of ["Energy", "Position, z", "Impulse of each event", "Deepest overlap", "Contacts"]) must(titles.includes(title), `no chart of ${title}: ${titles}`);
    must(await tab.$$eval("#charts canvas", (list) => list.every((c) => c.width > 100 && c.height > 100)), "a chart is empty");
    const { end } = (await carom("run", ["bouncing-ball"])).energy ?? {};
    await tab.locator("#charts figure").first().locator(".u-over").hover();
    must(end !== undefined && (await tab.locator("#charts .u-legend").first().textContent()).includes("total"), "the legend of energy");
    await setRange(tab, "#scrub", "max");
    await tab.waitForFunction(() => document.getElementById("clock").textContent === `${Number(document.getElementById("scrub").max).toFixed(3)} s`);
    for (const name of ["paths", "names"]) await tab.click(`#${name}`);
    for (const name of ["Closer", "Farther", "Reset view"]) await tab.click(`[aria-label='${name}']`);
    await tab.focus("#stages figure canvas");
    await tab.keyboard.press("ArrowLeft");
    await tab.click("#play");
    await tab.waitForFunction(() => Number.parseFloat(document.getElementById("clock").textContent) > 0.02);
    calm(tab);
    return tab;
  },
  "runs side by side have one time; #t= opens at one": async () => {
    const files = [];
    for (const rule of ["newton", "sequence", "feasible"]) {
      files.push(`${folder}/${rule}.h5`);
      await run(["run", "newtons-cradle-5", "--rule", rule, "--out", files.at(-1)]);
    }
    await run(["plot", ...files, "--out", `${folder}/three.html`]);
    const tab = await openFile(`file://${folder}/three.html#t=0.2`, { viewport: { width: 400, height: 900 }, colorScheme: "dark" });
    equal(await tab.locator("#stages figure canvas").count(), 3, "stages");
    await tab.waitForFunction(() => document.getElementById("clock").textContent === "0.200 s");
    must(await tab.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the report is wider than a phone");
    calm(tab);
    return tab;
  },
};
