#!/bin/sh
# The API reference: every function has a comment, every page is written, and every link leads somewhere.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$CAROM_SOURCE/scripts/api.py" -o "$work"
python3 - "$work" <<'END'
import pathlib
import re
import sys
from html.parser import HTMLParser

EMPTY = {"meta", "br"}


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links = [], set(), []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag not in EMPTY:
            self.open.append(tag)
        if "id" in attributes:
            assert attributes["id"] not in self.ids, f"{attributes['id']} twice"
            self.ids.add(attributes["id"])
        if "href" in attributes:
            self.links.append(attributes["href"])

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> where {self.open[-1:]} is open"


pages = {}
for path in pathlib.Path(sys.argv[1]).glob("*.html"):
    pages[path.name] = page = Page()
    text = path.read_text()
    page.feed(text)
    assert not page.open, f"{path.name}: {page.open} left open"
    assert not re.search(r'(?:src|href)="(?:https?:)?//', text), f"{path.name} fetches something"
count = 0
for name, page in pages.items():
    for link in page.links:
        target, _, anchor = link.partition("#")
        assert target in pages, f"{name}: {link}"
        assert not anchor or anchor in pages[target].ids, f"{name}: {link}"
        count += 1
print(f"{len(pages)} pages, {count} links good")
END
