#!/usr/bin/env python3
"""Structs of the headers as records of the package: `records.py HEADERS c|python FILE`.

For C, a table of every field with its kind and place (src/binding.h, PyRecord); for Python, a class for each struct with the
header's comments. A field that is added to a struct is thereby in the package.
"""
import pathlib
import re
import sys

# struct, header, class of the package, variable in C; None where it is only part of another
RECORDS = [("crLawErrors", "problem.h", None, None), ("crEnergyBalance", "step.h", None, None),
           ("crCertificate", "step.h", None, None), ("crTally", "step.h", "Certificate", "tally"),
           ("crAudit", "problem.h", "Audit", "audit"), ("crMargins", "impulse.h", "Margins", "margins"),
           ("crRuleMargins", "resolve.h", "RuleMargins", "rule_margins"),
           ("crLawInfo", "resolve.h", "LawInfo", "law"), ("crRuleInfo", "resolve.h", "RuleInfo", "rule"),
           ("crEvent", "step.h", "Event", "event")]
# fields of a struct inside whose names would say too little in the class
RENAMED = {"crEnergyBalance": {"change": "energy_change", "created": "energy_created", "size": "energy_size",
                               "gain": "energy_gain"}}
KINDS = {"double": "d", "int": "i", "bool": "b", "size_t": "z", "uint64_t": "u", "const char*": "s",
         "crVec3": "v", "crOutcome": "o", "crTruth": "t"}
TYPES = {"d": "float", "i": "int", "b": "bool", "z": "int", "u": "int", "s": "str", "v": "Any", "o": "str", "t": "str"}


def find(folder, header, struct):
    """The body of a struct, in whichever header has it where it moved."""
    files = [folder / header, *sorted(folder.glob("*.h"))]
    for file in files:
        match = re.search(r"typedef struct %s \{(.*?)\n\} %s;" % (struct, struct), file.read_text(), re.S)
        if match:
            return match[1]
    raise SystemExit(f"records.py: no header has a struct {struct}")


def fields(folder, header, struct):
    """(name, kind, place, comment) of every field; fields of a struct inside come in its place."""
    out = []
    body = re.sub(r"\n\s*(\w+)\s*\n\s+(\w+;)", r"\n    \1 \2", find(folder, header, struct))
    # lists of names have calls of their own
    body = re.sub(r"\n\s*const char\* const\*\s*\w+;[^\n]*", "", body)
    for line in body.splitlines():
        code, _, comment = line.partition("//")
        match = re.fullmatch(r"\s*((?:const )?\w+\*?)\s+([\w, ]+);\s*", code)
        if not match:
            if code.strip():
                raise SystemExit(f"records.py: {struct}: cannot read '{line.strip()}'")
            continue
        inner = [record for record in RECORDS if record[0] == match[1]]
        for name in match[2].replace(" ", "").split(","):
            if inner:
                out += [(RENAMED.get(match[1], {}).get(n, n), k, f"{name}.{p}", c)
                        for n, k, p, c in fields(folder, inner[0][1], inner[0][0])]
            elif match[1] not in KINDS:
                raise SystemExit(f"records.py: {struct}.{name}: no kind for {match[1]}: add one to KINDS, and to field_of in "
                                 "src/common.c")
            else:
                out.append((name, KINDS[match[1]], name, comment.strip()))
    return out


def write_c(folder):
    lines = ["// Made by records.py from the headers.", "#include <stddef.h>", "", '#include "binding.h"', ""]
    for struct, header, _, variable in RECORDS:
        if variable is None:
            continue
        lines.append(f"static const PyField {variable}_fields[] = {{")
        lines += [f'    {{"{name}", \'{kind}\', offsetof({struct}, {place})}},'
                  for name, kind, place, _ in fields(folder, header, struct)]
        lines += ["    {NULL, 0, 0}};",
                  f'const PyRecord py_record_{variable} = {{"{struct}", {variable}_fields}};', ""]
    return "\n".join(lines)


def write_class(name, struct, rows):
    lines = ["", "", "@dataclass(frozen=True)", f"class {name}:", f'    """{struct} of the C library."""']
    for field, kind, _, comment in rows:
        lines.append(f"    {field}: {TYPES[kind]}" + (f"  # {comment}" if comment else ""))
    return lines


def write_python(folder):
    lines = ['"""Structs of the C library. Made by records.py from its headers."""', "from dataclasses import dataclass",
             "from typing import Any"]
    for struct, header, name, _ in RECORDS:
        if name is None:
            continue
        lines += write_class(name, struct, fields(folder, header, struct))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[2] not in ("c", "python"):
        raise SystemExit(__doc__)
    makers = {"c": write_c, "python": write_python}
    pathlib.Path(sys.argv[3]).write_text(makers[sys.argv[2]](pathlib.Path(sys.argv[1])), encoding="utf-8")
