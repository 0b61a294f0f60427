"""carom import, info and run on models of others: what they print, write, refuse, and that all ways agree."""
import json
import os
import pathlib

from command import SOURCE, Folder, carom, check, main

MODELS = SOURCE / "examples" / "models"
ARM = str(MODELS / "arm.xml")
GRIPPER = str(MODELS / "gripper.urdf")
BOUNCE = str(MODELS / "bounce.sdf")


def good(*arguments):
    status, out, err = carom(*arguments)
    check(status == 0, arguments, "exit status", status, out[-300:], err[-300:])
    return out, err


def test_all_ways_agree():
    """A model run as it is, and its imported scene, end in the same bits."""
    for model in (ARM, GRIPPER, BOUNCE):
        with Folder() as folder:
            scene = str(folder / "scene.json")
            good("import", model, "-o", scene)
            direct = json.loads(good("run", model, "--json", "--duration", "0.2")[0])
            through = json.loads(good("run", scene, "--json", "--duration", "0.2")[0])
            check(direct["hash"] == through["hash"], model, direct["hash"], through["hash"])
            # standard output has the same text, and info the same model
            check(good("import", model)[0] == pathlib.Path(scene).read_text(), model, "standard output differs")
            a = json.loads(good("info", model, "--json")[0])
            b = json.loads(good("info", scene, "--json")[0])
            check(a["bodies"] == b["bodies"] and a["nv"] == b["nv"], model, "info differs")
            check(b["format"] == "scene" and b["left_out"] == [], "a scene leaves nothing out")


def test_content_decides():
    """A file that begins with < is a model whatever it is called."""
    with Folder() as folder:
        odd = folder / "model.txt"
        odd.write_text("\n " + pathlib.Path(GRIPPER).read_text().split("?>", 1)[1])
        check(json.loads(good("info", str(odd), "--json")[0])["format"] == "URDF", "by content")
        good("run", str(odd), "--duration", "0.01")


def test_notes():
    """Warnings and notes with their places; --strict makes errors of warnings."""
    out, err = good("import", ARM)
    check(f"{ARM}:10:26: warning: <geom> margin is not supported" in err and "note:" not in err, err)
    out, err = good("info", ARM)
    check(f"{ARM}:16:5: note: <light> does not act on bodies" in err, err)
    out, err = good("run", ARM, "--duration", "0.01")
    check("warning: <geom> margin" in err and "note:" not in err and "kinds of things" not in err, err)
    for verb in ("import", "info", "run"):
        status, out, err = carom(verb, ARM, "--strict")
        check(status == 1 and "error: <geom> margin" in err, verb, status, err)
        good(verb, BOUNCE, "--strict")
    status, out, err = carom("import", ARM, "--strict")
    check(out == "", "nothing is written")
    left = json.loads(good("info", ARM, "--json")[0])["left_out"]
    check([n["line"] for n in left if n["acts"]] == [10] and len(left) == 3, left)


def test_values():
    """Keyframes, values set, a file laid over, a fixed base."""
    tree = json.loads(good("import", ARM, "--key", "raised", "--set", "materials.surface0.e=0.5")[0])
    check(tree["bodies"][1]["angle"] == -1 and tree["bodies"][2]["angle"] == -0.5, tree["bodies"])
    check(tree["materials"]["surface0"] == {"mu": 0.6, "e": 0.5}, tree["materials"])
    with Folder() as folder:
        over = folder / "over.json"
        over.write_text('{"step": {"method": "lcp"}, "materials": {"surface0": {"e": 0.25}, "new": {"mu": 1}}}')
        tree = json.loads(good("import", ARM, "--with", str(over))[0])
        check(tree["step"] == {"dt": 0.002, "method": "lcp"}, tree["step"])
        check(tree["materials"] == {"surface0": {"mu": 0.6, "e": 0.25}, "new": {"mu": 1}}, tree["materials"])
        over.write_text("[]")
        status, out, err = carom("import", ARM, "--with", str(over))
        check(status == 1 and "object" in err, status, err)
    with Folder() as folder:
        free = folder / "free.urdf"
        free.write_text('<robot><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
                        "</link></robot>")
        check(json.loads(good("info", str(free), "--json")[0])["nv"] == 6, "free")
        check(json.loads(good("info", str(free), "--json", "--fixed-base")[0])["nv"] == 0, "fixed")
    # the ball and the floor bounce by the smaller e: v+^2 / v-^2 = 0.8^2 of the energy above the floor
    run = json.loads(good("run", BOUNCE, "--json")[0])
    check(run["impacts"] == 1, run["impacts"])
    energy = 0.5 * 9.81 * 0.1 + 0.64 * 0.5 * 9.81 * 0.9
    check(abs(run["energy"]["end"] - energy) < 1e-3 * energy, run["energy"], energy)


def test_refusals():
    """Each wrong call and bad model: its exit status and its place."""
    for verb in ("import", "info"):
        for arguments, word in (((), "which model"), ((ARM, ARM), "second"), ((ARM, "--odd"), "unknown option"),
                                ((ARM, "--key"), "needs a value"), ((ARM, "--set", "x"), "PATH=VALUE")):
            status, out, err = carom(verb, *arguments)
            check(status == 2 and word in err, verb, arguments, status, err)
        status, out, err = carom(verb, "/nowhere.xml")
        check(status == 3 and "/nowhere.xml" in err, verb, status, err)
        status, out, err = carom(verb, ARM, "--key", "none")
        check(status == 1 and "none" in err, status, err)
        out, err = good(verb, "--help")
        check(out.startswith(f"usage: carom {verb}"), out)
    status, out, err = carom("import", ARM, "-o", "/nowhere/x.json")
    check(status == 3 and "cannot be written" in err, status, err)
    status, out, err = carom("import", ARM, "-o")
    check(status == 2, status)
    with Folder() as folder:
        bad = folder / "bad.xml"
        bad.write_text("<mujoco>\n <worldbody>\n  <geom size='x'/></worldbody></mujoco>")
        for verb in ("import", "info", "run"):
            status, out, err = carom(verb, str(bad))
            check(status == 1 and f"{bad}:3:9: <geom> size: \"x\" is no number" in err, verb, status, err)
        status, out, err = carom("info", str(bad), "--json")
        error = json.loads(out)["error"]
        check(status == 1 and (error["line"], error["column"]) == (3, 9), out)
        # what the scene reader refuses points to the element
        bad.write_text("<mujoco><worldbody>\n  <body><freejoint/></body></worldbody></mujoco>")
        status, out, err = carom("run", str(bad))
        check(status == 1 and "mass" in err, status, err)
        bombs = {"bomb.xml": "<!DOCTYPE a [<!ENTITY x 'y'>]><mujoco>&x;</mujoco>",
                 "deep.xml": "<a>" * 5000,
                 "open.urdf": "<robot><link name='a'>",
                 "empty.sdf": ""}
        for name, text in bombs.items():
            path = folder / name
            path.write_text(text)
            status, out, err = carom("import", str(path))
            check(status == 1 and f"{path}:1:" in err, name, status, err)


def test_centre_of_mass():
    """info shows every centre; one that was taken from the shapes, though inertia was given, is a warning by name."""
    shape = {"type": "box", "half": [0.1, 0.2, 0.3], "pos": [0.25, -0.5, 0.125]}
    body = {"name": "odd", "mass": 2, "inertia": 0.1, "shapes": [shape]}
    cases = [(body, True), ({**body, "com": [0.25, -0.5, 0.125]}, False), ({**body, "inertia": None}, False),
             ({**body, "shapes": [{**shape, "pos": [0, 0, 0]}]}, False),
             ({**body, "joint": "hinge", "anchor": [1, 1, 1]}, True)]
    with Folder() as folder:
        path = folder / "scene.json"
        for fields, warned in cases:
            tree = {"carom": 1, "bodies": [{k: v for k, v in fields.items() if v is not None}]}
            path.write_text(json.dumps(tree))
            for verb in (("info",), ("run", "--duration", "0.01")):
                out, err = good(*verb, str(path))
                said = "warning: odd has inertia but no com: taken from its shapes, [0.25, -0.5, 0.125]; give com" in err
                check(said == warned, verb, fields, err)
                status, out, err = carom(*verb, str(path), "--strict")
                check(status == (1 if warned else 0), verb, "--strict", fields, status, err)
        # the column is what the model has: from the joint, which is at the anchor
        out, err = good("info", str(path))
        row = next(line for line in out.splitlines() if line.strip().startswith("odd"))
        check(row.split()[4:7] == ["-0.75", "-1.5", "-0.875"], row)


def test_colors():
    """Colours of geoms, materials and visuals are those of the imported shapes, and of pictures; 255 steps from 0 to 1."""
    mjcf = """<mujoco><asset><material name="red" rgba="1 0 0 1"/><material name="bare"/></asset>
<default><default class="g"><geom rgba="0 1 0 .5"/></default></default>
<worldbody><geom type="plane" size="1 1 1" rgba="0.2 0.4 0.6 1"/>
<body pos="0 0 1"><freejoint/><geom size=".1" material="red"/><geom size=".1" class="g"/><geom size=".1" material="red" rgba="0 0 1 1"/>
<geom size=".1" material="bare"/><geom size=".1"/><geom size=".1" rgba="odd"/></body></worldbody></mujoco>"""
    visual = '<visual><geometry><sphere radius="9"/></geometry><material name="%s">%s</material></visual>'
    ball = ('<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
            '<collision><geometry><sphere radius=".1"/></geometry></collision>')
    joint = '<joint name="j%d" type="fixed"><parent link="a"/><child link="%s"/></joint>'
    urdf = ('<robot name="r"><material name="blue"><color rgba="0 0 1 1"/></material><link name="a">'
            + visual % ("own", '<color rgba="1 0.5 0 1"/>') + ball + '</link><link name="b">' + visual % ("blue", "") + ball
            + '</link><link name="c">' + ball + '</link>' + joint % (1, "b") + joint % (2, "c") + "</robot>")
    sdf = """<sdf version="1.9"><model name="m"><link name="l"><visual name="v"><geometry><box><size>1 1 1</size></box></geometry>
<material><diffuse>0 1 1 1</diffuse></material></visual>
<collision name="c"><geometry><sphere><radius>0.1</radius></sphere></geometry></collision></link></model></sdf>"""
    wanted = {"mjcf.xml": (mjcf, ["#336699", "#ff0000", "#00ff00", "#0000ff", None, None, None]),
              "urdf.xml": (urdf, ["#ff8000", "#0000ff", None]), "sdf.xml": (sdf, ["#00ffff"])}
    with Folder() as folder:
        for name, (text, colors) in wanted.items():
            (folder / name).write_text(text)
            scene = json.loads(good("import", str(folder / name))[0])
            shapes = scene.get("static", []) + [shape for body in scene["bodies"] for shape in body["shapes"]]
            check([shape.get("color") for shape in shapes] == colors, name, [shape.get("color") for shape in shapes])
            good("run", str(folder / name), "--duration", "0.01", "--report", str(folder / "page.html"))
            page = (folder / "page.html").read_text()
            for color in colors[name == "mjcf.xml":]:  # a plane has no colour there
                check(color is None or f'"c":"{color}"' in page, name, color)
        (folder / "bad.json").write_text('{"carom": 1, "static": [{"type": "sphere", "r": 1, "color": "red"}]}')
        status, _, err = carom("run", str(folder / "bad.json"))
        check(status == 1 and 'static[0].color: is "red", must be "#rrggbb"' in err, status, err)


if __name__ == "__main__":
    main(globals())
