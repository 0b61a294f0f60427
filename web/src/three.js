// three.js - the part of three that the page uses, and a renderer that may be missing.
export {
  Box3, BufferGeometry, CanvasTexture, Color, ConeGeometry, CylinderGeometry, DirectionalLight, DoubleSide,
  Float32BufferAttribute, GridHelper, Group, HemisphereLight, InstancedMesh, Line, LineBasicMaterial, Matrix4, Mesh,
  MeshLambertMaterial, PerspectiveCamera, PlaneGeometry, Quaternion, Scene, SphereGeometry, Sprite, SpriteMaterial,
  SRGBColorSpace, Vector3,
} from "three";
export { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { WebGLRenderer } from "three";

// null where the browser has no WebGL: the place then says so, and the rest of the page works
export const makeRenderer = (place) => {
  try {
    const renderer = new WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
    renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    place.append(renderer.domElement);
    return renderer;
  } catch {
    place.textContent = "This browser draws no 3D (WebGL is off).";
    return null;
  }
};
