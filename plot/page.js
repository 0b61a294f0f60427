// page.js - the animation of a report: poses of bodies over time, drawn on 2D canvases by hand.
//
// Orthographic view with one camera for all runs; faces are sorted from far to near and shaded by their
// normal; spheres are discs with a meridian that shows how they turn.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  const end = Math.max(...data.runs.map((r) => r.t[r.t.length - 1]));
  const start = Math.min(...data.runs.map((r) => r.t[0]));
  const asked = /[#&]t=([-+.\deE]+)/.exec(location.hash);

  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const scale = (s, a) => [s * a[0], s * a[1], s * a[2]];
  const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];

  // poses are differences of whole numbers from frame to frame
  for (const run of data.runs) {
    const width = 7 * run.moving.length;
    run.poses = new Float64Array(run.frames.length);
    const sum = new Float64Array(width);
    run.frames.forEach((d, i) => {
      const k = i % width;
      sum[k] += d;
      run.poses[i] = sum[k] * (k % 7 < 3 ? data.quantum : data.turn);
    });
    delete run.frames;
    run.bodies.forEach((body) => { body.slot = -1; });
    run.moving.forEach((body, k) => { run.bodies[body].slot = k; });
  }

  // colours of the page, read again when it turns dark
  let inks = [];
  const readInks = () => {
    const style = getComputedStyle(document.documentElement);
    inks = [];
    for (let i = 1; i <= 13; i++) {
      const hex = style.getPropertyValue("--ink-" + i).trim();
      inks[i] = [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));
    }
    inks.paper = style.getPropertyValue("--paper").trim();
  };
  const css = (rgb, alpha) => `rgba(${rgb.map(Math.round).join(",")},${alpha})`;
  const shade = (rgb, light) => rgb.map((c) => c * Math.min(1, 0.62 + 0.45 * light) + 255 * Math.max(0, light - 0.8) * 0.35);

  const camera = { yaw: 0, pitch: 0, zoom: 1 };
  const resetCamera = () => {
    camera.yaw = data.flat ? 0 : -0.5;
    camera.pitch = data.flat ? 0 : 0.35;
    camera.zoom = 1;
  };

  // axes of the view: right, up, towards the eye
  const viewAxes = () => {
    const up = data.up;
    const eye = cross(data.right, up);
    const cy = Math.cos(camera.yaw), sy = Math.sin(camera.yaw);
    const right = add(scale(cy, data.right), scale(sy, eye));
    const level = add(scale(-sy, data.right), scale(cy, eye));
    const cp = Math.cos(camera.pitch), sp = Math.sin(camera.pitch);
    return [right, add(scale(cp, up), scale(-sp, level)), add(scale(cp, level), scale(sp, up))];
  };

  const rotate = (q, x) => {
    const [w, a, b, c] = q;
    const u = [a, b, c];
    const t = scale(2, cross(u, x));
    return add(add(x, scale(w, t)), cross(u, t));
  };

  // the pose of a moving body at a time, between two frames
  const poseAt = (run, k, time) => {
    const t = run.t;
    let lo = 0, hi = t.length - 1;
    while (hi - lo > 1) {
      const mid = (lo + hi) >> 1;
      if (t[mid] <= time) lo = mid; else hi = mid;
    }
    const share = t[hi] > t[lo] ? Math.min(1, Math.max(0, (time - t[lo]) / (t[hi] - t[lo]))) : 0;
    const width = 7 * run.moving.length;
    const a = lo * width + 7 * k, b = hi * width + 7 * k;
    const p = run.poses;
    let sign = 0;
    for (let i = 3; i < 7; i++) sign += p[a + i] * p[b + i];
    const out = [];
    for (let i = 0; i < 7; i++) out.push(p[a + i] * (1 - share) + share * (i > 2 && sign < 0 ? -1 : 1) * p[b + i]);
    const norm = Math.hypot(out[3], out[4], out[5], out[6]) || 1;
    return { p: out.slice(0, 3), q: out.slice(3).map((x) => x / norm) };
  };

  // one stage: a canvas with its run
  const makeStage = (run, canvas) => ({ run, canvas, pen: canvas.getContext("2d"), width: 0, height: 0 });
  const resize = (s) => {
    const ratio = window.devicePixelRatio || 1;
    const w = Math.round(s.canvas.clientWidth * ratio), h = Math.round(s.canvas.clientHeight * ratio);
    if (s.canvas.width !== w || s.canvas.height !== h) { s.canvas.width = w; s.canvas.height = h; }
    s.width = w; s.height = h; s.ratio = ratio;
  };

  const project = (s, axes, x) => {
    const d = add(x, scale(-1, data.centre));
    return [s.width / 2 + s.scale * dot(d, axes[0]), s.height / 2 - s.scale * dot(d, axes[1]), dot(d, axes[2])];
  };

  // the box of everything that happens, seen along the present axes
  const extent = (axes) => {
    let w = 1e-12, h = 1e-12;
    for (let i = 0; i < 8; i++) {
      const c = [0, 1, 2].map((k) => ((i >> k) & 1 ? 1 : -1) * data.half[k]);
      w = Math.max(w, Math.abs(dot(c, axes[0])));
      h = Math.max(h, Math.abs(dot(c, axes[1])));
    }
    return [w, h];
  };

  const fitScale = (s, axes) => {
    const [w, h] = extent(axes);
    s.scale = camera.zoom * 0.47 * Math.min(s.width / w, s.height / h);
  };

  const drawGround = (s, axes, plane) => {
    const pen = s.pen;
    const n = plane.n;
    if (dot(n, axes[2]) < -0.02) return;
    const some = Math.abs(n[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0];
    const a = scale(1 / Math.hypot(...cross(n, some)), cross(n, some));
    const b = cross(n, a);
    const foot = add(data.centre, scale(plane.d - dot(n, data.centre), n));
    const size = 1.15 * Math.hypot(...data.half);
    pen.strokeStyle = css(inks[4], 0.55);
    pen.fillStyle = css(inks[4], 0.12);
    pen.lineWidth = s.ratio;
    pen.beginPath();
    [[-1, -1], [1, -1], [1, 1], [-1, 1]].forEach(([u, v], i) => {
      const p = project(s, axes, add(foot, add(scale(u * size, a), scale(v * size, b))));
      if (i) pen.lineTo(p[0], p[1]); else pen.moveTo(p[0], p[1]);
    });
    pen.closePath();
    pen.fill();
    pen.stroke();
    pen.strokeStyle = css(inks[4], 0.25);
    pen.beginPath();
    for (let i = -4; i <= 4; i++) {
      for (const [u, v] of [[a, b], [b, a]]) {
        const p = project(s, axes, add(foot, add(scale((i * size) / 4, u), scale(-size, v))));
        const q = project(s, axes, add(foot, add(scale((i * size) / 4, u), scale(size, v))));
        pen.moveTo(p[0], p[1]);
        pen.lineTo(q[0], q[1]);
      }
    }
    pen.stroke();
  };

  const light = [-0.35, 0.6, 0.72];

  const drawBall = (s, axes, item) => {
    const pen = s.pen, rgb = item.rgb, [x, y] = item.at, r = item.r * s.scale;
    const fill = pen.createRadialGradient(x - 0.35 * r, y - 0.45 * r, 0.1 * r, x, y, r);
    fill.addColorStop(0, css(shade(rgb, 1.5), 1));
    fill.addColorStop(0.6, css(shade(rgb, 0.75), 1));
    fill.addColorStop(1, css(shade(rgb, 0.15), 1));
    pen.fillStyle = fill;
    pen.beginPath();
    pen.arc(x, y, Math.max(r, 0.5), 0, 2 * Math.PI);
    pen.fill();
    if (r < 5) return;
    // the near half of a meridian
    pen.strokeStyle = css([255, 255, 255], 0.75);
    pen.lineWidth = Math.max(1, 0.09 * r);
    pen.beginPath();
    let drawing = false;
    for (let i = 0; i <= 48; i++) {
      const t = (i / 48) * 2 * Math.PI;
      const d = rotate(item.q, [Math.cos(t) * 0.93 * item.r, 0, Math.sin(t) * 0.93 * item.r]);
      if (dot(d, axes[2]) < 0) { drawing = false; continue; }
      const px = x + s.scale * dot(d, axes[0]), py = y - s.scale * dot(d, axes[1]);
      if (drawing) pen.lineTo(px, py); else pen.moveTo(px, py);
      drawing = true;
    }
    pen.stroke();
  };

  const drawFace = (s, item) => {
    const pen = s.pen;
    pen.beginPath();
    item.points.forEach((p, i) => (i ? pen.lineTo(p[0], p[1]) : pen.moveTo(p[0], p[1])));
    pen.closePath();
    pen.fillStyle = css(shade(item.rgb, item.light), item.alpha);
    pen.fill();
    pen.strokeStyle = item.smooth ? pen.fillStyle : css(shade(item.rgb, 0.05), 0.8 * item.alpha);
    pen.lineWidth = item.smooth ? 0.7 : s.ratio;
    pen.stroke();
  };

  // a body without shapes: a line from its origin to a point of it
  const stickItem = (s, axes, pose, end) => {
    const from = project(s, axes, pose.p), to = project(s, axes, add(pose.p, rotate(pose.q, end)));
    return { depth: (from[2] + to[2]) / 2, stick: true, from, to };
  };
  const drawStick = (s, item) => {
    const pen = s.pen;
    pen.strokeStyle = pen.fillStyle = css(item.rgb, 1);
    pen.lineWidth = 3 * s.ratio;
    pen.lineCap = "round";
    pen.beginPath();
    pen.moveTo(item.from[0], item.from[1]);
    pen.lineTo(item.to[0], item.to[1]);
    pen.stroke();
    for (const p of [item.from, item.to]) {
      pen.beginPath();
      pen.arc(p[0], p[1], 4 * s.ratio, 0, 2 * Math.PI);
      pen.fill();
    }
  };

  const addShape = (s, axes, shape, pose, rgb, alpha, items) => {
    if (shape.r) {
      const centre = add(pose.p, rotate(pose.q, shape.p));
      const at = project(s, axes, centre);
      items.push({ depth: at[2], ball: true, at, r: shape.r, q: pose.q, rgb });
      return;
    }
    const points = [];
    for (let i = 0; i < shape.v.length; i += 3) {
      points.push(project(s, axes, add(pose.p, rotate(pose.q, [shape.v[i], shape.v[i + 1], shape.v[i + 2]]))));
    }
    for (let i = 0; i < shape.f.length; i += 1 + shape.f[i]) {
      const loop = shape.f.slice(i + 1, i + 1 + shape.f[i]).map((k) => points[k]);
      // the normal in the view's axes, from the first three corners
      const [a, b, c] = loop;
      const u = [b[0] - a[0], a[1] - b[1], (b[2] - a[2]) * s.scale], v = [c[0] - a[0], a[1] - c[1], (c[2] - a[2]) * s.scale];
      let n = cross(u, v);
      const size = Math.hypot(...n) || 1;
      if (n[2] < 0 && shape.solid) continue;
      if (n[2] < 0) n = scale(-1, n);
      const depth = loop.reduce((sum, p) => sum + p[2], 0) / loop.length;
      items.push({ depth, points: loop, light: Math.max(0, dot(scale(1 / size, n), light)), rgb, alpha, smooth: shape.smooth });
    }
  };

  const options = { paths: data.runs.every((r) => r.moving.length <= 40), names: false };

  const drawPaths = (s, axes, time) => {
    const run = s.run, width = 7 * run.moving.length;
    const every = Math.ceil(run.t.length / 300);
    run.moving.forEach((body, k) => {
      s.pen.strokeStyle = css(inks[6 + ((body - 1) % 8)], 0.6);
      s.pen.lineWidth = s.ratio;
      s.pen.beginPath();
      const com = run.bodies[body].com;
      for (let i = 0; i < run.t.length && run.t[i] <= time; i += every) {
        const o = i * width + 7 * k;
        const q = [run.poses[o + 3], run.poses[o + 4], run.poses[o + 5], run.poses[o + 6]];
        const p = project(s, axes, add([run.poses[o], run.poses[o + 1], run.poses[o + 2]], rotate(q, com)));
        if (i) s.pen.lineTo(p[0], p[1]); else s.pen.moveTo(p[0], p[1]);
      }
      const now = poseAt(run, k, time);
      const last = project(s, axes, add(now.p, rotate(now.q, com)));
      s.pen.lineTo(last[0], last[1]);
      s.pen.stroke();
    });
  };

  const drawStage = (s, time) => {
    resize(s);
    if (!s.width || !s.height) return;
    const axes = viewAxes(), run = s.run, pen = s.pen;
    fitScale(s, axes);
    pen.fillStyle = inks.paper;
    pen.fillRect(0, 0, s.width, s.height);
    run.planes.forEach((plane) => drawGround(s, axes, plane));
    if (options.paths) drawPaths(s, axes, time);
    const items = [], labels = [];
    run.bodies.forEach((body, i) => {
      const k = body.slot;
      const pose = k >= 0 ? poseAt(run, k, time) : { p: body.pose.slice(0, 3), q: body.pose.slice(3) };
      const rgb = k >= 0 ? inks[6 + ((i - 1) % 8)] : inks[4];
      body.sticks.forEach((end) => items.push({ ...stickItem(s, axes, pose, end), rgb }));
      body.shapes.forEach((shape) => addShape(s, axes, shape, pose, rgb, k >= 0 ? 1 : 0.5, items));
      if (options.names && k >= 0) labels.push([body.name, project(s, axes, add(pose.p, rotate(pose.q, body.com)))]);
    });
    items.sort((a, b) => a.depth - b.depth);
    items.forEach((item) => (item.ball ? drawBall(s, axes, item) : item.stick ? drawStick(s, item) : drawFace(s, item)));
    pen.font = `${11 * s.ratio}px "DejaVu Sans",Verdana,sans-serif`;
    pen.textAlign = "center";
    pen.fillStyle = css(inks[1], 1);
    labels.forEach(([name, p]) => pen.fillText(name, p[0], p[1] - 6 * s.ratio));
  };

  const stages = data.runs.map((run, i) => makeStage(run, byId("stage" + i)));
  const play = byId("play"), scrub = byId("scrub"), speed = byId("speed"), clock = byId("clock");
  let time = start, playing = !still && !asked && end > start, last = 0, dirty = true;
  if (asked) time = Math.min(end, Math.max(start, Number(asked[1]) || 0));

  scrub.min = start;
  scrub.max = end;
  scrub.step = (end - start) / 1000 || 1;
  // the fastest speed at which the run takes three seconds
  const speeds = Array.from(speed.options, (o) => o.value);
  speed.value = speeds.find((v) => (end - start) / Number(v) >= 2.9) || speeds[speeds.length - 1];

  const show = () => {
    stages.forEach((s) => drawStage(s, time));
    scrub.value = time;
    clock.textContent = time.toFixed(3) + " s";
    play.textContent = playing ? "Pause" : "Play";
  };
  const tick = (now) => {
    if (playing && last) {
      time += ((now - last) / 1000) * Number(speed.value);
      if (time > end) time = start;
      dirty = true;
    }
    last = now;
    if (dirty) show();
    dirty = false;
    requestAnimationFrame(tick);
  };

  play.addEventListener("click", () => { playing = !playing; if (time >= end) time = start; dirty = true; });
  scrub.addEventListener("input", () => { time = Number(scrub.value); playing = false; dirty = true; });
  byId("reset").addEventListener("click", () => { resetCamera(); dirty = true; });
  for (const name of ["paths", "names"]) {
    byId(name).checked = options[name];
    byId(name).addEventListener("change", (e) => { options[name] = e.target.checked; dirty = true; });
  }
  for (const { canvas } of stages) {
    canvas.addEventListener("pointerdown", (e) => canvas.setPointerCapture(e.pointerId));
    canvas.addEventListener("pointermove", (e) => {
      if (!canvas.hasPointerCapture(e.pointerId)) return;
      camera.yaw -= 0.01 * e.movementX;
      camera.pitch = Math.min(1.55, Math.max(-1.55, camera.pitch + 0.01 * e.movementY));
      dirty = true;
    });
    canvas.addEventListener("wheel", (e) => {
      if (!e.ctrlKey && !e.shiftKey) return;
      e.preventDefault();
      camera.zoom = Math.min(20, Math.max(0.2, camera.zoom * Math.exp(-0.002 * (e.deltaY || e.deltaX))));
      dirty = true;
    }, { passive: false });
  }
  for (const [id, factor] of [["closer", 1.25], ["farther", 0.8]]) {
    byId(id).addEventListener("click", () => { camera.zoom = Math.min(20, Math.max(0.2, camera.zoom * factor)); dirty = true; });
  }
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readInks(); dirty = true; });
  window.addEventListener("resize", () => { dirty = true; });
  readInks();
  resetCamera();
  // canvases of the shape of what they show
  const [w, h] = extent(viewAxes());
  for (const { canvas } of stages) canvas.style.aspectRatio = String(Math.min(2.2, Math.max(1.1, w / h)));
  show();
  requestAnimationFrame(tick);
})();
