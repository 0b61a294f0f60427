// picture.js - a drawing of the page as a file: SVG with its colours written out, or PNG made of it.
import { save, ink } from "./dom.js";

const PAINTED = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "fill-opacity", "font-size", "font-family"];

// styles of the page do not travel: every element gets its own
const standalone = (svg) => {
  const copy = svg.cloneNode(true);
  const from = svg.querySelectorAll("*"), to = copy.querySelectorAll("*");
  from.forEach((element, i) => {
    const style = getComputedStyle(element);
    for (const name of PAINTED) to[i].setAttribute(name, style.getPropertyValue(name));
    to[i].removeAttribute("class");
  });
  copy.querySelectorAll("[role=slider]").forEach((handle) => handle.remove());
  const [, , w, h] = svg.getAttribute("viewBox").split(" ");
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", w);
  copy.setAttribute("height", h);
  copy.style.background = ink("paper");
  return { text: new XMLSerializer().serializeToString(copy), w: Number(w), h: Number(h) };
};

export const savePicture = async (svg, name) => {
  const { text, w, h } = standalone(svg);
  if (name.endsWith(".svg")) return save(name, text, "image/svg+xml");
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: 2 * w, height: 2 * h });
  const pen = canvas.getContext("2d");
  pen.fillStyle = ink("paper");
  pen.fillRect(0, 0, 2 * w, 2 * h);
  pen.drawImage(image, 0, 0, 2 * w, 2 * h);
  return save(name, canvas.toDataURL("image/png"), "image/png");
};
