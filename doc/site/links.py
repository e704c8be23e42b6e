"""Checks a folder of HTML pages: python3 links.py FOLDER

Each link must lead to a file in the folder, and to an element there that has its name; other sites are not visited.
Pictures, scripts, styles and fonts must be in the folder, too. Prints what is wrong, and ends with status 1 if anything is.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"audio", "embed", "iframe", "img", "link", "object", "script", "source", "video"}
IN_STYLE = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")


class Page(HTMLParser):
    """The names and the links of a page: pairs of a URL and whether it is loaded with the page."""

    def __init__(self, path):
        super().__init__()
        self.names, self.links = set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.names.update(attributes[key] for key in ("id", "name") if attributes.get(key))
        self.links += [(attributes[key], tag in LOADED) for key in ("href", "src", "data") if attributes.get(key)]
        self.links += styled(attributes.get("style") or "")

    def handle_data(self, data):
        if self.cdata_elem == "style":
            self.links += styled(data)


def styled(text):
    """What a style loads."""
    return [(first or second, True) for first, second in IN_STYLE.findall(text)]


def fault(top, source, link, loaded, pages):
    """What is wrong with a link of the file `source`, or nothing."""
    url = urlsplit(link)
    if url.scheme in ("data", "javascript") or (url.scheme in ("http", "https", "mailto") and not loaded):
        return None
    if url.scheme or url.netloc:
        return f"loads {link} from elsewhere" if loaded else f"has a link to {link}"
    path = (source.parent / unquote(url.path)).resolve() if url.path else source
    if top not in path.parents or not path.is_file():
        return f"{link} leads nowhere"
    if url.fragment and path in pages and unquote(url.fragment) not in pages[path].names:
        return f"{link}: the page has no such place"
    return None


def check(folder):
    """Prints the faults of a folder; returns how many there are."""
    top = Path(folder).resolve()
    pages = {path: Page(path) for path in sorted(top.rglob("*.html"))}
    links = {path: page.links for path, page in pages.items()}
    links.update((path, styled(path.read_text(encoding="utf-8"))) for path in sorted(top.rglob("*.css")))
    faults = {(path, fault(top, path, *link, pages)) for path in links for link in links[path]}
    found = sorted(f"{path.relative_to(top)}: {text}" for path, text in faults if text)
    print("\n".join(found) or f"{len(pages)} pages, {sum(map(len, links.values()))} links: none is broken")
    return len(found) if pages else 1


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    sys.exit(check(sys.argv[1]) > 0)
