// views.mjs - tests of many contacts, the scene player, keys and narrow screens.
import { readFileSync, writeFileSync } from "node:fs";
import { calm, carom, coloured, dropFile, equal, folder, must, openFile, openTab, quiet, root, run, runToEnd, setRange } from "./tab.mjs";

// more than the screen is wide, or without a name
const faults = (tab) => tab.evaluate(() => {
  const nameless = [...document.querySelectorAll("button, input, select, canvas, [role=slider]")].filter((e) => e.checkVisibility() && !e.closest("[role=img][aria-label]") && !(e.getAttribute("aria-label") || e.textContent.trim() || e.closest("label")?.textContent.trim()));
  const over = document.documentElement.scrollWidth - innerWidth;
  return [...(over > 0 ? [`${over} px wider than the screen`] : []), ...nameless.map((e) => `without a name: ${e.outerHTML.slice(0, 80)}`)].join("; ");
});
const VIEWS = { impulse: "#impulse&preset=tumbling-box", rules: "#rules&name=pool-break", scene: "#scene&name=dominoes" };

export default {
  "rules: eight of them, velocities as the command has them": async () => {
    const tab = await openTab("#rules&name=newtons-cradle-5");
    equal(await tab.locator("#rules .panels figure").count(), 8, "panels");
    const wanted = (await carom("resolve", [`${root}examples/resolve/cradle-5.json`])).results;
    for (const { rule, v } of wanted) equal(await tab.locator(`#resolved tr[data-rule=${rule}]`).getAttribute("data-v"), JSON.stringify(v), rule);
    must((await tab.locator("#outcomes tbody tr").count()) > 0, "no outcomes");
    await tab.selectOption("#case", "flat-rod");
    equal(await tab.locator("#outcomes tbody tr").count(), 2, "outcomes of a flat rod");
    must((await tab.locator("#resolved tr[data-rule=feasible]").textContent()).includes("tie"), "the tie is not told");
    for (const name of await tab.$$eval("#case option", (list) => list.map((o) => o.value))) {
      await tab.selectOption("#case", name);
      await quiet(tab, name);
    }
    calm(tab);
    return tab;
  },
  "a scene gives the command's hash": async () => {
    const tab = await openTab("#scene&name=newtons-cradle-5");
    const hash = async (...args) => (await carom("run", args)).hash;
    equal(await runToEnd(tab), await hash("newtons-cradle-5"), "hash of the cradle");
    await tab.selectOption("#scene-rule", "newton");
    await tab.fill("#scene-dt", "0.01");
    await tab.press("#scene-dt", "Enter");
    equal(await runToEnd(tab), await hash("newtons-cradle-5", "--rule", "newton", "--dt", "0.01"), "hash with a rule and a step");
    must(tab.url().includes("rule=newton") && tab.url().includes("dt=0.01"), "the address does not say what was chosen");
    await tab.selectOption("#scene-name", "tetrahedron");
    equal(await runToEnd(tab), await hash("tetrahedron"), "hash of a hull");
    calm(tab);
    return tab;
  },
  "scenes open, step and are drawn": async () => {
    const tab = await openTab("#scene&name=bouncing-ball", { viewport: { width: 500, height: 400 } });
    const names = await tab.$$eval("#scene-name option", (list) => list.map((o) => o.value).filter(Boolean));
    must(names.length >= 20, "scenes are missing");
    // all of them in soak, else kinds that differ most: many balls behind walls, points on a stick, a hull, sticks alone
    const few = ["1000-ball-drop", "painleve", "tetrahedron", "slider-crank", "gears", "pool-break"];
    for (const name of names.filter((n) => process.env.CAROM_SOAK || few.includes(n))) {
      await tab.selectOption("#scene-name", name);
      await tab.waitForSelector("#hash[data-steps='0']", { state: "attached" });
      await tab.click("#step");
      await tab.waitForSelector("#hash[data-steps='1']", { state: "attached" });
      await quiet(tab, name);
      const share = await coloured(tab, "#scene .stage canvas");
      must(share > 0.002, `${name}: bodies are ${(100 * share).toFixed(2)} % of the picture`);
    }
    calm(tab);
    return tab;
  },
  "opened by carom view: the list says what is open": async () => {
    const seen = async (...args) => {
      await run(["view", ...args, "--out", `${folder}/opened.html`]);
      const tab = await openFile(`file://${folder}/opened.html`);
      await tab.waitForSelector("#hash");
      return tab;
    };
    let tab = await seen("pool-break");
    equal(await tab.locator("#scene-name").inputValue(), "pool-break", "a shipped scene");
    equal(await tab.locator("#scene-name option[data-file]").count(), 0, "it stands in the list once");
    calm(tab);
    await tab.close();
    tab = await seen("pool-break", "--dt", "0.001");
    equal(await tab.locator("#scene-name option:checked[data-file]").textContent(), "pool-break", "a changed one is its own entry");
    equal(await runToEnd(tab), (await carom("run", ["pool-break", "--dt", "0.001"])).hash, "and runs as it was changed");
    await tab.close();
    writeFileSync(`${folder}/mine.json`, readFileSync(`${root}scenes/falling-rod.json`));
    tab = await seen(`${folder}/mine.json`);
    equal(await tab.locator("#scene-name").inputValue(), "mine.json", "a file");
    await tab.selectOption("#scene-name", "dominoes");
    await tab.selectOption("#scene-name", "mine.json");
    equal(await runToEnd(tab), (await carom("run", ["falling-rod"])).hash, "back to the file");
    calm(tab);
    return tab;
  },
  "balls are round at the edge of the view too": async () => {
    const tab = await openTab("#scene&name=pool-break", { viewport: { width: 1400, height: 1000 }, deviceScaleFactor: 1 });
    await tab.waitForTimeout(500);
    // the cue ball, left of everything else that has a colour
    const [wide, high] = await tab.locator("#scene .stage canvas").evaluate((canvas) => {
      const copy = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height });
      const pen = copy.getContext("2d");
      pen.drawImage(canvas, 0, 0);
      const { data, width } = pen.getImageData(0, 0, canvas.width, canvas.height);
      const box = [Infinity, Infinity, -1, -1];
      for (let i = 0; i < data.length; i += 4) {
        const x = (i / 4) % width, y = Math.floor(i / 4 / width);
        if (x > width / 3 || data[i + 2] - data[i] < 50) continue;
        [box[0], box[1], box[2], box[3]] = [Math.min(box[0], x), Math.min(box[1], y), Math.max(box[2], x), Math.max(box[3], y)];
      }
      return [box[2] - box[0] + 1, box[3] - box[1] + 1];
    });
    must(wide > 30 && high > 30, `the cue ball is ${wide} by ${high} pixels`);
    must(Math.abs(wide / high - 1) < 0.035, `a ball of ${wide} by ${high} pixels`);
    calm(tab);
    return tab;
  },
  "a bad file is refused and the page goes on": async () => {
    const tab = await openTab("#scene&name=bouncing-ball");
    const trajectory = (members) => `{"format":"carom-trajectory","version":1${members}}`;
    for (const [name, text, words] of [["bad.json", "{\n \"carom\": 1,\n oops", "line 3"], ["field.json", "{\"carom\": 1, \"bodis\": []}", "bodis"],
      ["empty.json", "", "empty.json"], ["t.json", trajectory(""), "trajectory"], ["rows.json", trajectory(",\"scene\":{\"carom\":1},\"time\":[0],\"q\":[1],\"v\":[1]"), "one row per time"],
      ["cut.json", "{\"format\":\"carom-trajectory\",\"ver", "cut.json"], ["list.json", "[]", "list.json"], ["h.h5", "\x89HDF\r\n", "carom export"]]) {
      await dropFile(tab, name, text);
      await tab.waitForFunction((w) => document.getElementById("message").textContent.includes(w), words);
      must(await tab.locator("#message").isVisible(), "no message");
    }
    await tab.click("#message button");
    must(await tab.locator("#message").isHidden(), "the message does not close");
    equal(await runToEnd(tab), (await carom("run", ["bouncing-ball"])).hash, "hash after bad files");
    await dropFile(tab, "good.json", readFileSync(`${root}scenes/falling-rod.json`, "utf8"));
    await tab.waitForSelector("#hash[data-over=false]");
    equal(await runToEnd(tab), (await carom("run", ["falling-rod"])).hash, "hash of a dropped scene");
    calm(tab);
    return tab;
  },
  "recorded trajectories: CSV and HDF5 by carom export": async () => {
    const tab = await openTab("#scene&name=pool-break");
    for (const [file, more] of [["ball.csv", ["--scene", "bouncing-ball"]], ["ball.h5", []]]) {
      await run(["run", "bouncing-ball", "--out", `${folder}/${file}`]);
      const text = await run(["export", `${folder}/${file}`, ...more]);
      await dropFile(tab, `${file}.json`, text);
      await tab.waitForFunction(() => document.getElementById("facts").textContent.includes("records"));
      const wanted = JSON.parse(text);
      equal(Number(await tab.locator("#scrub").getAttribute("max")).toFixed(6), wanted.time.at(-1).toFixed(6), "time of the last record");
      must((await tab.locator("#facts").textContent()).includes(`${wanted.time.length} records`), "records");
      await setRange(tab, "#scrub", "max");
      await tab.waitForFunction((t) => document.getElementById("clock").textContent === t, `${wanted.time.at(-1).toFixed(3)} s`);
      await tab.selectOption("#scene-name", "pool-break");
      await tab.waitForSelector("#hash");
    }
    calm(tab);
    return tab;
  },
  keys: async () => {
    const tab = await openTab("", {});
    await tab.focus("#tab-impulse");
    await tab.keyboard.press("ArrowRight");
    must(await tab.locator("#rules").isVisible(), "the arrow does not change the view");
    await tab.keyboard.press("ArrowRight");
    must(await tab.locator("#scene").isVisible(), "the arrow does not reach the scene");
    await tab.locator("#tab-scene").blur();
    await tab.keyboard.press(".");
    await tab.waitForSelector("#hash[data-steps='1']");
    await tab.keyboard.press(".");
    await tab.waitForSelector("#hash[data-steps='2']");
    await tab.keyboard.press(",");
    await tab.waitForFunction(() => document.getElementById("clock").textContent === "0.005 s");
    await tab.keyboard.press("Home");
    await tab.waitForFunction(() => document.getElementById("clock").textContent === "0.000 s");
    await tab.keyboard.press(" ");
    await tab.waitForFunction(() => document.getElementById("play").textContent === "Pause");
    await tab.keyboard.press(" ");
    await tab.waitForFunction(() => document.getElementById("play").textContent === "Play");
    for (const name of ["paths", "names", "contacts", "impulses"]) await tab.locator(`#scene label:text-is('${name}') input`).click();
    await tab.keyboard.press("r");
    const canvas = tab.locator("#scene .stage canvas");
    await tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const before = await canvas.evaluate((c) => c.toDataURL());
    await canvas.focus();
    await tab.keyboard.press("ArrowLeft");
    await tab.waitForFunction((seen) => document.querySelector("#scene .stage canvas").toDataURL() !== seen, before);
    calm(tab);
    return tab;
  },
  "narrow screens, light and dark": async () => {
    const tab = await openTab("", { viewport: { width: 400, height: 900 } });
    for (const hash of Object.values(VIEWS)) await tab.evaluate((h) => new Promise((done) => { addEventListener("hashchange", () => setTimeout(done), { once: true }); location.hash = h; }), hash);
    for (const width of [400, 700, 1400]) {
      await tab.setViewportSize({ width, height: 900 });
      for (const colorScheme of ["light", "dark"]) {
        await tab.emulateMedia({ colorScheme });
        for (const view of Object.keys(VIEWS)) {
          await tab.click(`#tab-${view}`);
          const found = await faults(tab);
          must(found === "", `${view}, ${width} px, ${colorScheme}: ${found}`);
        }
      }
    }
    calm(tab);
    return tab;
  },
};
