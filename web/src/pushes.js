// pushes.js - contacts as dots and impulses as arrows, drawn over everything; the same meshes picture after picture.
import * as THREE from "./three.js";
import { ink } from "./dom.js";

const MOST = 2000;      // dots, and arrows
const LONGEST = 0.35;   // of the scene's radius
const SHORTEST = 1e-3;  // of it; shorter arrows are left out

export class Pushes {
  constructor() {
    this.group = new THREE.Group();
    const mesh = (geometry, order) => {
      const made = new THREE.InstancedMesh(geometry, new THREE.MeshLambertMaterial({ depthTest: false }), MOST);
      Object.assign(made, { count: 0, frustumCulled: false, renderOrder: order });
      made.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
      this.group.add(made);
      return made;
    };
    this.dots = mesh(new THREE.SphereGeometry(0.008, 8, 6), 2);
    this.shafts = mesh(new THREE.CylinderGeometry(0.006, 0.006, 1, 8), 3);
    this.heads = mesh(new THREE.ConeGeometry(0.0192, 0.054, 12), 3);
  }

  resize(radius) { this.radius = radius; }

  recolor() {
    this.dots.material.color.set(ink("ink-1"));
    for (const mesh of [this.shafts, this.heads]) mesh.material.color.set(ink("ink-5"));
  }

  // rows of point, impulse, kind; the largest impulse is as long as a third of the scene
  show(rows, { contacts, impulses }) {
    const { radius, dots, shafts, heads } = this;
    let most = 1e-12;
    for (let i = 0; i < rows.length; i += 7) most = Math.max(most, Math.hypot(rows[i + 3], rows[i + 4], rows[i + 5]));
    const matrix = new THREE.Matrix4(), turn = new THREE.Quaternion(), p = new THREE.Vector3(), d = new THREE.Vector3();
    const up = new THREE.Vector3(0, 1, 0), scale = new THREE.Vector3(), at = new THREE.Vector3();
    dots.count = shafts.count = heads.count = 0;
    for (let i = 0; i < rows.length; i += 7) {
      p.set(rows[i], rows[i + 1], rows[i + 2]);
      d.set(rows[i + 3], rows[i + 4], rows[i + 5]).multiplyScalar((LONGEST * radius) / most);
      const size = d.length();
      if (contacts && rows[i + 6] === 0 && dots.count < MOST) dots.setMatrixAt(dots.count++, matrix.makeScale(radius, radius, radius).setPosition(p));
      if (!impulses || size <= SHORTEST * radius || shafts.count === MOST) continue;
      turn.setFromUnitVectors(up, d.divideScalar(size));
      shafts.setMatrixAt(shafts.count++, matrix.compose(at.copy(p).addScaledVector(d, 0.5 * size), turn, scale.set(radius, size, radius)));
      heads.setMatrixAt(heads.count++, matrix.compose(at.copy(p).addScaledVector(d, size), turn, scale.setScalar(radius)));
    }
    for (const mesh of [dots, shafts, heads]) mesh.instanceMatrix.needsUpdate = true;
  }
}
