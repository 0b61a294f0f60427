"""The schema of scenes: every shipped scene satisfies it, every field the reader knows is in it, and both refuse alike.

The validator knows the part of JSON Schema 2020-12 that the schema uses, and says so where it uses more.
"""
import json
import re

from command import LAWS, SOURCE, carom, check, main

SCHEMA = json.loads((SOURCE / "docs/scene.schema.json").read_text())
SCENES = sorted((SOURCE / "scenes").glob("*.json"))
KEYWORDS = set("type properties required additionalProperties items minItems maxItems enum const anyOf oneOf allOf not $ref minimum "
               "maximum exclusiveMinimum exclusiveMaximum pattern description title $schema $defs".split())
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool}


def has_type(value, name):
    if name in ("number", "integer"):
        plain = isinstance(value, (int, float)) and not isinstance(value, bool)
        return plain and (name == "number" or value == int(value))
    return isinstance(value, TYPES[name])


def same(a, b):
    return a == b and isinstance(a, bool) == isinstance(b, bool)


def errors(value, schema, path=""):
    """What is wrong with the value, as a list of texts."""
    found = []
    assert set(schema) <= KEYWORDS, set(schema) - KEYWORDS
    if "$ref" in schema:
        found += errors(value, SCHEMA["$defs"][schema["$ref"].split("/")[-1]], path)
    if "type" in schema and not has_type(value, schema["type"]):
        return found + [f"{path}: not {schema['type']}"]
    if "const" in schema and not same(value, schema["const"]):
        found.append(f"{path}: not {schema['const']}")
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{path}: {value} not in {schema['enum']}")
    for word, bad in (("minimum", lambda x, y: x < y), ("maximum", lambda x, y: x > y),
                      ("exclusiveMinimum", lambda x, y: x <= y), ("exclusiveMaximum", lambda x, y: x >= y)):
        if word in schema and bad(value, schema[word]):
            found.append(f"{path}: {value} against {word} {schema[word]}")
    if "pattern" in schema and not re.search(schema["pattern"], value):
        found.append(f"{path}: {value} against {schema['pattern']}")
    if isinstance(value, dict):
        known = schema.get("properties", {})
        found += [f"{path}: no {key}" for key in schema.get("required", []) if key not in value]
        for key, item in value.items():
            rest = schema.get("additionalProperties", True)
            if key in known:
                found += errors(item, known[key], f"{path}.{key}")
            elif rest is False:
                found.append(f"{path}: unknown {key}")
            elif rest is not True:
                found += errors(item, rest, f"{path}.{key}")
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            found.append(f"{path}: {len(value)} items")
        for i, item in enumerate(value):
            found += errors(item, schema.get("items", {}), f"{path}[{i}]")
    for part in schema.get("allOf", []):
        found += errors(value, part, path)
    if "not" in schema and not errors(value, schema["not"], path):
        found.append(f"{path}: not allowed")
    for word in ("anyOf", "oneOf"):
        if word in schema:
            good = [option for option in schema[word] if not errors(value, option, path)]
            if not good or (word == "oneOf" and len(good) != 1):
                found.append(f"{path}: {len(good)} of {word}")
    return found


def test_scenes():
    check(len(SCENES) >= 20, "scenes", len(SCENES))
    for path in SCENES:
        tree = json.loads(path.read_text())
        check(errors(tree, SCHEMA) == [], path.name, errors(tree, SCHEMA)[:3])
        check(len(tree.get("comment", "")) > 20, path.name, "has a line of explanation")
        status, out, err = carom("run", str(path), "--duration", "0", "--json", "--strict")
        if "needs Qhull" in out:
            print(f"  {path.name} skipped, built without Qhull")
            continue
        check(status == 0 and err == "", path.name, status, out, err)
        check(json.loads(out)["overlaps"] == [], path.name, "starts with overlaps")


def test_printed():
    status, out, err = carom("schema")
    check(status == 0 and json.loads(out) == SCHEMA and err == "", "carom schema prints docs/scene.schema.json; ./dev docs renews it")


def properties(schema):
    """Every name of a property anywhere in the schema."""
    if isinstance(schema, list):
        return set().union(*map(properties, schema)) if schema else set()
    if not isinstance(schema, dict):
        return set()
    return set(schema.get("properties", {})) | set().union(*(properties(v) for v in schema.values()), set())


def test_fields():
    """The names in the reader's tables of fields are the properties of the schema, no more and no less."""
    known = set()
    for path in (SOURCE / "io").glob("scene*.c"):
        text = path.read_text()
        for body in re.findall(r"fields\[\] = \{(.*?)\};", text, re.S) + re.findall(r"#define (?:COMMON|ALONG)(.*?)\n(?!\s)",
                                                                                text.replace("\\\n", " "), re.S):
            known |= set(re.findall(r'"([$\w]+)"', body))
    # and those that rows of shapes and joints bring
    for body in re.findall(r"\{((?:\"\w+\"(?:, )?)+)\},\s*\{\"", (SOURCE / "src/collide/shape.c").read_text()):
        known |= set(re.findall(r'"(\w+)"', body))
    known |= set(re.findall(r'\.(?:coordinate|rate) = "(\w+)"', (SOURCE / "src/model/joint.c").read_text()))
    check(known == properties(SCHEMA), "only in the reader:", sorted(known - properties(SCHEMA)), "only in the schema:",
          sorted(properties(SCHEMA) - known))


def test_names():
    """Names that the schema lists are those the command has."""
    step = SCHEMA["properties"]
    check(sorted(step["impact"]["properties"]["law"]["enum"]) == sorted(LAWS), "laws")
    for field, path in (("rule", "impact"), ("law", "impact"), ("name", "solver")):
        for name in step[path]["properties"][field]["enum"]:
            status, out, err = carom("run", "-", "--json", text=json.dumps(
                {"carom": 1, "step": {"duration": 0}, path: {field: name}}))
            check(status == 0, field, name, out)


def test_alike():
    """A scene spoiled in one place is refused by both."""
    base = {"carom": 1, "materials": {"m": {"mu": 0.5}}, "bodies": [
        {"name": "a", "joint": "hinge", "mass": 1, "inertia": 1, "axis": [0, 0, 1], "limits": [0, 1],
         "shapes": [{"type": "capsule", "r": 1, "half": 1, "material": "m"}]}],
            "static": [{"type": "box", "half": [1, 1, 1], "pos": [9, 9, 9]}], "step": {"dt": 0.1, "duration": 0}}

    def refused_by(tree):
        status = carom("run", "-", "--json", text=json.dumps(tree))[0]
        return status == 1, errors(tree, SCHEMA) != []

    def spots(tree, path=()):
        for key in tree if isinstance(tree, dict) else range(len(tree)):
            yield path + (key,)
            if isinstance(tree[key], (dict, list)):
                yield from spots(tree[key], path + (key,))

    check(refused_by(base) == (False, False), "the base is good")
    count = 0
    for path in list(spots(base)):
        for wrong in (None, "nonsense", [], {"x": 1}, -1, [1, 2, "x"]):
            tree = json.loads(json.dumps(base))
            at = tree
            for key in path[:-1]:
                at = at[key]
            at[path[-1]] = wrong
            reader, schema = refused_by(tree)
            # the schema knows no names of bodies and materials, and nothing of mechanics
            beyond = path[-1] in ("material", "name", "inertia", "mass", "materials") or path[-1] == 0 or path[0] == "bodies"
            check(reader or not schema, "only the schema refuses", path, wrong)
            check(schema or not reader or beyond, "only the reader refuses", path, wrong)
            count += 1
    print(f"  {count} spoiled scenes refused alike")


main(globals())
