"""Markdown of the documentation as HTML: `render(text, link, image)`.

The part that docs/ uses: headings with GitHub's anchors, paragraphs, nested lists, tables, fenced and indented code,
images, links, emphasis, code and formulas. `link` and `image` turn addresses into those of the site. No HTML passes through.
"""
import html
import re

import mathml

FENCE = re.compile(r"^(\s*)```(\w*)\s*$")
ITEM = re.compile(r"^(\s*)([-*]|\d+\.)\s+(.*)$")
COMMENT = re.compile(r"^<!--.*-->\s*$")
RULE = re.compile(r"^\|?\s*:?-{3,}:?\s*(\|\s*:?-{3,}:?\s*)*\|?\s*$")


def slug(text, seen):
    """The anchor that GitHub gives a heading."""
    plain = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", text)
    name = re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")
    count = seen.get(name, 0)
    seen[name] = count + 1
    return f"{name}-{count}" if count else name


class Page:
    def __init__(self, link, image):
        self.link, self.image, self.seen = link, image, {}
        self.headings = []  # (level, anchor, text)
        self.kept = []

    def keep(self, markup):
        self.kept.append(markup)
        return f"\x00{len(self.kept) - 1}\x00"

    def inline(self, text):
        text = re.sub(r"(`+)(.+?)\1", lambda m: self.keep(f"<code>{html.escape(m[2].strip(), quote=False)}</code>"), text, flags=re.S)
        text = re.sub(r"(?<![\w$])\$(?=\S)([^$]+?)(?<=\S)\$(?![\w$])", lambda m: self.keep(mathml.convert(m[1], False)), text)
        text = html.escape(text, quote=False)
        text = re.sub(r"!\[([^]]*)\]\(([^)\s]+)\)", self.set_image, text)
        text = re.sub(r"\[((?:[^][]|\[[^]]*\])*)\]\(([^)\s]+)\)", self.set_link, text)
        text = re.sub(r"\*\*(?=\S)(.+?)(?<=\S)\*\*", r"<strong>\1</strong>", text, flags=re.S)
        text = re.sub(r"(?<![\w*])\*(?=[^\s*])([^*]+?)(?<=\S)\*(?![\w*])", r"<em>\1</em>", text)
        text = re.sub(r"&lt;(https?://[^\s&]+)&gt;", r'<a href="\1">\1</a>', text)
        while "\x00" in text:
            text = re.sub("\x00(\\d+)\x00", lambda m: self.kept[int(m[1])], text)
        return text

    def set_image(self, match):
        return self.keep(f'<img src="{html.escape(self.image(match[2]))}" alt="{match[1].replace(chr(34), "&quot;")}" loading="lazy">')

    def set_link(self, match):
        return f'<a href="{html.escape(self.link(match[2]))}">{match[1]}</a>'

    def heading(self, level, text):
        anchor, inner = slug(text, self.seen), self.inline(text)
        self.headings.append((level, anchor, re.sub(r"<[^>]+>", "", inner)))
        return f'<h{level} id="{anchor}">{inner}<a class="anchor" href="#{anchor}" aria-label="link to this section">#</a></h{level}>'

    def table(self, lines):
        cells = [[c.strip() for c in re.split(r"(?<!\\)\|", line.strip().strip("|"))] for line in lines]
        head = "".join(f"<th>{self.inline(c)}</th>" for c in cells[0]) if any(cells[0]) else ""
        rows = "".join("<tr>" + "".join(f"<td>{self.inline(c)}</td>" for c in row) + "</tr>" for row in cells[2:])
        return f'<div class="wide"><table>{f"<thead><tr>{head}</tr></thead>" if head else ""}<tbody>{rows}</tbody></table></div>'

    def code(self, lines, language=""):
        return f'<pre class="{language or "plain"}"><code>{html.escape(chr(10).join(lines), quote=False)}</code></pre>'

    def items(self, lines):
        """A list: its items by indentation, each rendered as blocks of its own."""
        first = ITEM.match(lines[0])
        kind = "ol" if first[2][0].isdigit() else "ul"
        parts, inner = [], []
        for line in lines:
            match = ITEM.match(line)
            if match and len(match[1]) == len(first[1]):
                if inner:
                    parts.append(inner)
                inner = [match[3]]
            else:
                inner.append(line)
        parts.append(inner)
        out = []
        for part in parts:
            rest = [len(line) - len(line.lstrip()) for line in part[1:] if line.strip()]
            cut = min(rest) if rest else 0
            body = self.blocks([part[0], *[line[cut:] for line in part[1:]]])
            out.append(f"<li>{re.sub('^<p>(.*)</p>$', chr(92) + '1', body, flags=re.S) if body.count('<p>') == 1 else body}</li>")
        return f"<{kind}>{''.join(out)}</{kind}>"

    def blocks(self, lines):
        out, i = [], 0
        while i < len(lines):
            line = lines[i]
            fence = FENCE.match(line)
            if not line.strip() or COMMENT.match(line):
                i += 1
            elif fence:
                end = next((j for j in range(i + 1, len(lines)) if lines[j].strip() == "```"), len(lines))
                out.append(self.code([text[len(fence[1]):] for text in lines[i + 1:end]], fence[2]))
                i = end + 1
            elif line.startswith("#"):
                level = len(line) - len(line.lstrip("#"))
                out.append(self.heading(level, line[level:].strip()))
                i += 1
            elif line.startswith("$$"):
                end = next(j for j in range(i, len(lines)) if lines[j].rstrip().endswith("$$") and (j > i or line.count("$$") == 2))
                text = "\n".join(lines[i:end + 1])
                out.append(f'<div class="formula">{mathml.convert(text.strip().strip("$"), True)}</div>')
                i = end + 1
            elif "|" in line and i + 1 < len(lines) and RULE.match(lines[i + 1]) and "|" in lines[i + 1]:
                end = i
                while end < len(lines) and lines[end].strip().startswith("|"):
                    end += 1
                out.append(self.table(lines[i:end]))
                i = end
            elif line.startswith("    "):
                end = i
                while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                    end += 1
                text = [x[4:] for x in lines[i:end]]
                while text and not text[-1].strip():
                    text.pop()
                out.append(self.code(text))
                i = end
            elif ITEM.match(line):
                end = i + 1
                while end < len(lines) and (lines[end].startswith(" ") or ITEM.match(lines[end]) or
                                            (not lines[end].strip() and end + 1 < len(lines) and
                                             (lines[end + 1].startswith("  ") or ITEM.match(lines[end + 1])))
                                            or (lines[end].strip() and lines[end - 1].strip() and
                                                not FENCE.match(lines[end]) and not lines[end].startswith("#"))):
                    end += 1
                out.append(self.items(lines[i:end]))
                i = end
            else:
                end = i + 1
                while end < len(lines) and lines[end].strip() and not FENCE.match(lines[end]) and \
                        not re.match(r"#{1,6} ", lines[end]) and not ITEM.match(lines[end]) and not lines[end].startswith(("$$", "|")):
                    end += 1
                out.append(f"<p>{self.inline(chr(10).join(lines[i:end]))}</p>")
                i = end
        return "\n".join(out)


def render(text, link=lambda x: x, image=lambda x: x):
    """The markup of a text, and its headings as (level, anchor, text)."""
    page = Page(link, image)
    return page.blocks(text.splitlines()), page.headings
