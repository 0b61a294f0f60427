// handle.js - a point of a drawing that can be moved by mouse, finger or arrow keys.
import { make } from "./dom.js";

const STEP = 4;  // of an arrow key, in the drawing's own units; a quarter of it with shift

// move(point) is called with a point of the drawing; the drawing may be made anew meanwhile, its figure stays.
// hold(true) asks for the same scale until hold(false), so that the point stays under the pointer
export const handle = (at, title, value, { move, hold }) => {
  const circle = make("circle", { cx: at[0], cy: at[1], r: 9, class: "handle", tabindex: 0, role: "slider", "aria-label": title, "aria-valuetext": value }, make("title", {}, title));
  circle.addEventListener("pointerdown", (down) => {
    down.preventDefault();
    const figure = circle.closest("figure");
    figure.setPointerCapture(down.pointerId);
    hold(true);
    const go = (e) => {
      const svg = figure.querySelector("svg"), box = svg.getBoundingClientRect(), { width, height } = svg.viewBox.baseVal;
      move([((e.clientX - box.left) / box.width) * width, ((e.clientY - box.top) / box.height) * height]);
    };
    const end = () => {
      figure.removeEventListener("pointermove", go);
      ["pointerup", "pointercancel"].forEach((name) => figure.removeEventListener(name, end));
      hold(false);
    };
    figure.addEventListener("pointermove", go);
    ["pointerup", "pointercancel"].forEach((name) => figure.addEventListener(name, end));
  });
  // a finger on it does not scroll the page
  circle.addEventListener("touchstart", (e) => e.preventDefault(), { passive: false });
  circle.addEventListener("keydown", (e) => {
    const turn = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key];
    if (!turn) return;
    e.preventDefault();
    const figure = circle.closest("figure"), size = e.shiftKey ? STEP / 4 : STEP;
    move(at.map((x, i) => x + size * turn[i]));
    figure.querySelector(`[aria-label="${title}"]`)?.focus();
  });
  return circle;
};
