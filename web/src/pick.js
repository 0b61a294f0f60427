// pick.js - what a pointer points at: a body of the stage, the point on it, and points of a plane through it.
import * as THREE from "./three.js";

export class Pick {
  constructor(canvas) {
    this.canvas = canvas;
    this.caster = new THREE.Raycaster();
  }

  ray(stage, { clientX, clientY }) {
    const box = this.canvas.getBoundingClientRect();
    stage.camera.updateMatrixWorld();
    this.caster.setFromCamera(new THREE.Vector2((2 * (clientX - box.left)) / box.width - 1, 1 - (2 * (clientY - box.top)) / box.height), stage.camera);
    return this.caster.ray;
  }

  // { body, point } of the nearest body, or null; a finger is thick: near misses count
  at(stage, event) {
    const ray = this.ray(stage, event);
    const spread = (event.pointerType === "touch" ? 12 : 4) * (2 * Math.tan((stage.camera.fov * Math.PI) / 360)) / this.canvas.clientHeight;
    let best = null;
    const offer = (body, distance, point) => { if (!best || distance < best.distance) best = { body, distance, point }; };
    stage.balls.forEach((ball) => {
      const centre = ball.p.clone().applyMatrix4(stage.bodies[ball.body].matrixWorld);
      const along = ray.direction.dot(centre.clone().sub(ray.origin));
      if (along <= 0) return;
      const miss = ray.distanceToPoint(centre);
      if (miss > ball.r + spread * along) return;
      const distance = along - Math.sqrt(Math.max(0, ball.r ** 2 - miss ** 2));
      offer(ball.body, distance, miss < ball.r ? ray.at(distance, new THREE.Vector3()) : centre);
    });
    stage.bodies.forEach((group, body) => {
      for (const hit of this.caster.intersectObject(group, true)) if (hit.object.isMesh) { offer(body, hit.distance, hit.point); break; }
    });
    return best;
  }

  // where the pointer is in the plane through a point that faces the camera
  across(stage, event, point) {
    const ray = this.ray(stage, event);
    const normal = stage.camera.getWorldDirection(new THREE.Vector3());
    const slope = ray.direction.dot(normal);
    return Math.abs(slope) < 1e-6 ? point.clone() : ray.at(point.clone().sub(ray.origin).dot(normal) / slope, new THREE.Vector3());
  }
}
