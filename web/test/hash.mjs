// hash.mjs CAROM WASM SCENE... - the same scene gives the same state in WebAssembly as natively, to the bit.
//
// Also the answers of `carom impact --json` and `carom resolve --json` for all examples, byte for byte in their
// numbers. Prints what differs; exit status 1 where something does.
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { Carom, CaromError } from "../src/carom.js";

const [command, wasm, ...scenes] = process.argv.slice(2);
const root = new URL("../../", import.meta.url).pathname;
const carom = await Carom.load(readFileSync(wasm));
let wrong = 0;
const check = (name, got, wanted) => {
  if (got === wanted) return;
  wrong++;
  console.error(`${name}: ${got} in WebAssembly, ${wanted} natively`);
};

// the command ends with status 4 where a step is not solved to the tolerance; its answer counts all the same
const native = (verb, args) => {
  try {
    return execFileSync(command, [verb, "--json", ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  } catch (error) {
    if (error.status !== 4) throw error;
    return error.stdout;
  }
};

for (const [verb, folder] of [["impact", "impacts"], ["resolve", "resolve"]]) {
  for (const file of readdirSync(`${root}examples/${folder}`)) {
    const path = `${root}examples/${folder}/${file}`;
    const wanted = JSON.stringify(JSON.parse(native(verb, [path])));
    check(file, JSON.stringify(carom[verb](readFileSync(path, "utf8"))), wanted);
  }
}

for (const name of scenes) {
  const path = `${root}scenes/${name}.json`;
  const begun = performance.now();
  const scene = carom.open(readFileSync(path, "utf8"));
  let steps = 0;
  while (scene.step()) steps++;
  const seconds = ((performance.now() - begun) / 1000).toFixed(2);
  const wanted = JSON.parse(native("run", [path]));
  check(`${name}, steps`, steps, wanted.steps);
  check(`${name}, hash`, scene.hash(), wanted.hash);
  const looked = scene.look();
  check(`${name}, energy`, looked.kinetic + looked.potential, wanted.energy.end);
  if (process.env.CAROM_VERBOSE) console.log(`${name}: ${scene.hash()}, ${steps} steps, ${seconds} s; natively ${wanted.wall_time.toFixed(2)} s`);
  scene.close();
}

// options set values as the command's do
const tilted = carom.open(readFileSync(`${root}scenes/bouncing-ball.json`, "utf8"), { "step.dt": "0.002", "impact.law": "routh" });
while (tilted.step());
check("bouncing-ball with options", tilted.hash(), JSON.parse(native("run", ["bouncing-ball", "--dt", "0.002", "--law", "routh"])).hash);
tilted.close();

// bad input is refused in the command's words, and the module stays alive
for (const text of ["{", "[]", '{"carom":1,"bodies":[{"mass":"x"}]}', "{\"carom\":1,\n\"bodis\":[]}"]) {
  try {
    carom.open(text).close();
    check(`scene ${text}`, "accepted", "refused");
  } catch (error) {
    check(`scene ${text}, kind of error`, error instanceof CaromError, true);
    if (text.includes("bodis")) check("line of an unknown field", error.line, 2);
  }
}
check("alive after bad input", carom.catalogue.laws.length > 10, true);
process.exit(wrong > 0 ? 1 : 0);
