// impulse.mjs - tests of the impulse explorer.
import { readFileSync } from "node:fs";
import { calm, carom, dropFile, equal, folder, must, openTab, quiet, run, setRange } from "./tab.mjs";

const collision = (tab) => tab.evaluate(() => JSON.parse(decodeURIComponent(/[#&]c=([^&]*)/.exec(location.hash)[1])));
const shownP = (tab) => tab.$$eval("#laws tr[data-law]", (rows) => Object.fromEntries(rows.map((r) => [r.dataset.law, JSON.parse(r.querySelector("[data-p]")?.dataset.p ?? "null")])));
const P = (x) => JSON.stringify(x);

// what a tab shows now, to be compared with the command later
const look = async (tab) => ({ collision: await collision(tab), got: await shownP(tab) });

// every law's impulse in the table is the command's, to 1e-12
const compare = async (looks) => {
  const lines = (await run(["impact", "--json", "-"], looks.map((l) => `${JSON.stringify({ ...l.collision, law: "all" })}\n`).join(""))).trim().split("\n");
  equal(lines.length, looks.length, "answers of the command");
  lines.forEach((line, k) => {
    for (const { law, P: wanted } of JSON.parse(line).results) {
      const got = looks[k].got[law];
      if (!wanted) { equal(got, null, law); continue; }
      wanted.forEach((x, i) => must(Math.abs(x - got[i]) <= 1e-12 * Math.max(1, Math.abs(x)), `${law}: P ${got}, the command says ${wanted}`));
    }
  });
};
const centre = async (tab, label) => {
  const box = await tab.locator(`[aria-label^='${label}']`).boundingBox();
  return [box.x + box.width / 2, box.y + box.height / 2];
};
// W is symmetric and positive: all leading minors of W + a little are
const positive = (W) => {
  const A = W.map((r, i) => r.map((x, j) => x + (i === j ? 1e-9 : 0)));
  W.forEach((r, i) => r.forEach((x, j) => must(Math.abs(x - W[j][i]) < 1e-12, "W is not symmetric")));
  const two = A[0][0] * A[1][1] - A[0][1] ** 2;
  const three = A.length < 3 ? 1 : A[0][0] * (A[1][1] * A[2][2] - A[1][2] ** 2) - A[0][1] * (A[0][1] * A[2][2] - A[1][2] * A[0][2]) + A[0][2] * (A[0][1] * A[1][2] - A[1][1] * A[0][2]);
  must(A[0][0] > 0 && two > 0 && three > 0, `W is not positive: ${JSON.stringify(W)}`);
};

export default {
  "loads, and a slider changes the numbers": async () => {
    const tab = await openTab();
    const before = await look(tab);
    await setRange(tab, "#slider-mu", "0.1");
    const after = await look(tab);
    must(P(before.got.routh) !== P(after.got.routh), "the slider of mu changes nothing");
    await compare([before, after]);
    calm(tab);
    return tab;
  },
  "the compliant law's set is drawn, and hidden with its law": async () => {
    const tab = await openTab();
    const cells = async () => (await tab.locator("svg .reach").count()) && (await tab.locator("svg .reach").getAttribute("d")).split("Z").length - 1;
    must((await cells()) > 200, "the set has few cells");
    await tab.locator("#laws tr[data-law=compliant] input").click();
    must((await cells()) === 0, "the set of a hidden law is drawn");
    calm(tab);
    return tab;
  },
  "every preset, against the command": async () => {
    const tab = await openTab();
    const names = await tab.$$eval("#impulse .controls select option", (list) => list.map((o) => o.value));
    must(names.length >= 10, "presets are missing");
    const looks = [];
    for (const name of names) {
      await tab.selectOption("#impulse .controls select", name);
      looks.push(await look(tab));
      await quiet(tab, name);
    }
    await compare(looks);
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
    await tab.selectOption("#after", "newton");
    await tab.locator("#laws tr[data-law=brach] input").uncheck();
    const second = await openTab(new URL(tab.url()).hash, {});
    equal(JSON.stringify(await look(second)), JSON.stringify(await look(tab)), "collision and impulses after the round trip");
    equal(await second.locator("#after").inputValue(), "newton", "the law of velocities after");
    must(!(await second.locator("#laws tr[data-law=brach] input").isChecked()), "a law that was hidden is shown");
    const bad = encodeURIComponent('{"W":[[1,0],[0,-1]],"V":[-1,0],"n":[1,0]}');
    await second.evaluate((hash) => { location.hash = hash; }, `#impulse&c=${bad}`);
    await second.waitForFunction(() => document.getElementById("message").textContent.includes("W"));
    must((await second.locator("#laws tr[data-law]").count()) > 10, "the page does not go on after a bad address");
    await second.evaluate(() => { location.hash = "#impulse&preset=nothing"; });
    await second.waitForFunction(() => document.getElementById("message").textContent.includes("nothing"));
    await second.close();
    return tab;
  },
  "handles: the ellipse by mouse, a velocity by keys": async () => {
    const tab = await openTab("#impulse&preset=generic");
    const before = await collision(tab);
    const [x, y] = await centre(tab, "Middle of the ellipse");
    await tab.mouse.move(x, y);
    await tab.mouse.down();
    await tab.mouse.move(x + 20, y - 15, { steps: 3 });
    const [nx, ny] = await centre(tab, "Middle of the ellipse");
    must(Math.hypot(nx - x - 20, ny - y + 15) < 2, `the handle is at ${nx - x}, ${ny - y}, not where it was dragged to`);
    await tab.mouse.up();
    await tab.mouse.move(x + 200, y, { steps: 2 });
    const after = await look(tab);
    must(P(after.collision.V) !== P(before.V) && P(after.collision.W) === P(before.W), "dragging P_II does not change V alone");
    await tab.locator("[aria-label^='Axis of the ellipse']").focus();
    await tab.keyboard.press("ArrowUp");
    const turned = await look(tab);
    must(P(turned.collision.W) !== P(after.collision.W), "the axis of the ellipse does not change W");
    positive(turned.collision.W);
    await tab.selectOption("#impulse .controls select", "superball");
    await tab.locator("[aria-label^='Velocity of b']").focus();
    await tab.keyboard.press("ArrowLeft");
    await tab.keyboard.press("ArrowLeft");
    const pushed = await look(tab);
    must(pushed.collision.bodies[1].velocity[0] < 1, "the velocity of b does not change");
    // beyond the speed for which the scale was chosen, it stays under the pointer
    const tip = await centre(tab, "Velocity of b");
    await tab.mouse.move(...tip);
    await tab.mouse.down();
    await tab.mouse.move(tip[0] + 60, tip[1] + 20, { steps: 5 });
    const now = await centre(tab, "Velocity of b");
    must(Math.hypot(now[0] - tip[0] - 60, now[1] - tip[1] - 20) < 2, `the velocity is at ${now[0] - tip[0]}, ${now[1] - tip[1]}`);
    await tab.mouse.up();
    await compare([after, turned, pushed]);
    calm(tab);
    return tab;
  },
  "handles: by a finger, on a phone": async () => {
    const tab = await openTab("#impulse&preset=generic", { viewport: { width: 400, height: 900 }, hasTouch: true, isMobile: true });
    const before = await collision(tab);
    await tab.locator("[aria-label^='Middle of the ellipse']").scrollIntoViewIfNeeded();
    const [x, y] = await centre(tab, "Middle of the ellipse");
    const scroll = await tab.evaluate(() => scrollY);
    const fingers = await tab.context().newCDPSession(tab);
    const touch = (type, points) => fingers.send("Input.dispatchTouchEvent", { type, touchPoints: points });
    await touch("touchStart", [{ x, y }]);
    for (let i = 1; i <= 6; i++) await touch("touchMove", [{ x: x + 3 * i, y: y - 8 * i }]);
    const [nx, ny] = await centre(tab, "Middle of the ellipse");
    must(Math.hypot(nx - x - 18, ny - y + 48) < 2, `the handle followed the finger by ${nx - x}, ${ny - y}, not 18, -48`);
    await touch("touchEnd", []);
    const after = await look(tab);
    must(P(after.collision.V) !== P(before.V), "a finger does not move the handle");
    equal(await tab.evaluate(() => scrollY), scroll, "place of the page after dragging");
    await compare([after]);
    calm(tab);
    return tab;
  },
  "bodies are drawn as they are, with velocities after": async () => {
    const tab = await openTab("#impulse&preset=superball");
    equal(await tab.locator(".bodies circle.body-b").count(), 1, "a ball");
    const tip = () => tab.locator(".bodies .after path").first().getAttribute("d");
    const routh = await tip();
    await tab.selectOption("#after", "newton");
    must(routh !== await tip(), "velocities after do not follow the law");
    const wanted = (await carom("impact", [], JSON.stringify({ ...await collision(tab), law: "newton" }))).bodies[1];
    must((await tab.locator(".bodies figcaption").textContent()).includes(`${Number(wanted.omega.toPrecision(4))}`.replace("-", "−")), "the spin after");
    // a rod by its end, then an ellipse, then a weight on a stick: only the inertia differs
    for (const [inertia, shape] of [[0.1 * 0.03 ** 2 / 3, "rect.body-b"], [0.1 * 0.03 ** 2 * 0.3, "ellipse.body-b"], [0.1 * 0.03 ** 2 * 0.1, "path.body-b.stick"]]) {
      const next = { ...await collision(tab) };
      next.bodies[1].inertia = inertia;
      await tab.evaluate((c) => { location.hash = `#impulse&c=${encodeURIComponent(JSON.stringify(c))}`; }, next);
      await tab.waitForSelector(`.bodies ${shape}`, { state: "attached" });
    }
    await tab.selectOption("#impulse .controls select", "tumbling-box");
    equal(await tab.locator(".bodies .edges").count(), 2, "two boxes");
    calm(tab);
    return tab;
  },
  "space: bodies become W and V, and sliders keep W positive": async () => {
    const tab = await openTab("#impulse&preset=tumbling-box");
    const bodies = await look(tab);
    await tab.locator("[aria-label='velocity, m/s, of body b, component 3']").evaluate((e) => { e.value = -1; e.dispatchEvent(new Event("input", { bubbles: true })); });
    const slower = await look(tab);
    equal(slower.collision.bodies[1].velocity[2], -1, "velocity of b along z");
    await setRange(tab, "[aria-label='velocity, m/s, of body b, component 3']", "-2");
    await tab.click("#reduce");
    const mass = await look(tab);
    must(!mass.collision.bodies && mass.collision.W.length === 3 && mass.collision.V.length === 3, "W and V of three dimensions");
    for (const law of ["routh", "newton", "whittaker"]) {
      mass.got[law].forEach((x, i) => must(Math.abs(x - bodies.got[law][i]) < 1e-9, `${law} says ${mass.got[law]} of W and V, ${bodies.got[law]} of the bodies`));
    }
    const looks = [bodies, slower, mass];
    for (const [label, value] of [["W, entry 1 of its diagonal", "3"], ["W, entry 1, 2 as", "0.95"], ["W, entry 1, 3 as", "0.3"], ["W, entry 2, 3 as", "1"], ["W, entry 2, 3 as", "0.3"], ["relative velocity, component 2", "1.5"]]) {
      await setRange(tab, `[aria-label^='${label}']`, value);
      const now = await look(tab);
      positive(now.collision.W);
      must(JSON.stringify(now.collision) !== JSON.stringify(looks.at(-1).collision), `${label} changes nothing`);
      looks.push(now);
    }
    await tab.locator("[aria-label^='Middle of the ellipse']").focus();
    await tab.keyboard.press("ArrowRight");
    looks.push(await look(tab));
    must(P(looks.at(-1).collision.V) !== P(looks.at(-2).collision.V), "P_II does not change V in space");
    await quiet(tab, "sliders in space");
    await compare(looks);
    calm(tab);
    return tab;
  },
  "files: SVG, PNG and JSON": async () => {
    const tab = await openTab("#impulse&preset=generic");
    let saved = "";
    const before = await look(tab);
    for (const [button, start] of [["#save-svg", "<svg"], ["#save-png", "\x89PNG"], ["#save-json", "{"]]) {
      const [download] = await Promise.all([tab.waitForEvent("download"), tab.click(button)]);
      const file = `${folder}/${download.suggestedFilename()}`;
      await download.saveAs(file);
      must(readFileSync(file, "latin1").startsWith(start), `${button} does not begin with ${start}`);
      if (button === "#save-json") await carom("impact", [file]);
      if (button === "#save-json") saved = readFileSync(file, "utf8");
      if (button === "#save-svg") must(!/var\(|class=/.test(readFileSync(file, "utf8")), "the SVG needs the page's style");
    }
    // what was saved opens again
    await tab.selectOption("#impulse .controls select", "diagonal");
    await dropFile(tab, "saved.json", saved);
    await tab.waitForFunction((words) => document.querySelector("#impulse .comment").textContent === words, before.collision.comment);
    equal(P((await look(tab)).got), P(before.got), "impulses of the saved collision");
    await dropFile(tab, "odd.json", '{"n":[1,0],"W":[[1]],"V":[0]}');
    await tab.waitForFunction(() => document.getElementById("message").textContent.startsWith("odd.json is refused"));
    calm(tab);
    return tab;
  },
};
