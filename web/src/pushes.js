// pushes.js - contacts as dots and impulses as arrows, drawn over everything: one mesh each, filled anew picture by
// picture.
import * as THREE from "./three.js";
import { ink } from "./dom.js";

const MOST = 2000;      // dots, and arrows
const LONGEST = 0.35;   // of the scene's radius
const SHORTEST = 0.01;  // of it; shorter arrows are left out
const DOT = 0.016, SHAFT = 0.006, HEAD = 0.019, TIP = 0.054;  // of it, too
const SIDES = 5;

// an arrow: a ring at its foot, two where its head begins, and its tip; across, share of the length, beyond
const ARROW = [[SHAFT, 0, 0], [SHAFT, 1, -TIP / 2], [HEAD, 1, -TIP / 2]].flatMap(([r, share, beyond]) => Array.from({ length: SIDES }, (_, i) => {
  const a = (2 * Math.PI * i) / SIDES;
  return [r * Math.cos(a), r * Math.sin(a), share, beyond];
})).concat([[0, 0, 1, TIP / 2]]);
const FACES = Array.from({ length: SIDES }, (_, i) => {
  const j = (i + 1) % SIDES, up = SIDES, head = 2 * SIDES;
  return [i, j, up + i, j, up + j, up + i, head + i, head + j, 3 * SIDES];
}).flat();

const disc = () => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 32, height: 32 });
  const pen = canvas.getContext("2d");
  pen.fillStyle = "#fff";
  pen.arc(16, 16, 15, 0, 2 * Math.PI);
  pen.fill();
  return new THREE.CanvasTexture(canvas);
};

const room = (vertices) => new THREE.Float32BufferAttribute(new Float32Array(3 * vertices), 3).setUsage(THREE.DynamicDrawUsage);

export class Pushes {
  constructor() {
    const dots = new THREE.BufferGeometry().setAttribute("position", room(MOST));
    this.dots = new THREE.Points(dots, new THREE.PointsMaterial({ map: disc(), alphaTest: 0.5, depthTest: false }));
    const arrows = new THREE.BufferGeometry().setAttribute("position", room(MOST * ARROW.length));
    arrows.setIndex(new THREE.BufferAttribute(Uint16Array.from({ length: MOST * FACES.length }, (_, i) => FACES[i % FACES.length] + Math.floor(i / FACES.length) * ARROW.length), 1));
    this.arrows = new THREE.Mesh(arrows, new THREE.MeshBasicMaterial({ depthTest: false, side: THREE.DoubleSide }));
    this.group = new THREE.Group();
    [this.dots, this.arrows].forEach((mesh, i) => {
      mesh.geometry.setDrawRange(0, 0);
      Object.assign(mesh, { frustumCulled: false, renderOrder: 2 + i });
      this.group.add(mesh);
    });
  }

  resize(radius) {
    this.radius = radius;
    this.dots.material.size = DOT * radius;
  }

  recolor() {
    this.dots.material.color.set(ink("ink-1"));
    this.arrows.material.color.set(ink("ink-5"));
  }

  // rows of point, impulse, kind; the largest impulse is as long as a third of the scene
  show(rows, { contacts, impulses }) {
    const { radius, dots, arrows } = this;
    let most = 1e-12, dotCount = 0, arrowCount = 0;
    for (let i = 0; i < rows.length; i += 7) most = Math.max(most, Math.hypot(rows[i + 3], rows[i + 4], rows[i + 5]));
    for (let i = 0; i < rows.length; i += 7) {
      if (contacts && rows[i + 6] === 0 && dotCount < MOST) dots.geometry.attributes.position.array.set(rows.subarray(i, i + 3), 3 * dotCount++);
      const size = (Math.hypot(rows[i + 3], rows[i + 4], rows[i + 5]) * LONGEST * radius) / most;
      if (impulses && size > SHORTEST * radius && arrowCount < MOST) this.putArrow(arrowCount++, rows.subarray(i, i + 6), size);
    }
    dots.geometry.setDrawRange(0, dotCount);
    arrows.geometry.setDrawRange(0, arrowCount * FACES.length);
    for (const mesh of [dots, arrows]) mesh.geometry.attributes.position.needsUpdate = true;
  }

  putArrow(k, [x, y, z, dx, dy, dz], size) {
    const long = Math.hypot(dx, dy, dz), { radius } = this;
    const u = [dx / long, dy / long, dz / long];
    const a = Math.abs(u[2]) < 0.8 ? [-u[1], u[0], 0] : [0, -u[2], u[1]];
    const b = [u[1] * a[2] - u[2] * a[1], u[2] * a[0] - u[0] * a[2], u[0] * a[1] - u[1] * a[0]];
    const width = radius / Math.hypot(...a);
    const { array } = this.arrows.geometry.attributes.position;
    let o = 3 * k * ARROW.length;
    for (const [p, q, share, beyond] of ARROW) {
      const along = share * size + beyond * radius;
      array[o++] = x + width * (p * a[0] + q * b[0]) + along * u[0];
      array[o++] = y + width * (p * a[1] + q * b[1]) + along * u[1];
      array[o++] = z + width * (p * a[2] + q * b[2]) + along * u[2];
    }
  }
}
