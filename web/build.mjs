// build.mjs - two texts: the page (dist/carom.html) and the script elements of reports (report.html).
//
// Both are made of the modules of src/ and the same style; reports have no library and no examples. Scripts and
// library are carried compressed. carom.html and report.html are kept with the sources, so that the command can be
// built without node and clang. With --check nothing kept is written: a report.html that would change is an error, and
// inputs.py says whether carom.html still fits (its bytes depend on the compiler's version).
// Usage: node build.mjs [WASM [CAROM [--check]]]; without them dist/carom.wasm and build/bin/carom.
import { existsSync, readFileSync, readdirSync, writeFileSync, mkdirSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";
import { execFileSync } from "node:child_process";
import { build } from "esbuild";

const here = new URL(".", import.meta.url).pathname;
const root = `${here}../`;
const wasm = readFileSync(process.argv[2] ?? `${here}dist/carom.wasm`);

const command = process.argv[3] ?? `${root}build/bin/carom`;
const finished = (path) => {
  const text = readFileSync(path, "utf8");
  return text.includes('"hull"') ? execFileSync(command, ["export", path], { encoding: "utf8" }) : text;
};
const folder = (path) => Object.fromEntries(readdirSync(root + path).filter((f) => f.endsWith(".json")).sort()
  .map((f) => [f.slice(0, -5), finished(`${root}${path}/${f}`)]));
const examples = { impacts: folder("examples/impacts"), resolve: folder("examples/resolve"), scenes: folder("scenes") };

// colours of the reports, also for a page that was turned light or dark by hand
const themed = (css) => {
  const [light, dark] = [...css.matchAll(/:root\{([^}]*)\}/g)].map((m) => m[1]);
  return `${css}\n:root[data-theme=light]{${light};color-scheme:light}\n:root[data-theme=dark]{${dark};color-scheme:dark}\n`;
};

const minified = { bundle: true, minify: true, write: false, format: "iife", target: "es2022", legalComments: "none", loader: { ".css": "text" } };
const worker = async () => (await build({ ...minified, entryPoints: [`${here}src/worker.js`] })).outputFiles[0].text;
const bundleOf = async (entry) => (await build({
  ...minified,
  entryPoints: [`${here}src/${entry}`],
  plugins: [{
    name: "examples",
    setup(b) {
      b.onResolve({ filter: /^examples$/ }, () => ({ path: "examples", namespace: "examples" }));
      b.onLoad({ filter: /.*/, namespace: "examples" }, () => ({ contents: JSON.stringify(examples), loader: "json" }));
      // the worker's script is a text in the page's own
      b.onResolve({ filter: /^worker$/ }, () => ({ path: "worker", namespace: "worker" }));
      b.onLoad({ filter: /.*/, namespace: "worker" }, async () => ({ contents: await worker(), loader: "text" }));
    },
  }],
})).outputFiles[0].contents;

// whose work is in the script, in their own words
const licences = ["three", "uplot"].map((name) => `${name}\n${readFileSync(`${here}node_modules/${name}/LICENSE`, "utf8").trim().replaceAll("©", "(c)")}`).join("\n\n");
const packed = (bytes) => gzipSync(bytes, { level: 9 }).toString("base64");
const loader = readFileSync(`${here}src/loader.js`, "utf8");
const program = (bytes) => `<!--\n${licences}\n-->\n<script type="application/octet-stream" id="program">${packed(bytes)}</script>\n<script>\n"use strict";\n${loader}</script>\n`;

const page = await bundleOf("main.js");
const style = ["base", "page"].map((name) => readFileSync(`${here}src/${name}.css`, "utf8"));
const inputs = execFileSync("python3", [`${here}inputs.py`], { encoding: "utf8" }).trim();
const parts = { style: [themed(style[0]), style[1]].join("\n"), inputs, wasm: packed(wasm), program: program(page) };
const html = readFileSync(`${here}src/page.html`, "utf8").replace(/@(style|inputs|wasm|program)@/g, (_, name) => parts[name]);
mkdirSync(`${here}dist`, { recursive: true });
writeFileSync(`${here}dist/carom.html`, html);

// a kept text is written only where what it unpacks to changes: other versions of zlib pack the same in other bytes
const unpacked = (text) => text.replace(/(?<=id="(?:program|wasm)">)[^<]*/g, (packing) => gunzipSync(Buffer.from(packing, "base64")).toString("latin1"));
const differs = (path, text) => !existsSync(path) || unpacked(readFileSync(path, "utf8")) !== unpacked(text);
const checking = process.argv[4] === "--check";
const report = program(await bundleOf("report.js"));
if (differs(`${here}report.html`, report)) {
  if (checking) throw new Error("web/report.html is not what web/src makes: run ./dev web");
  writeFileSync(`${here}report.html`, report);
}
if (!checking && differs(`${here}carom.html`, html)) writeFileSync(`${here}carom.html`, html);

const kB = (size) => `${(size / 1000).toFixed(0)} kB`;
console.log(`dist/carom.html: ${kB(Buffer.byteLength(html))}; script ${kB(page.length)}, library ${kB(wasm.length)}, compressed ${kB(gzipSync(wasm, { level: 9 }).length)}; `
  + `report.html: ${kB(report.length)}`);
