#!/usr/bin/env python3
"""Three rules of the tree: the order of folders, no circles of calls, static names that are unique in their folder.

The order: a file in src/X may include src/X or a folder that sorts before X, nothing else.

Public headers follow the same order (carom/impulse.h may include carom/vec.h ...), those of carom/io/ include public headers
only; the core never includes io/ or tools/; io/ includes neither fit/ nor plot/ nor tools/, fit/ not plot/ nor tools/, plot/ not tools/.
Circles: files of one folder that call each other in a circle cannot be read one after another. A file calls another
where it uses the name of a function that only the other defines.
Static names: two functions of one name in one folder are two things to know. Names of the same role in every file
that has it (SHARED_NAMES) are allowed.
Prints each breach and exits 1 if there is one; then the longest struct, the widest signature, how many functions of src/step
take the whole step, and how long the folders of the step are.
"""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
# public headers in dependency order; each may include those before it
HEADERS = ["base", "vec", "collide", "near", "control", "impulse", "region", "forms", "linalg", "model", "dynamics", "pairs", "problem", "relax",
           "resolve", "modes", "step", "stages", "audit", "world", "robot", "batch", "wrt", "carom"]
# the last header of a folder; its own name elsewhere
LAST = {"base": "vec", "collide": "near", "impulse": "forms", "model": "dynamics", "resolve": "modes", "step": "stages", "world": "batch"}

# headers that the build makes
GENERATED = {"kind_lists.h"}


def layer_of_header(name):
    return HEADERS.index(name) if name in HEADERS else None


def breaches():
    for path in sorted(ROOT.glob("src/*/*.[ch]")):
        folder = path.parent.name
        own = layer_of_header(LAST.get(folder, folder))
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
            elif not (path.parent / target).exists() and target not in GENERATED:
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


# folders whose files may not call each other in a circle, and whose static names are unique
CHECKED = ["src/base", "src/collide", "src/impulse", "src/linalg", "src/model", "src/pairs", "src/problem", "src/relax",
           "src/resolve", "src/step", "src/world", "io"]
# folders of the step, whose size is told
STEPS = ["step", "pairs", "relax"]
# roles: file-local helpers that say the same thing wherever they are
SHARED_NAMES = {"refuse", "add", "check", "grow", "put", "take"}
SKIPPED = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
FUNCTION = re.compile(r"^((?:[A-Za-z_][\w*]*[ *]+)+)([A-Za-z_]\w*)\(([^;{}]*)\)\s*\{", re.M)
STRUCT = re.compile(r"^(?:typedef )?struct (\w*) *\{\n(.*?)^\}", re.M | re.S)


def code_of(path):
    """The text without comments and literals."""
    return SKIPPED.sub(lambda m: " " if m[0][0] == "/" else '""', path.read_text())


def circles(uses):
    """Strongly connected sets of more than one node, of a dict of dicts (Tarjan 1972)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in uses.get(node, {}):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(uses):
        if node not in index:
            visit(node)
    return found


def folder_breaches(folder):
    """Circles of calls and repeated static names of one folder, its subfolders included."""
    texts = {path: code_of(path) for path in sorted((ROOT / folder).glob("**/*.c"))}
    owners, statics = collections.defaultdict(set), collections.defaultdict(set)
    for path, text in texts.items():
        for head, name, _ in FUNCTION.findall(text):
            (statics if "static" in head.split() else owners)[name].add(path)
    # two files may each have a form of a function of which one is built (qhull.c, refused.c)
    owner = {name: min(paths) for name, paths in owners.items() if len(paths) == 1}
    uses = collections.defaultdict(lambda: collections.defaultdict(set))
    for path, text in texts.items():
        for word in set(re.findall(r"\b[A-Za-z_]\w*\b", text)):
            if word in owner and owner[word] != path and path not in statics.get(word, ()):
                uses[path][owner[word]].add(word)
    for circle in circles(uses):
        yield f"{folder}: {len(circle)} files call each other in a circle: {' '.join(p.name for p in circle)}"
        for path in circle:
            for other in sorted(set(uses[path]) & set(circle)):
                yield f"    {path.name} -> {other.name}: {' '.join(sorted(uses[path][other]))}"
    for name, paths in sorted(statics.items()):
        if len(paths) > 1 and name not in SHARED_NAMES:
            yield f"{folder}: {name} is static in {' '.join(sorted(p.name for p in paths))}"


def split_fields(body):
    """How many fields the body of a struct has; those of structs within it count too."""
    return sum(part.count(",") + 1 for part in re.findall(r"[^;{}]+;", re.sub(r"\([^()]*\)", "", body)) if part.strip(" ;\n"))


def sizes():
    """The struct with most fields and the function with most parameters, as lines to print."""
    fields, parameters = [], []
    for path in sorted([*ROOT.glob("src/**/*.[ch]"), *ROOT.glob("include/carom/**/*.h"), *ROOT.glob("io/**/*.[ch]")]):
        text = code_of(path)
        where = path.relative_to(ROOT)
        fields += [(split_fields(body), f"{name or 'a struct'} of {where}") for name, body in STRUCT.findall(text)]
        parameters += [(len(re.sub(r"\([^()]*\)", "", given).split(",")), f"{name} of {where}")
                       for _, name, given in FUNCTION.findall(text)]
    for what, found in (("fields", fields), ("parameters", parameters)):
        yield f"most {what}: " + ", ".join(f"{name} ({count})" for count, name in sorted(found, reverse=True)[:3])
    step = dict((name.split()[0], count) for count, name in fields).get("crStep", 0)
    taken = collections.Counter()
    for path in sorted(ROOT.glob("src/step/*.[ch]")):
        for _, _, given in FUNCTION.findall(code_of(path)):
            found = re.search(r"(const )?\bcrStep\*", given)
            taken["const" if found and found[1] else "may change" if found else "none"] += 1
    yield (f"crStep: {step} fields; of {sum(taken.values())} functions in src/step {taken['may change']} take it to change it, "
           f"{taken['const']} to read it")
    lines = {folder: sum(len(path.read_text().splitlines()) for path in ROOT.glob(f"src/{folder}/*.[ch]")) for folder in STEPS}
    yield f"lines: {' + '.join(STEPS)} {sum(lines.values())} ({', '.join(f'{name} {count}' for name, count in lines.items())})"


def main():
    found = list(breaches())
    for folder in CHECKED:
        found += folder_breaches(folder)
    for line in found:
        print(line)
    for line in sizes():
        print(line)
    if found:
        sys.exit(1)
    print("layers: clean")


if __name__ == "__main__":
    main()
