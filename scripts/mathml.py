"""Formulas of the documentation, a small part of LaTeX, as MathML: `mathml.convert(text, block)`.

Known: letters, numbers, operators, Greek, sub- and superscripts, \\frac, \\sqrt, \\text, \\hat, \\dot, \\int, \\sum, big
delimiters, pmatrix and aligned. A command that is not known raises ValueError, so that no formula is set wrongly in silence.
"""
import html
import re

GREEK = dict(mu="μ", nu="ν", kappa="κ", eta="η", theta="θ", lambda_="λ", sigma="σ", tau="τ", pi="π", omega="ω", rho="ρ",
             psi="ψ", phi="φ", alpha="α", beta="β", gamma="γ", delta="δ", epsilon="ε", Delta="Δ", Sigma="Σ", Omega="Ω")
GREEK["lambda"] = GREEK.pop("lambda_")
OPERATORS = {"le": "≤", "ge": "≥", "perp": "⟂", "cdot": "·", "times": "×", "to": "→", "pm": "±", "in": "∈", "approx": "≈",
             "neq": "≠", "ne": "≠", "lVert": "‖", "rVert": "‖", "lvert": "|", "rvert": "|", "mid": "|", "dots": "…",
             "{": "{", "}": "}", "%": "%", "ll": "≪", "gg": "≫"}
LARGE = {"int": "∫", "sum": "∑"}
NAMES = {"min", "max", "log", "cos", "sin", "tan", "exp"}
SPACES = {"quad": "1em", "qquad": "2em", ",": "0.17em", ";": "0.28em", " ": "0.33em", "!": "0em"}
TOKEN = re.compile(r"\\([A-Za-z]+|.)|(\d+(?:\.\d+)?|\.\d+)|([A-Za-z])|([{}^_&])|(\s+)|(.)", re.S)


def tokens(text):
    """Kind, text and place of each token but spaces."""
    kinds = ("command", "number", "letter", "mark", "space", "other")
    found = []
    for match in TOKEN.finditer(text):
        kind = kinds[match.lastindex - 1]
        if kind != "space":
            found.append((kind, match[match.lastindex], match.start()))
    return found


def tag(name, inner, attributes=""):
    return f"<{name}{attributes}>{inner}</{name}>"


def row(parts):
    return parts[0] if len(parts) == 1 else tag("mrow", "".join(parts))


class Reader:
    def __init__(self, text):
        self.text, self.at = text, 0
        found = tokens(text)
        self.tokens, self.start = [token[:2] for token in found], [token[2] for token in found]

    def fail(self, what):
        raise ValueError(f"{what} in formula: {self.text}")

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")

    def take(self):
        token = self.peek()
        self.at += 1
        return token

    def group(self):
        """What stands for one argument: {...} or a single atom."""
        if self.peek() == ("mark", "{"):
            self.take()
            inner = self.until(("mark", "}"))
            self.take()
            return tag("mrow", "".join(inner))
        kind, text = self.peek()
        if kind == "number" and len(text) > 1:  # \\tfrac12 is one half
            self.tokens[self.at:self.at + 1] = [("number", digit) for digit in text]
            self.start[self.at:self.at + 1] = [self.start[self.at]] * len(text)
        return self.atom()

    def raw_group(self):
        """The text of {...}, for \\text and \\begin: as it was written, with its spaces."""
        start = self.start[self.at]
        depth, end = 0, start
        while True:
            depth += {"{": 1, "}": -1}.get(self.text[end], 0)
            end += 1
            if depth == 0:
                break
        inner = self.text[start + 1:end - 1]
        self.take()
        for _ in tokens(inner):
            self.take()
        self.take()
        return inner

    def until(self, *ends):
        parts = []
        while self.peek() not in ends:
            if self.peek()[0] == "end":
                self.fail(f"no {ends[0][1]}")
            parts.append(self.scripted())
        return parts

    def scripted(self):
        base = self.atom()
        below = above = None
        while self.peek() in (("mark", "_"), ("mark", "^"), ("other", "'")):
            kind = self.take()[1]
            if kind == "_":
                below = self.group()
            elif kind == "'":
                above = (above or "") + tag("mo", "′")
            else:
                above = (above or "") + self.group()
        if below and above:
            return tag("msubsup", base + below + tag("mrow", above))
        if below:
            return tag("msub", base + below)
        return tag("msup", base + tag("mrow", above)) if above else base

    def atom(self):
        kind, text = self.take()
        if kind == "number":
            return tag("mn", text)
        if kind == "letter":
            return tag("mi", text)
        if kind == "other":
            return tag("mo", html.escape({"-": "−", "*": "∗"}.get(text, text)), ' stretchy="false"')
        if (kind, text) == ("mark", "{"):
            inner = self.until(("mark", "}"))
            self.take()
            return tag("mrow", "".join(inner))
        if kind == "command":
            return self.command(text)
        return self.fail(f"unexpected {text or 'end'}")

    def command(self, name):
        if name in GREEK:
            return tag("mi", GREEK[name])
        if name == "infty":
            return tag("mi", "∞")
        if name in OPERATORS:
            return tag("mo", OPERATORS[name], ' stretchy="false"')
        if name in LARGE:
            return tag("mo", LARGE[name])
        if name in NAMES:
            return tag("mi", name)
        if name in SPACES:
            return f'<mspace width="{SPACES[name]}"/>'
        if name in ("big", "Big", "bigl", "bigr", "left", "right"):
            return tag("mo", html.escape({"{": "{"}.get(self.peek()[1], self.peek()[1])) if self.take() else "", ' stretchy="true"')
        if name in ("frac", "tfrac"):
            top = self.group()
            return tag("mfrac", top + self.group())
        if name == "sqrt":
            return tag("msqrt", self.group())
        if name in ("hat", "dot", "bar"):
            sign = {"hat": "^", "dot": "˙", "bar": "¯"}[name]
            return tag("mover", self.group() + tag("mo", sign), ' accent="true"')
        if name in ("text", "mathrm"):
            return tag("mtext", html.escape(self.raw_group()).replace(" ", " "))
        if name == "begin":
            return self.environment(self.raw_group())
        return self.fail(f"\\{name} is not known")

    def environment(self, name):
        if name not in ("aligned", "pmatrix"):
            self.fail(f"environment {name} is not known")
        rows, cells, cell = [], [], []
        while True:
            kind, text = self.peek()
            if (kind, text) == ("mark", "&"):
                self.take()
                cells, cell = cells + [cell], []
            elif (kind, text) in (("command", "\\"), ("command", "end")):
                self.take()
                rows.append(cells + [cell])
                cells, cell = [], []
                if text == "end":
                    self.raw_group()
                    break
            elif kind == "end":
                self.fail("no \\end")
            else:
                cell.append(self.scripted())
        align = lambda i: ' style="text-align:%s"' % ("right" if i % 2 == 0 else "left") if name == "aligned" else ""
        table = tag("mtable", "".join(
            tag("mtr", "".join(tag("mtd", "".join(c), align(i)) for i, c in enumerate(r))) for r in rows if any(r)))
        return table if name == "aligned" else tag("mrow", tag("mo", "(") + table + tag("mo", ")"))


def convert(text, block):
    reader = Reader(text.strip())
    parts = []
    while reader.peek()[0] != "end":
        parts.append(reader.scripted())
    return tag("math", tag("mrow", "".join(parts)), ' display="block"' if block else "")
