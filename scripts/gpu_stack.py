#!/usr/bin/env python3
"""Bytes of stack that each kernel of a device program may need: `gpu_stack.py carom.ptx` prints a line `KERNEL BYTES CALLS` for each.

BYTES is the kernel's own memory, CALLS that of the deepest chain of calls below it. Calls through pointers are not followed: they
lead to functions that take little.
"""
import re
import sys

with open(sys.argv[1]) as file:
    parts = re.split(r"(?m)^(?=(?:\.visible )?\.(?:func|entry))", file.read())
own, calls = {}, {}
for part in parts[1:]:
    name = re.match(r"(?:\.visible )?\.(?:func|entry)\s+(?:\([^)]*\)\s*)?([\w$]+)", part)[1]
    if "{" not in part:
        continue
    depot = re.search(r"__local_depot\d+\[(\d+)\]", part)
    # a name may be in both modules
    own[name] = max(own.get(name, 0), int(depot[1]) if depot else 0)
    calls.setdefault(name, set()).update(re.findall(r"call(?:\.uni)?\s+(?:\([^)]*\),\s*)?([\w$]+)", part))
found = {}


def below(name, above=()):
    if name not in found and name in own and name not in above:
        found[name] = max((own.get(c, 0) + below(c, above + (name,)) for c in calls[name]), default=0)
    return found.get(name, 0)


for kernel in re.findall(r"(?m)^\.visible \.entry ([\w$]+)", "".join(parts)):
    print(kernel, own[kernel], below(kernel))
