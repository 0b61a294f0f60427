#!/usr/bin/env python3
"""The API reference as HTML, from the comments of include/carom/**/*.h: `api.py [-o FOLDER]`, default build/api.

One page per header and an index of all names; nothing is fetched. A declaration's text is the comment above it and
the one after it on the line. Indented blocks of a comment are formulas, tables or code and are set as such, formulas
with real sub- and superscripts (Doxygen sees nothing in plain // comments, and two thirds of them through a filter that
rewrites them). Names in declarations and comments link to where they are declared. Exits 1 where a
function has no comment of its own, above it, or on its group.
"""
import argparse
import html
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ORDER = ["carom", "base", "vec", "impulse", "region", "resolve", "problem", "collide", "near", "model", "dynamics", "step", "stages",
         "world", "audit",
         "io/scene", "io/import", "io/trajectory", "io/recording", "io/problem", "io/json", "io/json_set"]
STYLE = """
:root { --ink: #1b1f24; --soft: #5b6470; --line: #d9dee5; --paper: #fff; --code: #f5f7fa; --link: #1f5a96 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ee; --soft: #9aa4b2; --line: #333a44; --paper: #14171b; --code: #1c2127; --link: #7fb2e6 } }
body { font: 16px/1.55 system-ui, "DejaVu Sans", sans-serif; color: var(--ink); background: var(--paper);
  margin: 0 auto; padding: 1.5rem; max-width: 60rem }
a { color: var(--link); text-decoration: none } a:hover { text-decoration: underline }
nav { border-bottom: 1px solid var(--line); padding-bottom: .6rem; margin-bottom: 1.2rem }
nav a { margin-right: .9rem; white-space: nowrap } nav .here { font-weight: 600; color: var(--ink) }
pre { background: var(--code); border: 1px solid var(--line); border-radius: 6px; padding: .6rem .8rem;
  overflow-x: auto; font: 13px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; margin: .4rem 0 }
pre .c { color: var(--soft) }
code { font: 14px ui-monospace, "DejaVu Sans Mono", monospace }
.item { margin: 1.3rem 0 } .item p { margin: .4rem 0 }
.math { font: 1.12em "STIX Two Math", "Latin Modern Math", "Cambria Math", "DejaVu Serif", serif }
.formula { margin: .8rem 2rem } .formula .math { display: inline-block; margin-right: 2.5rem }
table { border-collapse: collapse; margin: .8rem 0 }
td { border-top: 1px solid var(--line); padding: .25rem 1rem .25rem 0; vertical-align: top }
h2 { margin-top: 2.4rem; border-bottom: 1px solid var(--line) } sub, sup { line-height: 0 }
.index { columns: 3 16rem; list-style: none; padding: 0 } .index code { font-size: 13px }
"""
SIGNS = [("_|_", "⊥"), ("<=", "≤"), (">=", "≥"), ("->", "→")]
GREEK = {"mu": "μ", "omega": "ω", "theta": "θ", "rho": "ρ", "psi": "ψ", "eta": "η", "delta": "δ", "eps": "ε",
         "pi": "π"}
WORDS = {"a", "an", "as", "at", "by", "in", "is", "no", "of", "on", "or", "to"}


def exponents(text):
    """^T, ^-1, ^2, ^1.5 and ^(...) of escaped text."""
    return re.sub(r"\^(-?\w+(?:\.\d+)?|\([^)]*\))",
                  lambda m: f"<sup>{m[1].strip('()').replace('-', '−')}</sup>", text)


def prose(text, links):
    """Comment text: signs and exponents set, names linked, `code` as code."""
    for sign, set_as in SIGNS:
        text = text.replace(sign, set_as)
    text = exponents(html.escape(text, quote=False))
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    text = re.sub(r"\b([A-Za-z]|mu)_([A-Za-z0-9]+)\b", r"<i>\1</i><sub>\2</sub>", text)
    return re.sub(r"\b(cr_\w+|cr[A-Z]\w+|CR_\w+)\b", lambda m: link(m[1], links), text)


def link(name, links):
    return f'<a href="{links[name]}"><code>{name}</code></a>' if name in links else f"<code>{name}</code>"


def symbol(match):
    """One word of a formula: single letters and short symbols are variables, others are words."""
    word, plus = match[1], match[2] or ""
    base, _, below = word.partition("_")
    digits = re.fullmatch(r"([A-Za-z]+?)(\d+)", base)
    if digits and not below:
        base, below = digits.groups()
    if not (len(base) <= 2 or base in GREEK) or word in WORDS:
        return match[0]
    accent = "\u0302" if below == "hat" else ""
    below = "" if below == "hat" else below
    out = f"<i>{GREEK.get(base, base)}{accent}</i>"
    return out + (f"<sub>{below}</sub>" if below else "") + (f"<sup>{plus}</sup>" if plus else "")


def math(text):
    """A formula in plain text as HTML with italic variables, sub- and superscripts."""
    for sign, set_as in SIGNS:
        text = text.replace(sign, set_as)
    text = re.sub(r"\binverse\((\w+)\)", r"\1^-1", text)
    parts = re.split(r"(\^(?:-?\w+(?:\.\d+)?|\([^)]*\)))", text)
    out = []
    for i, part in enumerate(parts):
        if i % 2:
            out.append(exponents(part))
            continue
        part = re.sub(r"(?:(?<![\w/])|(?<=v/))([A-Za-z]\w*?)(?![A-Za-z0-9_])(?:(\+)(?= [=,]|$|,))?", symbol,
                      html.escape(part, False))
        out.append(re.sub(r" - ", " − ", part))
    return f'<span class="math">{"".join(out)}</span>'


def rows_of(lines):
    """Cells by the columns of the first line where every line keeps to them; else a first word and the rest, with
    further lines of a row joined to it."""
    starts = [0] + [m.start() for m in re.finditer(r"(?<=\s\s)\S", lines[0])]
    if all(not line[max(s - 2, 0):s].strip() for line in lines for s in starts):
        return [[line[a:b].strip() for a, b in zip(starts, starts[1:] + [None])] for line in lines]
    rows = []
    for line in lines:
        cells = re.split(r"\s{2,}", line.strip().replace("  _|_  ", " _|_ "))
        if line.startswith(" ") and rows:
            rows[-1][-1] += " " + " ".join(cells)
        else:
            rows.append([cells[0], "  ".join(cells[1:])])
    return rows


def cell(text, links):
    is_prose = lambda part: re.search(r"[a-z]{4,} [a-z]{3,}|`", part) or re.fullmatch(r"[a-z ]{4,}", part)
    return "&emsp;".join(prose(part, links) if is_prose(part) else math(part) for part in re.split(r"\s{2,}", text))


def table(lines, links):
    """The first column is names, the others are formulas or words."""
    return "<table>" + "".join(
        f"<tr><td>{prose(row[0], links)}</td>{''.join(f'<td>{cell(text, links)}</td>' for text in row[1:])}</tr>"
        for row in rows_of(lines)) + "</table>"


def block(lines, links):
    """An indented block: code, table or formula."""
    if any(line.rstrip().endswith(";") or "(&" in line for line in lines):
        return "<pre>" + html.escape("\n".join(lines)) + "</pre>"
    if len(lines) > 2:
        return table(lines, links)
    formulas = [part.strip(" ,") for line in lines for part in re.split(r"\s{3,}", line)]
    return '<div class="formula">' + "".join(math(part) if "," not in part.strip("()") or part[0] != "("
                                             else prose(part, links) for part in formulas) + "</div>"


def comment(lines, links):
    """Lines of a // comment, without the slashes, as paragraphs and blocks."""
    out, text, indented = [], [], []

    def flush():
        if text:
            out.append(f"<p>{prose(' '.join(text), links)}</p>")
        if indented:
            out.append(block(indented, links))
        text.clear()
        indented.clear()

    for line in lines:
        if line.startswith("    ") and (indented or not text or line.startswith("     ")):
            if text:
                flush()
            indented.append(line[4:].rstrip())
            continue
        if not line.strip() or indented:
            flush()
        if line.strip():
            text.append(line.strip())
    flush()
    return "\n".join(out)


class Item:
    """A declaration with its comment, or a heading (code is '')."""

    def __init__(self, above, code):
        self.above, self.code = above, code
        self.name = self.main_name()

    def main_name(self):
        for pattern in (r"\}\s*(cr\w+);\s*$", r"\(\*(cr\w+)\)\(", r"#define\s+(CR_\w+)", r"\b(cr_\w+)\(",
                        r"typedef (?:struct|enum) (cr\w+)"):
            found = re.search(pattern, self.code)
            if found:
                return found[1]
        return ""


def complete(code):
    """Whether braces and parentheses close and the declaration ends."""
    bare = re.sub(r"//.*", "", code)
    if bare.lstrip().startswith("#"):
        return not bare.rstrip().endswith("\\")
    level = bare.count("{") - bare.count("}") + bare.count("(") - bare.count(")")
    return level == 0 and (bare.rstrip().endswith(";") or bare.rstrip().endswith("}"))


def parse(path):
    """The opening comment and the items of a header."""
    lines = path.read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if not line.startswith("//"))
    opening = [line[3:] for line in lines[:start]]
    items, above, i = [], [], start
    while i < len(lines):
        line = lines[i]
        if line.startswith("//"):
            above.append(line[3:])
        elif not line.strip():
            if above:
                items.append(Item(above, ""))
            above = []
        elif re.match(r"#(if|endif|else|undef|include|pragma)|#define CAROM_\w+_H|extern \"C\"|\}$", line):
            above = []
        else:
            code = line
            while not complete(code) and i + 1 < len(lines):
                i += 1
                code += "\n" + lines[i]
            # comments that go on under the end of a declaration
            while i + 1 < len(lines) and re.match(r"\s{8,}//", lines[i + 1]):
                i += 1
                code += "\n" + lines[i]
            items.append(Item(above, code))
            above = []
        i += 1
    return opening, items


def shown(code, links):
    """A declaration with its comments set apart and its names linked."""
    code = re.sub(r"^static inline (.*?\)) \{.*", r"static inline \1;", code, flags=re.S)
    code = re.sub(r"^CR_API ", "", code)
    out = []
    for line in code.split("\n"):
        head, slashes, tail = line.partition("//")
        head = re.sub(r"\b(cr_\w+|cr[A-Z]\w+|CR_\w+)\b",
                      lambda m: f'<a href="{links[m[1]]}">{m[1]}</a>' if m[1] in links else m[1],
                      html.escape(head, False))
        for sign, set_as in SIGNS:
            tail = tail.replace(sign, set_as)
        out.append(head + (f'<span class="c">//{exponents(html.escape(tail, False))}</span>' if slashes else ""))
    return "<pre>" + "\n".join(out) + "</pre>"


def file_of(name):
    """The page of a header: io-scene.html for io/scene."""
    return name.replace("/", "-") + ".html"


def page(title, here, body):
    nav = "".join(f'<a href="{file_of(name)}"{" class=here" if name == here else ""}>{name}.h</a>' for name in ORDER[1:])
    first = f'<a href="index.html"{" class=here" if here == "index" else ""}>carom</a>'
    return (f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
            f"<title>{title}</title><style>{STYLE}</style><nav>{first}{nav}</nav>{body}</html>\n")


def render(name, opening, items, links):
    title = re.sub(r"^\w+\.h - ", "", opening[0])
    seen = set()  # macros may be defined twice, for two compilers
    body = [f"<h1>{name}.h</h1>", comment([title[0].upper() + title[1:], *opening[1:]], links)]
    for item in items:
        if not item.code and len(item.above) == 1 and item.above[0][:1].islower() and "." not in item.above[0]:
            body.append(f"<h2>{html.escape(item.above[0])}</h2>")
            continue
        anchor = f' id="{item.name}"' if item.name and item.name not in seen else ""
        seen.add(item.name)
        text = comment(item.above, links) if item.above else ""
        body.append(f'<div class="item"{anchor}>{shown(item.code, links) if item.code else ""}{text}</div>')
    return page(f"carom: {name}.h", name, "\n".join(body))


def summary(opening):
    """The first sentence of a header's comment, without its name."""
    end = next((i for i, line in enumerate(opening) if not line.strip()), len(opening))
    return re.sub(r"^\w+\.h - ", "", " ".join(opening[:end])).split(". ")[0].split("; ")[0].rstrip(".")


def undocumented(items):
    """Functions without a comment above, after, or on the run of declarations they stand in."""
    missing, covered = [], False
    for item in items:
        if not item.code:
            covered = covered or bool(item.above)
            continue
        covered = covered or bool(item.above) or "//" in item.code
        if item.code.startswith("CR_API") and not covered:
            missing.append(item.name)
    return missing


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("-o", "--out", type=pathlib.Path, default=ROOT / "build/api")
    out = options.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    folder = ROOT / "include/carom"
    headers = {path.relative_to(folder).with_suffix("").as_posix(): parse(path) for path in sorted(folder.rglob("*.h"))}
    unknown = set(headers) - set(ORDER)
    ORDER.extend(sorted(unknown))
    links = {item.name: f"{file_of(name)}#{item.name}"
             for name, (_, items) in headers.items() for item in items if item.name}
    functions, missing = 0, []
    for name, (opening, items) in headers.items():
        functions += sum(item.code.startswith("CR_API") for item in items)
        missing += undocumented(items)
        if name != "carom":
            (out / file_of(name)).write_text(render(name, opening, items, links))
    opening = headers["carom"][0]
    pages = "".join(f'<tr><td><a href="{file_of(n)}"><code>{n}.h</code></a></td><td>'
                    f"{prose(summary(headers[n][0]), links)}</td></tr>" for n in ORDER[1:])
    names = "".join(f"<li>{link(name, links)}</li>" for name in sorted(links, key=str.lower))
    body = (f"<h1>carom</h1><p>{html.escape(summary(opening))}</p><table>{pages}</table>"
            f"<h2>names</h2><ul class=index>{names}</ul>")
    (out / "index.html").write_text(page("carom: the API", "index", body))
    print(f"{len(headers)} headers, {functions} functions, {len(links)} names in {out}")
    for name in missing:
        print(f"no comment: {name}")
    sys.exit(1 if missing else 0)


if __name__ == "__main__":
    main()
