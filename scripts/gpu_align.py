#!/usr/bin/env python3
"""Alignments of LLVM's code as C has them: `gpu_align.py IN.ll OUT.ll`.

The inliner copies structs that are passed by value as if they could begin anywhere, and the device would then load them byte by byte.
Every number of a C object lies at a multiple of its size, so loads and stores of numbers and pointers get that alignment; so do copies of
structs, whose sizes are constant and multiples of 8.
"""
import re
import sys

SIZES = {"double": 8, "i64": 8, "ptr": 8, "float": 4, "i32": 4, "i16": 2}
ACCESS = re.compile(r"((?:load|store) (?:volatile )?(double|i64|ptr|float|i32|i16)\b.*, align )[124](?=$|[,\s])")
COPY = re.compile(r"(call void @llvm\.(?:memcpy|memmove)\.p0\.p0\.i64\()ptr ([^%@]*)([%@][\w.$-]+), ptr ([^%@]*)([%@][\w.$-]+), i64 (\d+)")


def copy(found):
    if int(found[6]) % 8:
        return found[0]
    attributes = [re.sub(r"align \d+ ?", "", found[k]) for k in (2, 4)]
    return f"{found[1]}ptr {attributes[0]}align 8 {found[3]}, ptr {attributes[1]}align 8 {found[5]}, i64 {found[6]}"


with open(sys.argv[1]) as text, open(sys.argv[2], "w") as out:
    for line in text:
        line = ACCESS.sub(lambda m: m[1] + str(SIZES[m[2]]), line.rstrip("\n"))
        out.write(COPY.sub(copy, line) + "\n")
