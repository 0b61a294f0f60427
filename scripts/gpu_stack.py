#!/usr/bin/env python3
"""Bytes of stack that each kernel of a device program may need: `gpu_stack.py carom.ptx` prints a line `KERNEL BYTES CALLS` for each.

BYTES is the kernel's own memory, CALLS that of the deepest chain of calls below it. Calls through pointers are not followed: they
lead to functions that take little.
"""
import re
import sys



def functions(module):
    """Bytes that each function of a module has of its own, and what it calls."""
    own, calls = {}, {}
    for part in re.split(r"(?m)^(?=(?:\.visible )?\.(?:func|entry))", module)[1:]:
        name = re.match(r"(?:\.visible )?\.(?:func|entry)\s+(?:\([^)]*\)\s*)?([\w$]+)", part)[1]
        if "{" in part:
            depot = re.search(r"__local_depot\d+\[(\d+)\]", part)
            own[name] = int(depot[1]) if depot else 0
            calls[name] = set(re.findall(r"call(?:\.uni)?\s+(?:\([^)]*\),\s*)?([\w$]+)", part))
    return own, calls


def below(name, own, calls, found, above=()):
    """Bytes of the deepest chain of calls from a function."""
    if name not in found and name in own and name not in above:
        found[name] = max((own.get(c, 0) + below(c, own, calls, found, above + (name,)) for c in calls[name]), default=0)
    return found.get(name, 0)


with open(sys.argv[1]) as file:
    modules = re.split(r"(?m)^(?=\.version)", file.read())
for text in modules[1:]:
    memory, callees = functions(text)
    deep = {}
    for kernel in re.findall(r"(?m)^\.visible \.entry ([\w$]+)", text):
        print(kernel, memory[kernel], below(kernel, memory, callees, deep))
