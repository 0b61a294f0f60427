// dom.js - elements made by name, and little helpers around them.

// make("button", { class: "x", onclick: f, "aria-label": "y" }, "text", child ...)
export const make = (tag, props = {}, ...children) => {
  const svg = ["svg", "path", "g", "text", "circle", "line", "polygon", "polyline", "title", "rect", "tspan", "ellipse"].includes(tag);
  const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child != null));
  return element;
};

// "1 step", "2 steps"
export const counted = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;

// a number for people: four figures, no "-0"
export const shown = (x, figures = 4) => {
  if (typeof x !== "number") return String(x ?? "");
  if (!Number.isFinite(x)) return x > 0 ? "∞" : x < 0 ? "−∞" : "–";
  if (Math.abs(x) < 1e-12) return "0";
  const size = Math.abs(x);
  const text = size >= 1e5 || size < 1e-3 ? x.toExponential(2) : String(Number(x.toPrecision(figures)));
  return text.replace("-", "−");
};
export const shownVector = (v, figures = 4) => `(${v.map((x) => shown(Math.abs(x) < 1e-12 ? 0 : x, figures)).join(", ")})`;

// where people are told what went wrong; the page goes on
export const say = (text) => {
  const place = document.getElementById("message");
  place.hidden = !text;
  place.replaceChildren(...(text ? [text, make("button", { type: "button", "aria-label": "Close the message", onclick: () => say("") }, "×")] : []));
};

export const select = (label, options, value, change) => {
  const box = make("select", { onchange: () => change(box.value) },
    ...options.map((o) => make("option", { value: o.value ?? o, title: o.title }, o.text ?? o)));
  box.value = value;
  return { row: make("label", {}, label, box), box };
};

export const save = (name, content, type) => {
  const url = typeof content === "string" && content.startsWith("data:") ? content
    : URL.createObjectURL(new Blob([content], { type }));
  make("a", { href: url, download: name }).click();
  if (url.startsWith("blob:")) setTimeout(() => URL.revokeObjectURL(url), 1000);
};

// colours of the page now, by the name of their variable
export const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
