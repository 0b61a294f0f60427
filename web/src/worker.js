// worker.js - what the page's worker runs: the first message brings the library, all others are the engine's.
import { Carom } from "./carom.js";
import { makeEngine } from "./engine.js";

let engine = null;
const early = [];
globalThis.onmessage = async ({ data }) => {
  if (data.type !== "library") { if (engine) engine(data); else early.push(data); return; }
  try {
    const made = makeEngine(await Carom.load(data.module), (message, transfer = []) => globalThis.postMessage(message, { transfer }));
    engine = made;
    early.forEach(engine);
    globalThis.postMessage({ type: "ready" });
  } catch (error) {
    globalThis.postMessage({ type: "broken", message: error.message });
  }
};
