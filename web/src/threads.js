// threads.js - the engine behind a post: in a worker of the page's own text, or in the page where workers are refused.
import program from "worker";
import { makeEngine } from "./engine.js";

// hear(message) is called with what the engine tells; returns { post, kind }
export const startEngine = (carom, hear) => {
  const here = () => {
    const engine = makeEngine(carom, (message) => setTimeout(() => hear(message)));
    return { kind: "page", post: engine };
  };
  const link = { kind: "worker", post: null };
  const sent = [];
  const fall = () => { Object.assign(link, here()); sent.splice(0).forEach(link.post); };
  try {
    const url = URL.createObjectURL(new Blob([program], { type: "text/javascript" }));
    const worker = new Worker(url);
    let ready = false;
    worker.onmessage = ({ data }) => {
      if (data.type === "ready") { ready = true; sent.length = 0; } else if (data.type === "broken") fall(); else hear(data);
    };
    worker.onerror = (e) => { e.preventDefault(); if (!ready) fall(); };
    link.post = (message) => { if (!ready) sent.push(message); worker.postMessage(message); };
    worker.postMessage({ type: "library", module: carom.module });
  } catch {
    fall();
  }
  return { get kind() { return link.kind; }, post: (message) => link.post(message) };
};
