// balls.js - all spheres of a scene as one mesh, with a stripe that shows how they turn.
//
// Vertices are turned here, not by the graphics card: one mesh of many spheres is drawn many times faster than
// as many instances where a processor stands in for the card, and costs a card nothing.
import * as THREE from "./three.js";
import { LOOKS, paint } from "./looks.js";

const VERTICES = 60000;  // of all spheres together, about
const ROUNDEST = [32, 20], COARSEST = [10, 7];  // segments around, and from pole to pole

// a row for each look, with the stripe
const WIDE = 64, HIGH = 32;
const stripes = () => {
  const canvas = Object.assign(document.createElement("canvas"), { width: WIDE, height: HIGH * LOOKS });
  const pen = canvas.getContext("2d");
  for (let look = 0; look < LOOKS; look++) {
    pen.save();
    pen.translate(0, HIGH * (LOOKS - 1 - look));
    paint(pen, look, WIDE, HIGH);
    pen.fillStyle = "#00000064";
    pen.fillRect(0, 13, WIDE, 6);
    pen.restore();
  }
  return Object.assign(new THREE.CanvasTexture(canvas), { colorSpace: THREE.SRGBColorSpace });
};

const sphere = (count) => {
  const share = Math.sqrt(VERTICES / count / (ROUNDEST[0] * ROUNDEST[1]));
  return new THREE.SphereGeometry(1, ...ROUNDEST.map((most, i) => Math.max(COARSEST[i], Math.min(most, Math.round(most * share)))));
};

export class Balls {
  // looks: of each ball
  constructor(looks, shadows) {
    const count = looks.length, unit = sphere(count);
    this.unit = unit.attributes.position.array;
    this.each = this.unit.length / 3;
    const repeated = (array, size) => Float32Array.from({ length: count * size }, (_, i) => array[i % size]);
    const geometry = new THREE.BufferGeometry();
    const moved = () => new THREE.Float32BufferAttribute(new Float32Array(3 * this.each * count), 3).setUsage(THREE.DynamicDrawUsage);
    geometry.setAttribute("position", moved());
    geometry.setAttribute("normal", moved());
    geometry.setAttribute("color", moved());
    const uv = repeated(unit.attributes.uv.array, 2 * this.each);
    looks.forEach((look, k) => { for (let i = k * this.each; i < (k + 1) * this.each; i++) uv[2 * i + 1] = (look + uv[2 * i + 1]) / LOOKS; });
    geometry.setAttribute("uv", new THREE.Float32BufferAttribute(uv, 2));
    geometry.setIndex(new THREE.BufferAttribute(Uint32Array.from({ length: count * unit.index.count }, (_, i) => unit.index.array[i % unit.index.count] + Math.floor(i / unit.index.count) * this.each), 1));
    unit.dispose();
    this.mesh = new THREE.Mesh(geometry, new THREE.MeshLambertMaterial({ map: stripes(), vertexColors: true }));
    Object.assign(this.mesh, { frustumCulled: false, castShadow: shadows, receiveShadow: shadows });
    this.turn = new THREE.Matrix4();
  }

  color(k, color) {
    const { array } = this.mesh.geometry.attributes.color;
    for (let i = k * this.each; i < (k + 1) * this.each; i++) color.toArray(array, 3 * i);
  }

  // sphere k about a point, turned by a quaternion
  place(k, at, quaternion, r) {
    const { position, normal } = this.mesh.geometry.attributes;
    const m = this.turn.makeRotationFromQuaternion(quaternion).elements, { unit } = this;
    const p = position.array, n = normal.array;
    for (let i = 0, o = 3 * k * this.each; i < unit.length; i += 3, o += 3) {
      const x = unit[i], y = unit[i + 1], z = unit[i + 2];
      p[o] = at.x + r * (n[o] = m[0] * x + m[4] * y + m[8] * z);
      p[o + 1] = at.y + r * (n[o + 1] = m[1] * x + m[5] * y + m[9] * z);
      p[o + 2] = at.z + r * (n[o + 2] = m[2] * x + m[6] * y + m[10] * z);
    }
  }

  // after all were placed or coloured
  update() { for (const name of ["position", "normal", "color"]) this.mesh.geometry.attributes[name].needsUpdate = true; }
}
