// touch.mjs - tests of hands: a body dragged, pushed, moved, changed; controls; undo; and that the command replays it.
import { readFileSync, writeFileSync } from "node:fs";
import { calm, carom, dropFile, equal, folder, must, openTab, quiet, setRange } from "./tab.mjs";

// one ball of 2 kg that floats in the middle of the view, and a floor far below
const BALL = JSON.stringify({ carom: 1, gravity: [0, 0, -1e-9], step: { dt: 0.005, duration: 2 }, bodies: [{ name: "ball", mass: 2, shapes: [{ type: "sphere", r: 0.2 }] }] });
const ARM = JSON.stringify({ carom: 1, step: { dt: 0.002, duration: 4 },
  bodies: [{ name: "arm", joint: "hinge", joint_name: "shoulder", anchor: [0, 0, 0.5], pos: [0, 0, 1], axis: [0, 1, 0], mass: 1, inertia: 0.1, shapes: [{ type: "capsule", r: 0.05, half: 0.4, axis: "z" }] },
    { name: "crate", pos: [0.6, 0, 0.15], mass: 1, shapes: [{ type: "box", half: [0.15, 0.15, 0.15] }] }],
  static: [{ type: "halfspace", n: [0, 0, 1], offset: 0 }],
  actuators: [{ name: "servo", type: "position", joint: "shoulder", kp: 20, kv: 2, ctrl_range: [-2, 2] }, { name: "wave", joint: "shoulder", ctrl: "0.1*sin(6*t)" }],
  sensors: [{ name: "angle", type: "joint_position", joint: "shoulder" }] });

const open = async (name, text, options = {}) => {
  const tab = await openTab("#scene&name=bouncing-ball", options);
  await dropFile(tab, name, text);
  await tab.waitForFunction((n) => document.getElementById("scene-name").value === n, name);
  await tab.waitForSelector("#hash[data-steps='0']");
  return tab;
};
const centre = async (tab) => {
  const box = await tab.locator("#scene .stage canvas").boundingBox();
  return [box.x + box.width / 2, box.y + box.height / 2];
};
const pause = async (tab) => {
  if ((await tab.locator("#play").textContent()) === "Pause") await tab.click("#play");
  // until the engine has told all it was asked for
  await tab.waitForFunction(() => { const h = document.querySelector("#hash"), same = h.dataset.steps === h.dataset.seen; h.dataset.seen = h.dataset.steps; return same; }, null, { polling: 300 });
};
const saved = async (tab, button) => {
  const [file] = await Promise.all([tab.waitForEvent("download"), tab.click(button)]);
  return readFileSync(await file.path(), "utf8");
};
const state = async (tab) => { const scene = JSON.parse(await saved(tab, "#save-now")); return scene.keyframes.find((k) => k.name === scene.start); };
const steps = (tab) => tab.locator("#hash").getAttribute("data-steps").then(Number);
const hash = (tab) => tab.locator("#hash code").textContent();
// the recording, run by the command, ends where the page is
const replays = async (tab, name) => {
  const file = `${folder}/${name}.json`;
  const text = await saved(tab, "#save-recording");
  writeFileSync(file, text);
  const got = await carom("run", [file]);
  equal(got.hash, await hash(tab), `${name} by the command`);
  equal(got.steps ?? (await steps(tab)), await steps(tab), `${name}: steps`);
  return JSON.parse(text);
};

export default {
  "hand: a body is dragged by a spring, thrown, and the command replays it": async () => {
    const tab = await open("ball.json", BALL);
    equal(await tab.locator("#hash").getAttribute("data-engine"), "worker", "what computes");
    const [x, y] = await centre(tab);
    await tab.mouse.move(x, y);
    await tab.mouse.down();
    await tab.waitForFunction(() => document.getElementById("play").textContent === "Pause");
    for (let i = 1; i <= 10; i++) { await tab.mouse.move(x + 12 * i, y); await tab.waitForTimeout(30); }
    await tab.waitForFunction(() => !document.getElementById("pull").hidden && Number.parseFloat(document.getElementById("pull").textContent) > 0);
    must((await tab.locator("#pull").textContent()).endsWith(" N"), "the force has no unit");
    const [fx] = JSON.parse(await tab.locator("#pull").getAttribute("data-force"));
    await tab.mouse.up();
    await tab.waitForFunction(() => document.getElementById("pull").hidden);
    await tab.waitForTimeout(200);
    await pause(tab);
    const { q, v, time } = await state(tab);
    must(Math.abs(q[0]) > 0.01 && Math.abs(fx) > 0, `the ball is at ${q.slice(0, 3)} after ${time} s`);
    must(Math.hypot(...v.slice(0, 3)) > 1e-3, "it was not thrown");
    const scene = await replays(tab, "thrown");
    // momentum of the ball is the time integral of the force, which holds for a step
    const { table } = scene.forces[0].force;
    const impulse = [1, 2, 3].map((k) => table.reduce((sum, row) => sum + (row[k] * 0.005), 0));
    [0, 1, 2].forEach((k) => must(Math.abs(impulse[k] - 2 * v[k]) < 1e-6, `impulse ${impulse[k]} N s, momentum ${2 * v[k]}`));
    must((await tab.locator("#hash").getAttribute("data-touched")) === "true", "it does not know that it was touched");
    // and back
    await tab.click("#undo");
    await tab.waitForSelector("#hash[data-touched=false]");
    const before = await state(tab);
    must(before.time <= 0.1 && Math.hypot(...before.v) < 1e-8, `undone to ${before.time} s`);
    await quiet(tab, "hand");
    calm(tab);
    return tab;
  },
  "hand: a push, a control and a pull of a robot are replayed by the command": async () => {
    const tab = await open("arm.json", ARM);
    await tab.selectOption("#body", { label: "crate" });
    await tab.fill("#strength", "1.5");
    await tab.click("#push");
    await tab.waitForFunction(() => Number(document.getElementById("hash").dataset.steps) > 50);
    for (const value of ["0.5", "0.9", "1.2"]) {
      await tab.locator("input[data-actuator=servo]").evaluate((e, v) => { e.value = v; e.dispatchEvent(new Event("input", { bubbles: true })); }, value);
      await tab.waitForTimeout(40);
    }
    // a control that the scene schedules becomes the hand's
    await tab.locator("input[data-actuator=wave]").evaluate((e) => { e.value = "0.3"; e.dispatchEvent(new Event("input", { bubbles: true })); e.dispatchEvent(new Event("change", { bubbles: true })); });
    await tab.selectOption("#body", { label: "arm" });
    await tab.click("#hold");
    await tab.waitForFunction(() => !document.getElementById("pull").hidden);
    for (let i = 0; i < 6; i++) await tab.keyboard.press("ArrowUp");
    await tab.waitForFunction((n) => Number(document.getElementById("hash").dataset.steps) > n, (await steps(tab)) + 60);
    await tab.keyboard.press("g");
    await tab.waitForFunction(() => document.getElementById("pull").hidden);
    await pause(tab);
    const scene = await replays(tab, "driven");
    equal(scene.forces.length, 2, "forces");
    must(scene.actuators.every((a) => a.ctrl.table), "controls have no tables");
    must((await tab.locator("#sensors figure").count()) === 1, "no chart of the sensor");
    // what is undone is not in the recording, and the run goes on from there
    const before = await steps(tab);
    await tab.click("#undo");
    await tab.waitForFunction((n) => Number(document.getElementById("hash").dataset.steps) < n, before);
    const back = await steps(tab);
    for (let i = 1; i <= 3; i++) {
      await tab.click("#step");
      await tab.waitForFunction((n) => Number(document.getElementById("hash").dataset.steps) === n, back + i);
    }
    equal((await replays(tab, "undone")).forces.length, 1, "forces after undoing the hold");
    calm(tab);
    return tab;
  },
  "hand: bodies are moved, doubled, deleted and changed while the scene runs, and undone": async () => {
    const tab = await open("ball.json", BALL);
    const [x, y] = await centre(tab);
    await tab.selectOption("#tool", "move");
    await tab.mouse.move(x, y);
    await tab.mouse.down();
    await tab.mouse.move(x + 90, y, { steps: 4 });
    await tab.mouse.up();
    await tab.waitForFunction(() => document.getElementById("body").value === "1");
    await tab.waitForTimeout(200);
    const moved = await state(tab);
    must(Math.abs(moved.q[0]) > 0.05 && moved.v.every((u) => u === 0), `moved to ${moved.q}`);
    await tab.click("#duplicate");
    await tab.waitForFunction(() => document.querySelectorAll("#body option").length === 3);
    await tab.fill("#body-mass", "5");
    await tab.press("#body-mass", "Enter");
    await tab.waitForFunction(() => document.getElementById("hash"));
    await tab.fill("#body-mu", "0.25");
    await tab.press("#body-mu", "Enter");
    await tab.fill("#body-e", "0.75");
    await tab.press("#body-e", "Enter");
    await tab.selectOption("#law-now", "routh");
    await tab.waitForTimeout(300);
    const text = JSON.parse(await saved(tab, "#save-scene"));
    equal(text.impact.law, "routh", "law");
    equal(text.bodies.length, 2, "bodies");
    const own = text.bodies.find((b) => b.mass === 5);
    must(own, "no body of 5 kg");
    const material = text.materials[own.shapes[0].material];
    equal(`${material.mu} ${material.e}`, "0.25 0.75", "material");
    await tab.click("#step");
    await tab.waitForFunction(() => Number(document.getElementById("hash").dataset.steps) > 0);
    await replays(tab, "edited");
    await tab.click("#delete");
    await tab.waitForFunction(() => document.querySelectorAll("#body option").length === 2);
    for (let i = 0; i < 8; i++) await tab.click("#undo");
    await tab.waitForFunction(() => document.getElementById("message").textContent.includes("Nothing is left"));
    equal(await tab.locator("#body option").count(), 2, "bodies after undoing all");
    await tab.click("#message button");
    const first = await state(tab);
    equal(first.q[0], 0, "back where it was");
    // what cannot be is refused and changes nothing
    await tab.selectOption("#body", "1");
    await tab.fill("#body-mass", "-1");
    await tab.press("#body-mass", "Enter");
    await tab.waitForFunction(() => document.getElementById("message").textContent.includes("0 or more"));
    await tab.fill("#body-mass", "0");
    await tab.press("#body-mass", "Enter");
    await tab.waitForFunction(() => document.getElementById("message").textContent.includes("ball.json"));
    equal(await tab.locator("#body-mass").inputValue(), "2", "mass after a refusal");
    calm(tab);
    return tab;
  },
  "hand: fingers": async () => {
    const tab = await open("ball.json", BALL, { viewport: { width: 390, height: 800 }, hasTouch: true, deviceScaleFactor: 0.5 });
    await tab.locator("#scene .stage canvas").scrollIntoViewIfNeeded();
    const [x, y] = await centre(tab);
    const finger = await tab.context().newCDPSession(tab);
    const touch = (type, points) => finger.send("Input.dispatchTouchEvent", { type, touchPoints: points });
    await touch("touchStart", [{ x, y }]);
    await tab.waitForFunction(() => document.getElementById("play").textContent === "Pause");
    for (let i = 1; i <= 6; i++) { await touch("touchMove", [{ x: x + 10 * i, y }]); await tab.waitForTimeout(30); }
    await tab.waitForFunction(() => !document.getElementById("pull").hidden);
    await touch("touchEnd", []);
    await pause(tab);
    must(Math.abs((await state(tab)).q[0]) > 0.01, "the ball did not follow the finger");
    await replays(tab, "finger");
    calm(tab);
    return tab;
  },
  "hand: the page goes on while the worker computes": async () => {
    // the other view first: drawing it takes its time
    const tab = await openTab("#impulse&preset=generic", { viewport: { width: 300, height: 500 }, deviceScaleFactor: 0.2 });
    await tab.waitForTimeout(1000);
    await tab.evaluate(() => { location.hash = "#scene&name=1000-ball-drop"; });
    await tab.waitForSelector("#hash");
    // the whole run is asked for, and another view is shown: nothing is drawn, so gaps between timers are all that computing costs
    await setRange(tab, "#scrub", "max");
    await tab.waitForFunction(() => Number(document.getElementById("hash").dataset.steps) > 0);
    await tab.click("#tab-impulse");
    await tab.waitForTimeout(300);
    const seen = await tab.evaluate(async () => {
      const gaps = [], begun = performance.now();
      let last = begun;
      while (last - begun < 3000) {
        await new Promise((done) => { setTimeout(done, 5); });
        gaps.push(performance.now() - last);
        last = performance.now();
      }
      return { longest: Math.max(...gaps), count: gaps.length };
    });
    await tab.click("#tab-scene");
    await tab.waitForFunction(() => Number(document.getElementById("hash").dataset.steps) > 100);
    if (process.env.CAROM_VERBOSE) console.log(seen, await steps(tab));
    must(seen.longest < 400 && seen.count > 40, `of 3 s of computing the page had ${seen.count} turns, the longest gap ${seen.longest.toFixed(0)} ms`);
    calm(tab);
    return tab;
  },
};
