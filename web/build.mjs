// build.mjs - one self-contained page: dist/carom.html, with style, script, examples and the library in it.
//
// The style begins with that of the reports (plot/page.css), so that both look alike. Script and
// library are carried compressed. Usage: node build.mjs [WASM]; without WASM it is dist/carom.wasm.
import { readFileSync, readdirSync, writeFileSync, mkdirSync } from "node:fs";
import { gzipSync } from "node:zlib";
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

const bundle = await build({
  entryPoints: [`${here}src/main.js`],
  bundle: true, minify: true, write: false, format: "iife", target: "es2022", legalComments: "none",
  loader: { ".css": "text" },
  plugins: [{
    name: "examples",
    setup(b) {
      b.onResolve({ filter: /^examples$/ }, () => ({ path: "examples", namespace: "examples" }));
      b.onLoad({ filter: /.*/, namespace: "examples" }, () => ({ contents: JSON.stringify(examples), loader: "json" }));
    },
  }],
});

const packed = (bytes) => gzipSync(bytes, { level: 9 }).toString("base64");
const style = [themed(readFileSync(`${root}plot/page.css`, "utf8")),
  readFileSync(`${here}node_modules/uplot/dist/uPlot.min.css`, "utf8"),
  readFileSync(`${here}src/page.css`, "utf8")].join("\n");
const parts = {
  style, script: packed(bundle.outputFiles[0].contents), wasm: packed(wasm),
};
const page = readFileSync(`${here}src/page.html`, "utf8").replace(/@(style|script|wasm)@/g, (_, name) => parts[name]);
mkdirSync(`${here}dist`, { recursive: true });
writeFileSync(`${here}dist/carom.html`, page);
console.log(`dist/carom.html: ${(Buffer.byteLength(page) / 1000).toFixed(0)} kB; script ${(bundle.outputFiles[0].contents.length / 1000).toFixed(0)} kB, `
  + `library ${(wasm.length / 1000).toFixed(0)} kB, compressed ${(gzipSync(wasm, { level: 9 }).length / 1000).toFixed(0)} kB`);
