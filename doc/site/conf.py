"""The site of the manual, as `make site` has Sphinx make it: the pages as they are in the tree, and a reference of
Python.

The folder of the sources is the tree, so that links between pages and to files are the same there and on the site. The
menu beside each page has the groups of the table in README.md; a page that nothing leads to is an error.
"""

import importlib.util
import inspect
import os
import re
import sys
import types

project = "gbees"
author = "The gbees authors"
release = os.environ.get("GBEES_VERSION", "")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "README"
include_patterns = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "doc/**.md", "doc/site/*.rst"]
include_patterns += ["core/**README.md", "backends/**README.md"]
myst_heading_anchors = 4

# Python's text is NumPy's style of docstrings, with names in single backticks.
default_role = "code"
napoleon_google_docstring = False
napoleon_use_param = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
# What some of its modules need may be missing where the site is made.
optional = ("astropy", "ccsds_ndm", "matplotlib", "sgp4", "stonesoup", "sympy", "xarray")
autodoc_mock_imports = [name for name in optional if not importlib.util.find_spec(name)]
sys.modules["dapper.da_methods"] = types.SimpleNamespace(da_method=lambda: lambda method: method)
toc_object_entries_show_parents = "hide"

html_theme = "alabaster"
html_theme_options = {
    "description": f"version {release}",
    "page_width": "min(78em, 96vw)",
    "body_max_width": "none",
    "sidebar_width": "16em",
    "code_font_size": "0.8em",
    "show_powered_by": False,
}
html_sidebars = {"**": ["about.html", "searchbox.html", "navigation.html"]}
html_copy_source = False
html_show_copyright = False
# Blocks are of shells, C, Python and YAML, and most of them do not say so.
highlight_language = "none"
smartquotes = False

# Pages that lead to others, beside README.md.
LEADING = {
    "doc/architecture": ["/core/README", "/backends/**README"],
    "doc/install": ["/doc/packages/README"],
    "doc/notes/README": ["/doc/notes/*"],
}


def menu(caption, entries):
    """A part of the menu, as a directive of MyST."""
    return "\n".join(["", "```{toctree}", ":hidden:", ":glob:", *caption, *entries, "```", ""])


def add_menu(app, page, text):
    """Appends to a page what it leads to: to README.md the pages that each row of its table names."""
    if page == root_doc:
        for caption, row in re.findall(r"^\| \*\*(.+?)\*\* \| (.*) \|$", text[0], re.M):
            pages = dict.fromkeys("/" + name for name in re.findall(r"\]\(([^):#]+)\.md\)", row))
            text[0] += menu([f":caption: {caption}"], pages)
        text[0] += menu([":caption: reference"], ["/doc/site/reference"])
    elif page in LEADING:
        text[0] += menu([], LEADING[page])


def whole_text(app, what, name, thing, options, lines):
    """A property's docstring as it is: napoleon takes what is before its first colon for a type."""
    if what == "property":
        lines[:] = inspect.getdoc(thing).splitlines() + [""]


def setup(app):
    app.connect("source-read", add_menu)
    app.connect("autodoc-process-docstring", whole_text, priority=900)
