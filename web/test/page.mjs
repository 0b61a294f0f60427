// page.mjs CAROM PAGE [SHOTS] - the page in headless Chromium: what it shows against what the command says.
//
// Each test starts from a fresh tab. With SHOTS, pictures of every view are written there. Exit status 1 where a
// test fails.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { chromium } from "playwright-core";

const [command, path, shots] = process.argv.slice(2);
const root = new URL("../../", import.meta.url).pathname;
const folder = mkdtempSync(`${tmpdir()}/carom-page-`);
const address = `file://${path}`;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--enable-unsafe-swiftshader"] });

const carom = (verb, args, input) => JSON.parse(execFileSync(command, [verb, "--json", ...args], { input, encoding: "utf8", stdio: ["pipe", "pipe", "ignore"] }));
const must = (condition, what) => { if (!condition) throw new Error(what); };
const equal = (got, wanted, what) => must(got === wanted, `${what}: ${got}, not ${wanted}`);

// a tab at a place of the page; errors of scripts are failures
const openTab = async (hash = "", options = {}) => {
  const tab = await browser.newPage({ viewport: { width: 1000, height: 700 }, reducedMotion: "reduce", ...options });
  tab.setDefaultTimeout(60000);
  tab.faults = [];
  tab.on("pageerror", (e) => tab.faults.push(e.message));
  tab.on("console", (m) => { if (m.type() === "error") tab.faults.push(m.text()); });
  await tab.goto(address + hash);
  await tab.waitForSelector("body[data-ready]");
  return tab;
};
const calm = (tab) => must(tab.faults.length === 0, `errors in the page: ${tab.faults.join("; ")}`);
const setRange = (tab, selector, value) => tab.locator(selector).evaluate((e, v) => {
  e.value = v === "max" ? e.max : v;
  e.dispatchEvent(new Event("input", { bubbles: true }));
}, value);
const runToEnd = async (tab) => {
  await setRange(tab, "#scrub", "max");
  await tab.waitForSelector("#hash[data-over=true]");
  return tab.locator("#hash code").textContent();
};
const collision = (tab) => tab.evaluate(() => decodeURIComponent(/[#&]c=([^&]*)/.exec(location.hash)[1]));
const shownP = (tab) => tab.$$eval("#laws tr[data-law]", (rows) => Object.fromEntries(rows.map((r) => [r.dataset.law, JSON.parse(r.querySelector("[data-p]")?.dataset.p ?? "null")])));
const dropFile = (tab, name, text) => tab.evaluate(([n, t]) => {
  const data = new DataTransfer();
  data.items.add(new File([t], n));
  window.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}, [name, text]);

// every law's impulse in the table is the command's, to 1e-12
const compareLaws = async (tab) => {
  const wanted = carom("impact", [], JSON.stringify({ ...JSON.parse(await collision(tab)), law: "all" })).results;
  const got = await shownP(tab);
  for (const { law, P } of wanted) {
    if (!P) { equal(got[law], null, law); continue; }
    P.forEach((x, i) => must(Math.abs(x - got[law][i]) <= 1e-12 * Math.max(1, Math.abs(x)), `${law}: P ${got[law]}, the command says ${P}`));
  }
};

const tests = {
  "loads, and a slider changes the numbers": async () => {
    const tab = await openTab();
    const before = await shownP(tab);
    await compareLaws(tab);
    await setRange(tab, "#slider-mu", "0.1");
    const after = await shownP(tab);
    must(JSON.stringify(before.routh) !== JSON.stringify(after.routh), "the slider of mu changes nothing");
    await compareLaws(tab);
    calm(tab);
    return tab;
  },
  "every preset, against the command": async () => {
    const tab = await openTab();
    const names = await tab.$$eval("#impulse select option", (list) => list.map((o) => o.value));
    must(names.length >= 10, "presets are missing");
    for (const name of names) {
      await tab.selectOption("#impulse select", name);
      await compareLaws(tab);
      must(await tab.locator("#message").isHidden(), `${name}: ${await tab.locator("#message").textContent()}`);
    }
    calm(tab);
    return tab;
  },
  "a law that leaves the region is marked": async () => {
    const tab = await openTab("#impulse&preset=kane-paradox");
    must((await tab.locator("#laws tr[data-law=whittaker] .bad").count()) > 0, "whittaker is not marked");
    must((await tab.locator("#laws tr[data-law=routh] .bad").count()) === 0, "routh is marked");
    return tab;
  },
  "the address brings the state back": async () => {
    const tab = await openTab("#impulse&preset=kane-paradox");
    await setRange(tab, "#slider-e", "0.35");
    const second = await openTab(new URL(tab.url()).hash);
    equal(JSON.stringify(await shownP(second)), JSON.stringify(await shownP(tab)), "impulses after the round trip");
    equal(await collision(second), await collision(tab), "collision after the round trip");
    await second.close();
    const broken = await openTab(`#impulse&c=${encodeURIComponent('{"W":[[1,0],[0,-1]],"V":[-1,0],"n":[1,0]}')}`);
    must((await broken.locator("#message").textContent()).includes("W"), "a bad collision in the address is not refused");
    must((await broken.locator("#laws tr[data-law]").count()) > 10, "the page does not go on after a bad address");
    await broken.close();
    return tab;
  },
  "handles: the ellipse by mouse, a velocity by keys": async () => {
    const tab = await openTab("#impulse&preset=generic");
    const before = JSON.parse(await collision(tab));
    const box = await tab.locator("[aria-label^='Middle of the ellipse']").boundingBox();
    await tab.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await tab.mouse.down();
    await tab.mouse.move(box.x + box.width / 2 + 20, box.y + box.height / 2 - 15, { steps: 3 });
    await tab.mouse.up();
    const after = JSON.parse(await collision(tab));
    must(JSON.stringify(after.V) !== JSON.stringify(before.V) && JSON.stringify(after.W) === JSON.stringify(before.W), "dragging P_II does not change V alone");
    await compareLaws(tab);
    await tab.locator("[aria-label^='Axis of the ellipse']").focus();
    await tab.keyboard.press("ArrowUp");
    const turned = JSON.parse(await collision(tab));
    must(JSON.stringify(turned.W) !== JSON.stringify(after.W), "the axis of the ellipse does not change W");
    must(Math.abs(turned.W[0][1] - turned.W[1][0]) < 1e-12, "W is not symmetric any more");
    await compareLaws(tab);
    await tab.selectOption("#impulse select", "superball");
    await tab.locator("[aria-label^='Velocity of b']").focus();
    await tab.keyboard.press("ArrowLeft");
    must(JSON.parse(await collision(tab)).bodies[1].velocity[0] < 1, "the velocity of b does not change");
    await compareLaws(tab);
    calm(tab);
    return tab;
  },
  "files: SVG, PNG and JSON": async () => {
    const tab = await openTab("#impulse&preset=generic");
    for (const [button, start] of [["#save-svg", "<svg"], ["#save-png", "\x89PNG"], ["#save-json", "{"]]) {
      const [download] = await Promise.all([tab.waitForEvent("download"), tab.click(button)]);
      const file = `${folder}/${download.suggestedFilename()}`;
      await download.saveAs(file);
      must(readFileSync(file, "latin1").startsWith(start), `${button} does not begin with ${start}`);
      if (button === "#save-json") carom("impact", [file]);
    }
    calm(tab);
    return tab;
  },
  "rules: eight of them, velocities as the command has them": async () => {
    const tab = await openTab("#rules&name=newtons-cradle-5");
    equal(await tab.locator("#rules .panels figure").count(), 8, "panels");
    const wanted = carom("resolve", [`${root}examples/resolve/cradle-5.json`]).results;
    for (const { rule, v } of wanted) equal(await tab.locator(`#resolved tr[data-rule=${rule}]`).getAttribute("data-v"), JSON.stringify(v), rule);
    must((await tab.locator("#outcomes tbody tr").count()) > 0, "no outcomes");
    await tab.selectOption("#case", "flat-rod");
    equal(await tab.locator("#outcomes tbody tr").count(), 2, "outcomes of a flat rod");
    must((await tab.locator("#resolved tr[data-rule=feasible]").textContent()).includes("tie"), "the tie is not told");
    for (const name of await tab.$$eval("#case option", (list) => list.map((o) => o.value))) {
      await tab.selectOption("#case", name);
      must(await tab.locator("#message").isHidden(), `${name}: ${await tab.locator("#message").textContent()}`);
    }
    calm(tab);
    return tab;
  },
  "a scene gives the command's hash": async () => {
    const tab = await openTab("#scene&name=newtons-cradle-5");
    equal(await runToEnd(tab), carom("run", ["newtons-cradle-5"]).hash, "hash of the cradle");
    await tab.selectOption("#scene-rule", "newton");
    await tab.fill("#scene-dt", "0.01");
    await tab.press("#scene-dt", "Enter");
    equal(await runToEnd(tab), carom("run", ["newtons-cradle-5", "--rule", "newton", "--dt", "0.01"]).hash, "hash with a rule and a step");
    must(tab.url().includes("rule=newton") && tab.url().includes("dt=0.01"), "the address does not say what was chosen");
    await tab.selectOption("#scene-name", "tetrahedron");
    equal(await runToEnd(tab), carom("run", ["tetrahedron"]).hash, "hash of a hull");
    calm(tab);
    return tab;
  },
  "a bad file is refused and the page goes on": async () => {
    const tab = await openTab("#scene&name=bouncing-ball");
    for (const [name, text, words] of [["bad.json", "{\n \"carom\": 1,\n oops", "line 3"], ["field.json", "{\"carom\": 1, \"bodis\": []}", "bodis"],
      ["empty.json", "", "empty.json"], ["t.json", "{\"format\":\"carom-trajectory\",\"version\":1}", "trajectory"]]) {
      await dropFile(tab, name, text);
      await tab.waitForFunction((w) => document.getElementById("message").textContent.includes(w), words);
      must(await tab.locator("#message").isVisible(), "no message");
    }
    await tab.click("#message button");
    must(await tab.locator("#message").isHidden(), "the message does not close");
    equal(await runToEnd(tab), carom("run", ["bouncing-ball"]).hash, "hash after bad files");
    await dropFile(tab, "good.json", readFileSync(`${root}scenes/falling-rod.json`, "utf8"));
    await tab.waitForSelector("#hash[data-over=false]");
    equal(await runToEnd(tab), carom("run", ["falling-rod"]).hash, "hash of a dropped scene");
    calm(tab);
    return tab;
  },
  "a recorded trajectory": async () => {
    execFileSync(command, ["run", "bouncing-ball", "--out", `${folder}/ball.csv`]);
    const text = execFileSync(command, ["export", `${folder}/ball.csv`, "--scene", "bouncing-ball"], { encoding: "utf8" });
    const tab = await openTab("#scene&name=pool-break");
    await dropFile(tab, "ball.json", text);
    await tab.waitForFunction(() => document.getElementById("facts").textContent.includes("records"));
    equal(Number(await tab.locator("#scrub").getAttribute("max")).toFixed(6), JSON.parse(text).time.at(-1).toFixed(6), "time of the last record");
    calm(tab);
    return tab;
  },
  "keys": async () => {
    const tab = await openTab();
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
    await tab.keyboard.press(" ");
    await tab.waitForFunction(() => document.getElementById("play").textContent === "Pause");
    await tab.keyboard.press(" ");
    await tab.waitForFunction(() => document.getElementById("play").textContent === "Play");
    calm(tab);
    return tab;
  },
  "narrow screens, light and dark": async () => {
    let tab = null;
    for (const width of [400, 1400]) {
      for (const colorScheme of ["light", "dark"]) {
        for (const [view, hash] of [["impulse", "#impulse&preset=tumbling-box"], ["rules", "#rules&name=pool-break"], ["scene", "#scene&name=dominoes"]]) {
          await tab?.close();
          tab = await openTab(hash, { viewport: { width, height: 900 }, colorScheme });
          const over = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          must(over <= 0, `${view} is ${over} px wider than a screen of ${width}`);
          const nameless = await tab.$$eval("button, input, select, canvas, [role=slider]", (list) => list.filter((e) => e.checkVisibility() && !e.closest("[role=img][aria-label]") && !(e.getAttribute("aria-label") || e.textContent.trim() || e.closest("label")?.textContent.trim())).map((e) => e.outerHTML.slice(0, 80)));
          must(nameless.length === 0, `without a name: ${nameless.join(", ")}`);
          if (shots) {
            if (view === "scene") { await setRange(tab, "#scrub", "0.6"); await tab.waitForFunction(() => Number(document.getElementById("hash").dataset.steps) >= 119); }
            if (view === "rules") { await setRange(tab, "#rules input[type=range]", "0.15"); await tab.waitForTimeout(4000); }
            await tab.waitForTimeout(300);
            await tab.screenshot({ path: `${shots}/web-${view}-${width}-${colorScheme}.png`, fullPage: true });
          }
          calm(tab);
        }
      }
    }
    return tab;
  },
};

let failed = 0;
const only = process.env.CAROM_WEB_TEST;
for (const [name, test] of Object.entries(tests)) {
  if (only && !name.includes(only)) continue;
  const begun = Date.now();
  try {
    await (await test())?.close();
    console.log(`pass  ${name} (${((Date.now() - begun) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed++;
    console.log(`FAIL  ${name}: ${error.message}`);
  }
}
await browser.close();
rmSync(folder, { recursive: true });
process.exit(failed > 0 ? 1 : 0);
