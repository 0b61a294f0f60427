"""Siconos' friction problems: W and q of every file by a reader of its own, against what carom reads and dumps.

The reader here knows the three storages (dense by columns, blocks, CSparse's print), eliminates M of global problems by
Gauss, and takes the symmetric part where a matrix is not symmetric.
"""
import json
import os
import pathlib
import random
import re

from command import check, dot, inverse, main, near, times
from solve_problem import Folder, full, solve


class Words:
    def __init__(self, text):
        self.words, self.at = text.split(), 0

    def word(self):
        self.at += 1
        return self.words[self.at - 1]

    def ints(self, count):
        return [int(self.word()) for _ in range(count)]

    def numbers(self, count):
        return [float(self.word()) for _ in range(count)]


def read_blocks(w, A):
    count, rows, cols = w.ints(3)
    ends = w.ints(rows), w.ints(cols)
    w.ints(2)
    start, col = w.ints(rows + 1), w.ints(count)
    for i in range(rows):
        for k in range(start[i], start[i + 1]):
            w.word()
            top, left = ends[0][i - 1] if i else 0, ends[1][col[k] - 1] if col[k] else 0
            for c in range(left, ends[1][col[k]]):
                for r in range(top, ends[0][i]):
                    A[r][c] = float(w.word())


def read_csparse(w, A):
    kept = int(w.word())
    while not re.match(r"\d+-by-\d+,", w.word()):
        pass
    w.ints(0), w.word(), w.word(), w.word()
    count = int(w.word().rstrip(","))
    if kept in (1, 4):
        for _ in range(count):
            r, c = w.ints(2)
            w.word()
            value = float(w.word())
            A[r][c] += value
            if kept == 4 and r != c:
                A[c][r] += value
        return
    w.word(), w.word()
    for line in range(len(A[0]) if kept == 2 else len(A)):
        w.word(), w.word(), w.word(), w.word()
        first = int(w.word())
        w.word()
        last = int(w.word())
        for _ in range(last - first + 1):
            index = int(w.word())
            w.word()
            r, c = (index, line) if kept == 2 else (line, index)
            A[r][c] += float(w.word())


def read_matrix(w):
    kind, rows, cols = w.ints(3)
    A = [[0.0] * cols for _ in range(rows)]
    if kind == 0:
        w.ints(2)
        for c in range(cols):
            for r in range(rows):
                A[r][c] = float(w.word())
    elif kind == 1:
        read_blocks(w, A)
    else:
        read_csparse(w, A)
    return A


def symmetric(A):
    return [[(A[i][j] + A[j][i]) / 2 for j in range(len(A))] for i in range(len(A))]


def read(text, glob, rolls):
    """W, q, mu and mu_roll."""
    w = Words(text)
    d, contacts = w.ints(2)
    if glob:
        M, H = symmetric(read_matrix(w)), read_matrix(w)
        q, b = w.numbers(len(M)), w.numbers(d * contacts)
        Minv = inverse(M)
        columns = [list(c) for c in zip(*H)]
        reach = [times(Minv, c) for c in columns]
        v = times(Minv, q)
        W = [[dot(a, r) for r in reach] for a in columns]
        u = [dot(a, v) + x for a, x in zip(columns, b)]
    else:
        W = symmetric(read_matrix(w))
        u = w.numbers(d * contacts)
    mu = w.numbers(contacts)
    return W, u, mu, w.numbers(contacts) if rolls else None


def operator(dumped):
    """W of a dump."""
    if "W" in dumped:
        return full(dumped["W"])
    J, Minv = full(dumped["J"]), inverse(full(dumped["M"]))
    reach = [times(Minv, row) for row in J]
    return [[dot(a, r) for r in reach] for a in J]


def compare(name, text, fmt, dumped):
    W, u, mu, roll = read(text, fmt in ("siconos-gfc", "siconos-grfc"), fmt in ("siconos-rfc", "siconos-grfc"))
    check([b["mu"] for b in dumped["blocks"]] == mu, name, "mu")
    if roll is not None:
        check([b.get("roll", b.get("spin")) for b in dumped["blocks"]] == roll, name, "mu_roll")
    got = operator(dumped)
    largest = max(abs(x) for row in W for x in row)
    check(len(got) == len(W), name, "size", len(got), len(W))
    tol = 1e-16 if "W" in dumped else 1e-12
    near("W " + fmt, max(abs(x - y) for a, b in zip(got, W) for x, y in zip(a, b)), 0.0, largest, tol)
    near("q " + fmt, max(abs(x - y) for x, y in zip(dumped["u_free"], u)), 0.0, max(map(abs, u)) or 1.0, 1e-11)


def test_data():
    """Every friction file there is."""
    folder = pathlib.Path(os.environ.get("CAROM_DATA", ""), "siconos-fc-A")
    if not os.environ.get("CAROM_DATA") or not folder.is_dir():
        print("  data: skipped, CAROM_DATA is not set")
        return
    count = 0
    with Folder() as at:
        for path in sorted(folder.glob("*.dat")):
            answer = solve(path, "--dump", at("d.json"), expect=None)
            if not check("error" not in answer, path.name, answer):
                continue
            if answer["rows"] > 400:
                continue
            compare(path.name, path.read_text(), answer["format"], json.loads(open(at("d.json")).read()))
            count += 1
    print(f"  {count} files compared")
    check(count >= 40, count)


def text_of(A, form, draw):
    """A matrix as Siconos writes it; sparse forms with what is not zero."""
    rows, cols = len(A), len(A[0]) if A else 0
    head = f"{2 if form > 0 else 0}\n{rows}\n{cols}\n"
    if form == 0:
        return head + f"{rows}\t{cols}\n" + " ".join(repr(A[i][j]) for j in range(cols) for i in range(rows)) + "\n"
    entries = [(i, j, A[i][j]) for i in range(rows) for j in range(cols) if A[i][j] != 0 and (form < 4 or j <= i)]
    out = head + f"{form}\nCSparse Version 3.2.0, Sept 12, 2017.  Copyright (c) Timothy A. Davis, 2006-2016\n"
    size = f"{rows}-by-{cols}, nzmax: {len(entries) + 2} nnz: {len(entries)}"
    if form in (1, 4):
        draw.shuffle(entries)
        return out + f"triplet: {size}\n" + "".join(f"    {i} {j} : {x!r}\n" for i, j, x in entries)
    out += ("csr: " if form == 3 else "") + size + ", 1-norm: 1\n"
    at = 0
    for line in range(cols if form == 2 else rows):
        mine = [(e[0 if form == 2 else 1], e[2]) for e in entries if e[1 if form == 2 else 0] == line]
        out += f"    {'col' if form == 2 else 'row'} {line} : locations {at} to {at + len(mine) - 1}\n"
        out += "".join(f"      {i} : {x!r}\n" for i, x in mine)
        at += len(mine)
    return out


def sparse_square(draw, n):
    """Symmetric, diagonally dominant, with many zeros."""
    A = [[0.0] * n for _ in range(n)]
    for _ in range(2 * n):
        i, j = draw.randrange(n), draw.randrange(n)
        A[i][j] = A[j][i] = draw.uniform(-1, 1)
    for i in range(n):
        A[i][i] = 1.0 + sum(map(abs, A[i]))
    return A


def numbers(draw, n):
    return [draw.gauss(0, 1) for _ in range(n)]


def test_random():
    """Local and global, with and without rolling, in every storage."""
    draw = random.Random(5)
    done = 0
    with Folder() as at:
        for form in range(5):
            for d, rolls in ((2, False), (3, False), (3, True), (5, True)):
                for glob in (False, True):
                    contacts = draw.randrange(2, 5)
                    n, nv = d * contacts, d * contacts + draw.randrange(1, 4)
                    text = f"{d}\n{contacts}\n" + text_of(sparse_square(draw, nv if glob else n), form, draw)
                    if glob:
                        H = [[draw.choice([0.0, draw.gauss(0, 1)]) for _ in range(n)] for _ in range(nv)]
                        text += text_of(H, min(form, 3), draw) + " ".join(map(repr, numbers(draw, nv))) + "\n"
                    lists = [numbers(draw, n), [abs(x) for x in numbers(draw, contacts)]]
                    lists += [[0.1 * abs(x) for x in numbers(draw, contacts)]] if rolls else []
                    text += "\n".join(" ".join(map(repr, x)) for x in lists) + "\n"
                    fmt = "siconos-" + ("g" if glob else "") + ("rfc" if rolls else "fc")
                    given = ["--format", fmt] if glob and rolls and d == 3 else []
                    answer = solve(text.encode(), *given, "--dump", at("d.json"), expect=None)
                    check(answer.get("format") == fmt, "guessed", answer.get("format"), fmt, d, answer.get("error"))
                    half = answer.get("symmetrised", {}).get("triangle")
                    check(half == ("lower" if form == 4 else None), "one triangle is said", half, form)
                    compare(fmt, text, fmt, json.loads(open(at("d.json")).read()))
                    done += 1
    print(f"  {done} random problems")


main(globals())
