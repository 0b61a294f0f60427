// three.js - the part of three that the page uses, a renderer that may be missing, and words in space.
export {
  Box3, BufferAttribute, BufferGeometry, CanvasTexture, Color, CylinderGeometry, DirectionalLight, DoubleSide,
  DynamicDrawUsage, Float32BufferAttribute, GridHelper, Group, HemisphereLight, Line, LineBasicMaterial, Matrix4, Mesh,
  MeshBasicMaterial, MeshLambertMaterial, PerspectiveCamera, NearestFilter, PlaneGeometry, Points, PointsMaterial, Quaternion, Raycaster, RepeatWrapping, Scene, SphereGeometry,
  SRGBColorSpace, Vector2, Vector3,
} from "three";
export { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { CanvasTexture, Quaternion, Sprite, SpriteMaterial, Vector3, WebGLRenderer } from "three";
import { make } from "./dom.js";

// null where the browser has no WebGL: the place then says so, and the rest of the page works
export const makeRenderer = (place, antialias = true) => {
  try {
    const renderer = new WebGLRenderer({ antialias, preserveDrawingBuffer: true });
    renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    place.append(renderer.domElement);
    return renderer;
  } catch {
    place.textContent = "This browser draws no 3D (WebGL is off).";
    return null;
  }
};

// whether a processor stands in for the graphics card, by the name of what draws
export const drawnBySoftware = () => {
  const gl = make("canvas").getContext("webgl2");
  const names = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = String(gl?.getParameter(names ? names.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
};

// words that face the eye, in front of everything; height is that of a line
export const words = (text, color, height) => {
  const font = '52px "DejaVu Sans", Verdana, sans-serif';
  const canvas = make("canvas", { height: 72 });
  const measure = canvas.getContext("2d");
  measure.font = font;
  canvas.width = Math.ceil(measure.measureText(text).width) + 16;
  const pen = canvas.getContext("2d");
  Object.assign(pen, { font, fillStyle: color, textAlign: "center", textBaseline: "middle" });
  pen.fillText(text, canvas.width / 2, 36);
  const sprite = new Sprite(new SpriteMaterial({ map: new CanvasTexture(canvas), depthTest: false, transparent: true }));
  sprite.scale.set((height * canvas.width) / 72, height, 1);
  sprite.renderOrder = 5;
  return sprite;
};

const TURNS = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] };  // radians around and over
const POLE = 0.05;  // radians that the camera stays away from up and down

// arrow keys turn the view that orbit() controls while the canvas has the focus; turned() is told before
export const turnByKeys = (canvas, orbit, turned = () => {}) => {
  canvas.tabIndex = 0;
  canvas.addEventListener("keydown", (e) => {
    const turn = TURNS[e.key];
    if (!turn || !orbit()) return;
    e.preventDefault();
    const { object: camera, target } = orbit();
    const from = camera.position.clone().sub(target);
    const side = new Vector3().crossVectors(camera.up, from).normalize();
    const angle = from.angleTo(camera.up) + turn[1];
    if (angle > POLE && angle < Math.PI - POLE) from.applyQuaternion(new Quaternion().setFromAxisAngle(side, turn[1]));
    from.applyQuaternion(new Quaternion().setFromAxisAngle(camera.up, turn[0]));
    camera.position.copy(from).add(target);
    turned();
    orbit().update();
  });
};

export const discard = (object) => {
  object.traverse((o) => { o.geometry?.dispose(); o.material?.map?.dispose?.(); o.material?.dispose?.(); });
  object.removeFromParent();
};
