#!/usr/bin/env python3
"""A static site of carom: `site.py [-o FOLDER] [--quick]`, default out/site. Called by ./dev site.

    index.html        what carom is, and where to go
    live.html         the page of carom view, the library in the browser
    gallery.html      every scene, with a picture made by carom plot
    docs/             docs/*.md, with search over all of it
    api/              the reference, by api.py
    source/           files of the tree that documents link to

Nothing is fetched when it is built or read; every address is relative, so that the folder works from a disk and under any
address. A link to nothing, in a file or to a heading, is an error. --quick leaves out the pictures of scenes that take long.
"""
import argparse
import concurrent.futures
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import markdown

ROOT = pathlib.Path(__file__).resolve().parent.parent
PARTS = ROOT / "web/site"
TOP = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"]
TOP += [name for name in ("SECURITY.md", "SUPPORT.md", "CODE_OF_CONDUCT.md") if (ROOT / name).exists()]
SLOW = {"1000-ball-drop", "woodpecker", "shaker"}
HEAVY = 500000  # bytes of a picture: larger ones show the end only
problems = []


def target(path):
    """Where a file of the tree is on the site, relative to its root."""
    path = path.relative_to(ROOT)
    if path.suffix == ".md":
        name = "index" if path.name == "README.md" and path.parts[0] == "docs" else path.stem
        return path.parent / f"{name}.html"
    if path.parts[:2] == ("docs", "pictures"):
        return path
    return pathlib.Path("source") / f"{path}.html"


class Site:
    def __init__(self, out):
        self.out, self.search, self.sources, self.folders = out, [], set(), set()
        self.headings = {}  # page on the site -> anchors
        self.wanted = []    # (page, address, anchor, page of the target)
        self.nav = []

    def write(self, page, title, body, extra=""):
        """One page with the frame around it; page is relative to the site."""
        up = "../" * len(page.parent.parts)
        frame = (PARTS / "frame.html").read_text()
        parts = {"title": html.escape(title), "body": body, "up": up, "extra": extra}
        path = self.out / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(re.sub(r"@(title|body|up|extra)@", lambda m: parts[m[1]], frame))

    def address(self, source, page, address):
        """A link of a document as one of the site."""
        if re.match(r"[a-z]+:", address):
            return address
        name, _, anchor = address.partition("#")
        if not name:
            self.wanted.append((source, address, anchor, page))
            return address
        path = (source.parent / name).resolve()
        if not path.exists() or ROOT not in path.parents:
            problems.append(f"{source.relative_to(ROOT)}: link to nothing: {address}")
            return address
        if path.is_dir():
            goal = target(path / "README.md") if (path / "README.md").exists() else path.relative_to(ROOT) / "index.html"
            self.folders.add(path)
        else:
            goal = target(path)
            if goal.parts[0] == "source":
                self.sources.add(path)
        if anchor:
            self.wanted.append((source, address, anchor, goal))
        return os.path.relpath(goal, page.parent) + (f"#{anchor}" if anchor else "")

    def document(self, source):
        """A Markdown file as a page; its sections go to the search."""
        page = target(source)
        body, headings = markdown.render(source.read_text(), lambda a: self.address(source, page, a),
                                         lambda a: self.picture(source, page, a))
        body = re.sub(r">([\w-]+)\.md</a>", r">\1</a>", body)  # a reader of the site sees no files
        self.headings[page] = {anchor for _, anchor, _ in headings}
        title = headings[0][2] if headings else source.stem
        self.index(page, title, body)
        inner = [h for h in headings if h[0] == 2]
        contents = "".join(f'<a href="#{anchor}">{text}</a>' for _, anchor, text in inner)
        side = self.side(page)
        aside = f'<nav class="contents" aria-label="On this page"><strong>On this page</strong>{contents}</nav>' if len(inner) > 2 else ""
        self.write(page, f"{title} · carom", f'<div class="columns">{side}<main class="text">{body}</main>{aside}</div>')

    def picture(self, source, page, address):
        path = (source.parent / address).resolve()
        if not path.exists():
            problems.append(f"{source.relative_to(ROOT)}: no picture {address}")
        return os.path.relpath(path.relative_to(ROOT), page.parent)

    def index(self, page, title, body):
        sections = re.split(r'(?=<h[1-4] id=")', body)
        for section in sections:
            match = re.match(r'<h(\d) id="([^"]*)">(.*?)<a class="anchor"', section, re.S)
            text = re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", section))).strip()
            if not text:
                continue
            name = html.unescape(re.sub(r"<[^>]+>", "", match[3])) if match else title
            anchor = f"#{match[2]}" if match and match[1] != "1" else ""
            self.search.append([f"{page}{anchor}", title, name if anchor else "", text.removesuffix(" #")])

    def side(self, page):
        """The list of documents, from the sections of docs/README.md."""
        out = []
        for name, links in self.nav:
            items = "".join(f'<a href="{os.path.relpath(goal, page.parent)}"{" aria-current=page" if goal == page else ""}>{text}</a>'
                            for goal, text in links)
            out.append(f"<details open><summary>{name}</summary>{items}</details>")
        return f'<nav class="side" aria-label="Documentation">{"".join(out)}</nav>'

    def find_nav(self):
        source, name = ROOT / "docs/README.md", None
        for line in source.read_text().splitlines():
            if line.startswith("## "):
                name = line[3:].split(":")[0]
                self.nav.append((name, []))
            for text, address in re.findall(r"(?<!!)\[([^]]+)\]\(([^)#]+)\)", line):
                path = (source.parent / address).resolve()
                if path.is_dir():
                    goal = path.relative_to(ROOT) / "index.html"
                elif path.exists():
                    goal = target(path)
                else:
                    continue
                if name and goal not in [g for _, links in self.nav for g, _ in links]:
                    self.nav[-1][1].append((goal, markdown.render(text)[0][3:-4]))

    def folder(self, path):
        """A folder without a README: its documents."""
        page = path.relative_to(ROOT) / "index.html"
        if (path / "README.md").exists() or (self.out / page).exists():
            return
        rows = []
        for item in sorted(path.iterdir()):
            if item.suffix == ".md":
                title = markdown.render(item.read_text().splitlines()[0])[1][0][2]
                rows.append(f'<li><a href="{item.stem}.html">{title}</a></li>')
            elif item.is_file():
                self.sources.add(item)
                rows.append(f'<li><a href="{os.path.relpath(target(item), page.parent)}">{item.name}</a></li>')
        title = path.name.capitalize()
        self.write(page, f"{title} · carom", f'<div class="columns">{self.side(page)}<main class="text"><h1>{title}</h1><ul>{"".join(rows)}</ul></main></div>')

    def source(self, path):
        page = target(path)
        try:
            text = html.escape(path.read_text(), quote=False)
        except UnicodeDecodeError:
            problems.append(f"{path.relative_to(ROOT)}: linked to, but no text")
            return
        name = path.relative_to(ROOT)
        self.write(page, f"{name} · carom", f'<main class="text wide-text"><h1>{name}</h1><pre><code>{text}</code></pre></main>')

    def check_anchors(self):
        for source, address, anchor, goal in self.wanted:
            if goal in self.headings and anchor not in self.headings[goal]:
                problems.append(f"{source.relative_to(ROOT)}: no heading {address}")


def dark_style():
    """What a picture of carom says for the dark, from one that has it."""
    text = (ROOT / "docs/pictures/pool-table.svg").read_text()
    start = text.index("@media (prefers-color-scheme:dark){")
    depth, end = 0, start
    while True:
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        end += 1
        if depth == 0 and text[end - 1] == "}":
            return text[start:end]


def copy_picture(path, to, dark):
    to.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix != ".svg":
        shutil.copy(path, to)
        return
    text = path.read_text()
    if ".paper{fill:#ffffff}" in text and "prefers-color-scheme" not in text:
        text = text.replace("</style>", dark + "</style>", 1)
    to.write_text(text)


def draw(carom, name, folder):
    """The picture of a scene: positions over time, drawn by carom plot; what was wrong, or nothing."""
    run = [carom, "run", name, "--out", f"{folder}/{name}.csv", "--threads", "1"]
    done = subprocess.run(run, capture_output=True, text=True)
    if done.returncode not in (0, 4):
        return f"carom run {name}: {done.stderr.strip()}"
    for kind in ("strobe", "motion"):
        plot = [carom, "plot", f"{folder}/{name}.csv", "--scene", str(ROOT / f"scenes/{name}.json"), "--what", kind, "--out", f"{folder}/{name}-{kind}.svg"]
        done = subprocess.run(plot, capture_output=True, text=True)
        if done.returncode == 0 and os.path.getsize(plot[-1]) > HEAVY and kind == "strobe":
            end = str(json.loads((ROOT / f"scenes/{name}.json").read_text()).get("step", {}).get("duration", 1))
            done = subprocess.run([*plot, "--times", end], capture_output=True, text=True)
        if done.returncode != 0:
            return f"carom plot {name} --what {kind}: {done.stderr.strip()}"
    return ""


def card_picture(site, name):
    """The moving picture where it is light, for readers who do not mind motion; else the still one."""
    still, moving = f"gallery/{name}-strobe.svg", f"gallery/{name}-motion.svg"
    if (site.out / moving).stat().st_size > HEAVY:
        return f'<img src="{still}" alt="{name} over time" loading="lazy">'
    return (f'<picture><source media="(prefers-reduced-motion: reduce)" srcset="{still}">'
            f'<img src="{moving}" alt="{name} in motion" loading="lazy"></picture>')


def gallery(site, carom, quick, dark):
    names = sorted(path.stem for path in (ROOT / "scenes").glob("*.json"))
    drawn = [name for name in names if not (quick and name in SLOW)]
    cards = []
    with tempfile.TemporaryDirectory() as folder:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
            problems.extend(filter(None, pool.map(lambda name: draw(carom, name, folder), drawn)))
        for name in names:
            comment = json.loads((ROOT / f"scenes/{name}.json").read_text()).get("comment", "")
            picture = ""
            for kind in ("strobe", "motion"):
                path = pathlib.Path(folder) / f"{name}-{kind}.svg"
                if path.exists():
                    copy_picture(path, site.out / f"gallery/{path.name}", dark)
            if (site.out / f"gallery/{name}-strobe.svg").exists():
                picture = f'<a href="live.html#scene&amp;name={name}">{card_picture(site, name)}</a>'
            plays = f'<a href="gallery/{name}-motion.svg">moving picture</a>' if (site.out / f"gallery/{name}-motion.svg").exists() else ""
            source = ROOT / f"scenes/{name}.json"
            site.sources.add(source)
            cards.append(f'<article class="card" id="{name}">{picture}<h2>{name}</h2><p>{html.escape(comment, quote=False)}</p>'
                         f'<p class="links"><a href="live.html#scene&amp;name={name}">run it here</a> {plays} '
                         f'<a href="{target(source)}">scene file</a></p></article>')
            site.search.append([f"gallery.html#{name}", "Gallery", name, f"{name} {comment}"])
    site.write(pathlib.Path("gallery.html"), "Gallery · carom",
               f'<main><h1>Gallery</h1><p>All {len(names)} scenes that come with carom: <code>carom run NAME</code> runs one, '
               f'<code>carom view NAME</code> shows it. Pictures are by <code>carom plot</code>.</p><div class="cards">{"".join(cards)}</div></main>')
    return len(drawn), len(names)


def reference(site):
    """api.py's pages in the site's frame, and every name in the search."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, str(ROOT / "scripts/api.py"), "-o", folder], capture_output=True, text=True)
        if done.returncode != 0:
            problems.append(f"api.py: {done.stderr or done.stdout}")
        for path in sorted(pathlib.Path(folder).glob("*.html")):
            text = path.read_text()
            title, headers, body = re.search(r"<title>(.*?)</title>.*?<nav>(.*?)</nav>(.*)</html>", text, re.S).groups()
            site.write(pathlib.Path("api") / path.name, f"{title} · carom",
                       f'<main class="text reference"><nav class="headers" aria-label="Headers">{headers}</nav>{body}</main>')
            for name in sorted(set(re.findall(r'id="(cr_\w+|cr[A-Z]\w+)"', text))):
                site.search.append([f"api/{path.name}#{name}", "C reference", name, name])


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("-o", "--out", type=pathlib.Path, default=ROOT / "out/site")
    options.add_argument("--quick", action="store_true")
    given = options.parse_args()
    carom = os.environ.get("CAROM_COMMAND", str(ROOT / "build/bin/carom"))
    shutil.rmtree(given.out, ignore_errors=True)
    given.out.mkdir(parents=True)
    site, dark = Site(given.out.resolve()), dark_style()
    site.find_nav()
    documents = [ROOT / name for name in TOP] + sorted((ROOT / "docs").rglob("*.md"))
    for document in documents:
        site.document(document)
    pictures = [path for path in sorted((ROOT / "docs/pictures").rglob("*")) if path.is_file()]
    for path in pictures:
        copy_picture(path, site.out / path.relative_to(ROOT), dark)
    drawn, count = gallery(site, carom, given.quick, dark)
    for path in sorted(site.folders):
        site.folder(path)
    for path in sorted(site.sources):
        site.source(path)
    reference(site)
    site.check_anchors()
    shutil.copy(ROOT / "web/carom.html", site.out / "live.html")
    for name in ("site.css", "search.js"):
        shutil.copy(PARTS / name, site.out / name)
    (site.out / "words.js").write_text("window.caromWords=" + json.dumps(site.search, ensure_ascii=False, separators=(",", ":")) + ";\n")
    site.write(pathlib.Path("index.html"), "carom: collisions with a law of your choice and a certificate", (PARTS / "landing.html").read_text().replace("@scenes@", str(count)))
    for problem in problems:
        print(f"site.py: {problem}", file=sys.stderr)
    files = [path for path in site.out.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    print(f"{given.out}: {len(documents)} documents, {drawn} scenes, {len(files)} files, {size / 1e6:.1f} MB")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
