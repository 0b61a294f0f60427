// looks.js - textures of materials, drawn by a few lines of code: wood, felt, metal, stone.
//
// They are shades of white, which the colour of the material multiplies. Numbers come from a fixed seed, so that a picture is the same
// every time.
import * as THREE from "./three.js";

export const LOOKS = 5;  // plain among them, as the library counts them
const SIZE = 128;

const numbers = () => { let x = 12345; return () => (x = (1103515245 * x + 12345) % 2147483648) / 2147483648; };
const shade = (light) => { const v = Math.round(255 * Math.max(0, Math.min(1, light))); return `rgb(${v},${v},${v})`; };

const painters = [
  () => {},
  // wood: grain along x, in waves
  (pen, w, h, random) => {
    for (let y = 0; y < h; y++) { pen.fillStyle = shade(0.86 + 0.1 * Math.sin(0.5 * y + 2 * Math.sin(0.11 * y)) - 0.08 * random()); pen.fillRect(0, y, w, 1); }
    for (let k = 0; k < w / 8; k++) { pen.fillStyle = shade(0.62 + 0.1 * random()); pen.fillRect(w * random(), h * random(), w * (0.1 + 0.2 * random()), 1); }
  },
  // felt: short fibres
  (pen, w, h, random) => {
    for (let k = 0; k < w * h / 6; k++) { pen.fillStyle = shade(0.78 + 0.22 * random()); pen.fillRect(Math.floor(w * random()), Math.floor(h * random()), random() < 0.5 ? 2 : 1, 1); }
  },
  // metal: brushed along x
  (pen, w, h, random) => {
    for (let y = 0; y < h; y++) { pen.fillStyle = shade(0.84 + 0.16 * random()); pen.fillRect(0, y, w, 1); }
  },
  // stone: grains
  (pen, w, h, random) => {
    for (let k = 0; k < w * h / 14; k++) { const s = 1 + 3 * random(); pen.fillStyle = shade(0.68 + 0.32 * random()); pen.fillRect(w * random(), h * random(), s, s); }
  },
];

export const paint = (pen, look, w, h) => {
  pen.fillStyle = "#fff";
  pen.fillRect(0, 0, w, h);
  painters[look](pen, w, h, numbers());
};

// repeated so many times over the unit of the geometry's uv
export const texture = (look, times = 1) => {
  const canvas = Object.assign(document.createElement("canvas"), { width: SIZE, height: SIZE });
  paint(canvas.getContext("2d"), look, SIZE, SIZE);
  const made = Object.assign(new THREE.CanvasTexture(canvas), { colorSpace: THREE.SRGBColorSpace, wrapS: THREE.RepeatWrapping, wrapT: THREE.RepeatWrapping });
  made.repeat.set(times, times);
  return made;
};

// the geometry with uv: each face sees the texture along the axis that it looks to most; once over the size of the shape, its longest
// side along the grain
export const mapped = (geometry) => {
  const faces = geometry.index ? geometry.toNonIndexed() : geometry, { array } = faces.attributes.position;
  faces.computeBoundingBox();
  const sides = faces.boundingBox.getSize(new THREE.Vector3()).toArray(), size = Math.max(...sides);
  const uv = new Float32Array((2 * array.length) / 3), at = (i) => new THREE.Vector3().fromArray(array, 3 * i);
  for (let i = 0; i < array.length / 3; i += 3) {
    const n = at(i + 1).sub(at(i)).cross(at(i + 2).sub(at(i))).toArray().map(Math.abs), axis = n.indexOf(Math.max(...n));
    const [u, v] = [0, 1, 2].filter((k) => k !== axis).sort((a, b) => sides[b] - sides[a]);
    for (let k = i; k < i + 3; k++) uv.set([array[3 * k + u] / size, array[3 * k + v] / size], 2 * k);
  }
  return faces.setAttribute("uv", new THREE.Float32BufferAttribute(uv, 2));
};
