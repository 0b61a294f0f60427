"""A law, a joint and a shape are added to a copy of the tree, each in as few files as its table promises, and work.

The law "halfway" is newton's with half the restitution; the joint "screw" turns about its axis and advances by PITCH for each
radian; the shape "spindle" is two cones base to base. What they must do follows from their definitions. Lists of names (the
command's, the schema's, those of fits) must know them though nobody told them.
"""
import csv
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["CAROM_SOURCE"])
FOLDERS = ["cmake", "docs", "examples", "fit", "include", "io", "plot", "scenes", "src", "test", "tools", "web"]
PITCH = 0.1  # m/rad
failures = 0


def check(good, *what):
    global failures
    if not good:
        failures += 1
        print("FAILED:", *what)


class Copy:
    """A copy of the sources that knows which of its files were added or changed."""

    def __init__(self, folder):
        self.root = pathlib.Path(folder)
        skip = shutil.ignore_patterns("node_modules", "dist", "__pycache__", "pictures")
        for name in FOLDERS:
            shutil.copytree(SOURCE / name, self.root / name, ignore=skip)
        for name in ("CMakeLists.txt", "LICENSE", "README.md"):
            shutil.copy(SOURCE / name, self.root)
        self.touched = set()

    def add(self, path, text):
        assert not (self.root / path).exists(), path
        (self.root / path).write_text(text)
        self.touched.add(path)

    def change(self, path, old, new):
        text = (self.root / path).read_text()
        assert text.count(old) == 1, (path, old, text.count(old))
        (self.root / path).write_text(text.replace(old, new))
        self.touched.add(path)

    def count(self, what, most):
        print(f"{what}: {len(self.touched)} files: {' '.join(sorted(self.touched))}")
        check(len(self.touched) <= most, what, "touches more than", most)
        self.touched = set()

    def build(self):
        build = self.root / "build"
        launcher = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
        env = dict(os.environ, CCACHE_BASEDIR=str(self.root), CCACHE_NOHASHDIR="1")
        commands = [["cmake", "-S", str(self.root), "-B", str(build), "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=-O0", "-DCAROM_TESTS=OFF",
                     "-DCAROM_PYTHON=OFF", "-DCAROM_MPI=OFF", *launcher],
                    ["cmake", "--build", str(build), "-j", str(os.cpu_count() or 1), "--target", "carom_command"]]
        for command in commands:
            done = subprocess.run(command, env=env, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"the copy does not build:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
        self.command = build / "bin/carom"

    def carom(self, *arguments, text=None):
        done = subprocess.run([str(self.command), *arguments], input=text, capture_output=True, text=True, cwd=self.root)
        check(done.returncode == 0, arguments, done.stdout[-500:], done.stderr[-500:])
        return done.stdout

    def run(self, scene, column):
        """The last number of a column of a scene's trajectory, and the time it is of."""
        (self.root / "scene.json").write_text(json.dumps(scene))
        self.carom("run", "scene.json", "--out", "scene.csv")
        with open(self.root / "scene.csv") as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
        return float(rows[-1][column]), float(rows[-1]["t"])


def add_law(copy):
    copy.add("src/resolve/law_halfway.c", """// law_halfway.c - newton's law with half the restitution.
#include "law.h"
#include "resolve/kinds.h"

static crStatus apply_halfway(const void* params, const crContact* c, crHit* hit, crError* error) {
    (void)params;
    (void)error;
    hit->P = cr_vec3(-(1.0 + 0.5 * c->e) * c->V.x / c->W.xx, 0.0, 0.0);
    return CR_OK;
}

const cr__LawKind cr__law_halfway = {
    .apply = apply_halfway,
    .info = {.name = "halfway", .title = "Half of Newton's restitution", .parameters = "e >= 0",
             .guarantee = "permissible for e <= 1", .source = "a toy", .dimension = 1, .spin_non_reversal = true,
             .reads = CR_READS(CR_BY_E)},
};
""")
    copy.add("docs/laws/halfway.md", "# halfway\n\nHalf of Newton's restitution.\n")
    copy.add("test/test_law_halfway.c", "// the test of the law\n")
    copy.count("a law", 3)


def add_joint(copy):
    copy.change("include/carom/model.h", "    CR_JOINT_KINDS\n", "    CR_JOINT_SCREW,  // turns about axis and advances\n    CR_JOINT_KINDS\n")
    copy.change("src/model/joint.c", "const cr__JointKind cr__joints[CR_JOINT_KINDS] = {\n", """#define PITCH 0.1
static crPose screw_pose(const crBody* body, const double* q) {
    return (crPose){cr_scale(PITCH * q[0], body->axis), turned_by(body->axis, q[0])};
}
static void screw_axes(const crBody* body, const crPose* pose, crQuat parent, crVec3 o, crTwist* axis) {
    (void)parent;
    crVec3 a = cr_quat_rotate(pose->q, body->axis);
    axis[0] = axis_through(a, pose->p, o);
    axis[0].v = cr_madd(axis[0].v, PITCH, a);
}

const cr__JointKind cr__joints[CR_JOINT_KINDS] = {
    [CR_JOINT_SCREW] = {.info = {.name = "screw", .nq = 1, .nv = 1, .quaternion = -1, .axis = true,
                                 .coordinate = "angle", .rate = "omega", .unit = "rad"},
                        .pose = screw_pose, .axes = screw_axes},
""")
    text = (copy.root / "docs/model.md").read_text()
    (copy.root / "docs/model.md").write_text(text + "\nA screw turns about its axis and advances.\n")
    copy.touched.add("docs/model.md")
    copy.add("test/test_joint_screw.c", "// the test of the joint\n")
    copy.count("a joint", 5)


def add_shape(copy):
    copy.change("include/carom/collide.h", "    CR_SHAPE_HALFSPACE,    //", "    CR_SHAPE_SPINDLE,      // two cones base to base\n    CR_SHAPE_HALFSPACE,    //")
    copy.change("src/collide/shape.c", "const cr__ShapeKind cr__shapes[CR_SHAPE_KINDS] = {\n", """static double spindle_extent(crVec3 s) { return fmax(s.x, s.z); }
static crVec3 spindle_support(crVec3 s, crVec3 d) {
    double t = sqrt(d.x * d.x + d.y * d.y);
    if (s.z * fabs(d.z) >= s.x * t) return cr_vec3(0, 0, copysign(s.z, d.z));
    return cr_vec3(s.x * d.x / t, s.x * d.y / t, 0);
}
static double spindle_moments(crVec3 s, double* z, crVec3* squares) {
    *z = 0.0;
    *squares = cr_vec3(0.15 * s.x * s.x, 0.15 * s.x * s.x, 0.1 * s.z * s.z);
    return 2.0 * CR_PI * s.x * s.x * s.z / 3.0;
}

const cr__ShapeKind cr__shapes[CR_SHAPE_KINDS] = {
    [CR_SHAPE_SPINDLE] = {.info = {"spindle", 2, {"r", "half"}, {"the radius, m", HALF_HEIGHT}, true},
                          .names = ROUND("half_height"), .extent = spindle_extent,
                          .support = spindle_support, .moments = spindle_moments},
""")
    for page in ("docs/collide.md", "docs/scenes.md"):
        text = (copy.root / page).read_text()
        (copy.root / page).write_text(text + "\nA spindle is two cones base to base.\n")
        copy.touched.add(page)
    copy.add("test/test_shape_spindle.c", "// the test of the shape\n")
    copy.count("a shape", 6)


def check_law(copy):
    check("halfway" in copy.carom("laws"), "carom laws lists it")
    hit = json.loads(copy.carom("impact", "-", "--json", text=json.dumps(
        {"W": [[2, 0, 0], [0, 1, 0], [0, 0, 1]], "V": [-3, 1, 0], "n": [1, 0, 0], "mu": 0, "e": 0.6, "law": "halfway"})))
    P = (hit["results"][0] if "results" in hit else hit)["P"]
    check(abs(P[0] - 1.3 * 3 / 2) < 1e-14 and P[1] == P[2] == 0, "P of the law", hit)
    ball = {"name": "ball", "pos": [0, 0, 0.2], "vel": [0, 0, -2], "shapes": [{"type": "sphere", "r": 0.1, "material": "m"}]}
    v, t = copy.run({"carom": 1, "gravity": [0, 0, 0], "materials": {"m": {"mu": 0, "e": 0.6}}, "bodies": [ball],
                     "static": [{"type": "halfspace", "material": "m"}], "step": {"dt": 0.01, "duration": 0.2},
                     "impact": {"rule": "sequence", "law": "halfway"}}, "ball.vz")
    check(abs(v - 0.3 * 2) < 1e-9, "speed after an impact by the law", v)


def check_joint(copy):
    mass, inertia = 2.0, 0.03
    nut = {"name": "nut", "joint": "screw", "axis": [0, 0, 1], "mass": mass, "inertia": inertia, "omega": 1}
    v, t = copy.run({"carom": 1, "bodies": [nut], "step": {"dt": 0.01, "duration": 0.5}}, "nut.v")
    expected = 1 - t * mass * 9.81 * PITCH / (inertia + mass * PITCH ** 2)
    check(t > 0.4 and abs(v - expected) < 1e-9, "the nut turns by its weight", v, expected)


def check_shape(copy):
    r, half, density = 0.1, 0.2, 1000.0
    body = {"name": "top", "joint": "slider", "axis": [0, 0, 1], "pos": [0, 0, 0.5], "shapes": [{"type": "spindle", "r": r, "half": half}]}
    scene = {"carom": 1, "bodies": [body], "static": [{"type": "halfspace"}], "step": {"dt": 0.005, "duration": 1}}
    shift, t = copy.run(scene, "top.q")
    check(abs(0.5 + shift - half) < 1e-5, "it stands on its tip", 0.5 + shift)
    told = json.loads(copy.carom("info", "scene.json", "--json"))
    mass = [b for b in told["bodies"] if b["name"] == "top"][0]["mass"]
    check(abs(mass - density * 2 * math.pi * r * r * half / 3) < 1e-9, "mass of the shape", mass)
    # side by side: a ball that slides along x meets the rim
    ball = {"name": "ball", "pos": [-1, 0, 0], "vel": [1, 0, 0], "mass": 1, "shapes": [{"type": "sphere", "r": 0.1}]}
    still = {"type": "spindle", "r": r, "half": half}
    x, t = copy.run({"carom": 1, "gravity": [0, 0, 0], "bodies": [ball], "static": [still],
                     "step": {"dt": 0.01, "duration": 2}}, "ball.x")
    check(abs(x + 0.1 + r) < 1e-5, "the ball stops at its rim", x)


def main():
    for tool in ("cmake", "make"):
        if shutil.which(tool) is None:
            print(f"skipped: no {tool}")
            sys.exit(77)
    if os.environ.get("CAROM_SANITIZE"):
        print("skipped: built once, without sanitizers")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(folder)
        add_law(copy)
        add_joint(copy)
        add_shape(copy)
        copy.build()
        check_law(copy)
        check_joint(copy)
        check_shape(copy)
        schema = copy.carom("schema")
        for name in ("halfway", "screw", "spindle"):
            check(f'"{name}"' in schema, "the schema lists", name)
        json.loads(schema)
    print(f"{failures} failures")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
