"""site_links.py SITE - every address of every page of the site leads to a file of it, and to a place of that page where it names one."""
import html.parser
import pathlib
import sys
import urllib.parse

from command import check, main

SITE = pathlib.Path(sys.argv[1]).resolve()


class Page(html.parser.HTMLParser):
    """Names of places in a page, and the addresses it holds."""

    def __init__(self, path):
        super().__init__()
        self.places, self.links = set(), []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if "id" in values:
            self.places.add(values["id"])
        for tags, name in ((("a", "link"), "href"), (("img", "script"), "src")):
            if tag in tags and values.get(name):
                self.links.append(values[name])


def test_links():
    # the live page is a program, whose places are views of it
    pages = {path: Page(path) for path in SITE.rglob("*.html") if path.name != "live.html"}
    count = 0
    for path, page in pages.items():
        for link in page.links:
            url = urllib.parse.urlsplit(link)
            if url.scheme:
                continue
            count += 1
            goal = (path.parent / urllib.parse.unquote(url.path)).resolve() if url.path else path
            if not check(goal.is_file() and SITE in goal.parents, path.relative_to(SITE), link, "is not there"):
                continue
            place = urllib.parse.unquote(url.fragment)
            check(not place or goal not in pages or place in pages[goal].places, path.relative_to(SITE), link, "no such place")
    check(len(pages) > 100 and count > 1000, "pages and links", len(pages), count)
    print(f"{len(pages)} pages, {count} links")


if __name__ == "__main__":
    main(globals())
