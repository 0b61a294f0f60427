#!/usr/bin/env python3
"""Prints a step of the cone method stage by stage: which function of which file is called, in the order of the source.

    trace.py [--check DOC]

Static functions of a file are followed in place; functions of other files are printed and not followed, but for those
that only lead to the method (run.c, world.c). The other methods and
helpers of a line (memory, parts, errors) are left out. --check compares
with the block in a document and says where they differ.
"""
import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("step", "pairs", "relax", "world")
START = "cr__world_step_by"  # cr_world_step, one part of it where step.error divides it
# functions that lead on to the stages, whatever file they are in
LEADS = {"cr_step_run", "cr_step_cone"}
# not stages: memory, lists of bodies, errors
SMALL = re.compile(r"cr_arena_|cr__step_memory|cr__step_part|cr__step_list_awake|cr__step_ready|cr_error|cr__missing|"
                   r"cr_status|cr_state_check|cr_step_lcp|cr_step_event|cr_step_moreau|cr_method_name|cr__step_solves_alike|cr__step_swap|cr__step_keep_start|cr__solver|cr_model_has")
COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)
FUNCTION = re.compile(r"^((?:[A-Za-z_][\w*]*[ *]+)+)([A-Za-z_]\w*)\(([^;{}]*)\)\s*\{", re.M)
CALL = re.compile(r"\b([A-Za-z_]\w*)\(")
MOST = 40  # lines of a step


def functions():
    """name -> (file, static, body), by file for static ones."""
    found = {}
    for folder in FOLDERS:
        for path in sorted((ROOT / "src" / folder).glob("*.c")):
            text = COMMENT.sub(" ", path.read_text())
            for match in FUNCTION.finditer(text):
                end, depth = match.end(), 1
                while depth > 0:
                    depth += {"{": 1, "}": -1}.get(text[end], 0)
                    end += 1
                static = "static" in match[1]
                found[(path if static else None, match[2])] = (path, text[match.end():end])
    return found


def trace(found, name, path, depth, lines):
    own = found.get((path, name)) or found.get((None, name))
    for call in CALL.findall(own[1]):
        if (own[0], call) in found:
            trace(found, call, own[0], depth, lines)
        elif (None, call) in found and not SMALL.match(call):
            file = found[(None, call)][0]
            line = f"{'  ' * depth}{call}"
            if lines and lines[-1].split()[0] == call:
                continue
            lines.append(f"{line:46}{file.relative_to(ROOT / 'src')}")
            if call in LEADS:
                trace(found, call, None, depth + 1, lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", metavar="DOC")
    check = parser.parse_args().check
    found = functions()
    lines = [f"{START:46}{found[(None, START)][0].relative_to(ROOT / 'src')}"]
    trace(found, START, None, 1, lines)
    if not check:
        print("\n".join(lines))
    if len(lines) > MOST:
        sys.exit(f"trace: {len(lines)} lines, at most {MOST}")
    if check and "\n".join("    " + line for line in lines) not in pathlib.Path(check).read_text():
        sys.exit(f"trace: {check} is not what trace.py prints")


main()
