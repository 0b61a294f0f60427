"""Scenes, worlds and trajectories show themselves: whole HTML, the pictures of the command, moving where they move."""
import base64
import html.parser
import os
import re
import subprocess
import urllib.request
import xml.etree.ElementTree as tree

import pytest

import carom

COMMAND = os.environ.get("CAROM_COMMAND")
needs_command = pytest.mark.skipif(not COMMAND, reason="needs the command")
SVG = "{http://www.w3.org/2000/svg}"


class Whole(html.parser.HTMLParser):
    """Every element that is opened is closed; pictures are kept."""

    def __init__(self, text):
        super().__init__()
        self.open, self.images, self.text = [], [], ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        if tag == "img":
            self.images.append(dict(attributes))
        else:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def picture(shown):
    found = Whole(shown._repr_html_())
    kind, data = found.images[0]["src"].split(",")
    assert kind == "data:image/svg+xml;base64" and len(found.images) == 1
    return found, tree.fromstring(base64.b64decode(data))


def test_what_notebooks_show():
    scene = carom.load("newtons-cradle-3")
    found, svg = picture(scene)
    assert svg.tag == SVG + "svg" and "bodies3" in found.text and "Newton" in found.text
    world = scene.world()
    world.run(0.1)
    found, svg = picture(world)
    assert f"{world.energy.total:.6g} J" in found.text and "0.1 s" in found.text
    trajectory = scene.run(0.5)
    found, svg = picture(trajectory)
    assert f"{len(trajectory)}, 0 to 0.5 s" in found.text
    # the first ball moves; the third only after it was hit
    assert len(list(svg.iter(SVG + "animateTransform"))) >= 2


def test_text_of_a_scene_is_escaped():
    scene = carom.Scene({"carom": 1, "comment": "<script>alert(1)</script>", "bodies": [
        {"name": "<b>", "shapes": [{"type": "sphere", "r": 0.1}]}]})
    for shown in (scene, scene.world(), scene.run(0.1), scene.run(0.1).animate(title="<script>")):
        assert "<script>" not in shown._repr_html_() and "<b>" not in shown._repr_html_()


def test_what_cannot_be_drawn_is_still_shown():
    empty = carom.Scene({"carom": 1, "bodies": []})
    for shown in (empty, empty.world(), empty.run(0.1)):
        Whole(shown._repr_html_())


def moves(svg):
    """Seconds that a moving picture takes, from its durations."""
    return {float(x) for x in re.findall(r'dur="([0-9.e+-]+)s"', svg)}


def test_speed_makes_it_longer():
    trajectory = carom.load("bouncing-ball").run(1.0)
    fast, slow = moves(trajectory.animate(1.0).svg), moves(trajectory.animate(0.25).svg)
    assert max(slow) - max(fast) == pytest.approx(3.0, abs=0.05)


def test_pictures_are_saved(tmp_path):
    trajectory = carom.load("bouncing-ball").run(0.5)
    film = trajectory.animate()
    film.save(tmp_path / "x.svg")
    assert (tmp_path / "x.svg").read_text() == film.svg
    film.save(tmp_path / "x.gif")
    assert (tmp_path / "x.gif").read_bytes()[:6] == b"GIF89a"
    page = trajectory.report("a ball")
    page.save(tmp_path / "x.html")
    assert (tmp_path / "x.html").read_text() == page.html and "a ball" in page.html and "<iframe" in page._repr_html_()
    for what in ("energy", "positions", "velocities", "forces", "certificate", "events", "strobe", "plan", "elevation"):
        assert tree.fromstring(trajectory.show(what).svg).tag == SVG + "svg"
    assert tree.fromstring(trajectory.show("impulses", at=0.45).svg).tag == SVG + "svg"


def test_pictures_are_opened_in_the_browser(monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    trajectory = carom.load("bouncing-ball").run(0.1)
    for picture, text in ((trajectory.animate(), "<svg"), (trajectory.report(), "<!doctype html>")):
        picture.open()
        path = urllib.request.url2pathname(opened[-1].removeprefix("file://"))
        with open(path, encoding="utf-8") as file:
            assert file.read().startswith(text)
        os.remove(path)


def test_a_drive_that_raises_comes_out_of_the_picture():
    model = carom.Model()
    state = {"bad": False}

    def drive(t):
        if state["bad"]:
            raise KeyError("later")
        return {"pos": (0, 0, t), "velocity": (0, 0, 1)}
    model.box(model.body("table", "driven", drive=drive), (1, 1, 0.1))
    trajectory = carom.World(model).record(0.1)
    assert trajectory.show().svg
    state["bad"] = True
    with pytest.raises(KeyError, match="later"):
        trajectory.show().svg


@needs_command
@pytest.mark.parametrize("what", ["motion", "strobe", "energy"])
def test_pictures_are_those_of_the_command(tmp_path, what):
    run = subprocess.run([COMMAND, "run", "newtons-cradle-3", "--out", "c.h5"], cwd=tmp_path, capture_output=True, text=True)
    if "HDF5" in run.stderr:
        pytest.skip("built without HDF5")
    subprocess.run([COMMAND, "plot", "c.h5", "--what", what, "--out", "c.svg"], cwd=tmp_path, check=True)
    trajectory = carom.Trajectory.read(tmp_path / "c.h5")
    assert trajectory.model.names[1:] == [body.name for body in trajectory.bodies]
    label = "c.h5" if f">c.h5<" in (tmp_path / "c.svg").read_text() else "c"
    made = trajectory.animate(title=label) if what == "motion" else trajectory.show(what, title=label)
    assert made.svg == (tmp_path / "c.svg").read_text()


def test_files_without_a_scene_take_one(tmp_path):
    scene = carom.load("bouncing-ball")
    scene.run(0.2).write(tmp_path / "b.csv")
    bare = carom.Trajectory.read(tmp_path / "b.csv")
    assert bare.model is None and Whole(bare._repr_html_())
    with pytest.raises(carom.Error):
        bare.animate().svg
    assert "<animate" in carom.Trajectory.read(tmp_path / "b.csv", scene).animate().svg
    with pytest.raises(carom.Error):
        carom.Trajectory.read(tmp_path / "b.csv", carom.load("pool-break")).animate().svg
    with pytest.raises(TypeError, match="scene"):
        carom.Trajectory.read(tmp_path / "b.csv", "pool-break").animate().svg
