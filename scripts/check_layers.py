#!/usr/bin/env python3
"""The folder order rule: a file in src/X may include src/X or a folder that sorts before X, nothing else.

Public headers follow the same order (carom/impulse.h may include carom/vec.h ...), those of carom/io/ include public headers
only; the core never includes io/ or tools/; io/ includes neither fit/ nor plot/ nor tools/, fit/ not plot/ nor tools/, plot/ not tools/. Prints each breach as file:line and exits 1 if there is one.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
# public headers in dependency order; each may include those before it
HEADERS = ["base", "vec", "collide", "impulse", "linalg", "model", "problem", "relax", "resolve", "step", "audit", "world", "wrt", "carom"]


def layer_of_header(name):
    return HEADERS.index(name) if name in HEADERS else None


def breaches():
    for path in sorted(ROOT.glob("src/*/*.[ch]")):
        folder = path.parent.name
        own = layer_of_header("vec") if folder == "base" else layer_of_header(folder)
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            target = match.group(1)
            where = f"{path.relative_to(ROOT)}:{number}"
            if target.startswith("carom/"):
                header = target[len("carom/"):-2]
                layer = layer_of_header(header)
                if layer is None or own is None or layer > own:
                    yield f"{where}: {folder}/ may not include {target}"
            elif "/" in target:
                other = target.split("/")[0]
                if other > folder or not (ROOT / "src" / other).is_dir():
                    yield f"{where}: {folder}/ may not include {target}"
            elif not (path.parent / target).exists():
                yield f"{where}: {target} is not in {folder}/; write folder/file.h"
    for path in sorted(ROOT.glob("include/carom/*.h")):
        own = layer_of_header(path.stem)
        if own is None:
            yield f"{path.relative_to(ROOT)}: header not in the order of scripts/check_layers.py"
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            layer = layer_of_header(match.group(1)[6:-2]) if match.group(1).startswith("carom/") else None
            if layer is None or layer >= own:
                yield f"{path.relative_to(ROOT)}:{number}: may not include {match.group(1)}"
    for path in sorted(ROOT.glob("include/carom/io/*.h")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if match and not (ROOT / "include" / match.group(1)).exists():
                yield f"{path.relative_to(ROOT)}:{number}: may not include {match.group(1)}, which is not installed"
    above = {"io": ("fit/", "plot/", "tools/", "test/"), "fit": ("plot/", "tools/", "test/"), "plot": ("tools/", "test/")}
    for folder, forbidden in above.items():
        for path in sorted(ROOT.glob(f"{folder}/**/*.[ch]")):
            for number, line in enumerate(path.read_text().splitlines(), 1):
                match = INCLUDE.match(line)
                if match and match.group(1).startswith(forbidden):
                    yield f"{path.relative_to(ROOT)}:{number}: {folder}/ may not include {match.group(1)}"


def main():
    found = list(breaches())
    for line in found:
        print(line)
    if found:
        sys.exit(1)
    print("layers: clean")


if __name__ == "__main__":
    main()
