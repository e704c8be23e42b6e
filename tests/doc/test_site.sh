#!/bin/sh
# test_site.sh - make site: each page of the manual, functions of C and of Python are on it, no link is broken, and nothing
# is loaded from elsewhere; and what is wrong is found. Skipped where configure has not found what it takes.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../..}/tests/fixtures/shell_fixture.sh"
python=$(sed -n 's/^SITE_PYTHON = //p' "$top_build/Makefile")
unset MAKEFLAGS MFLAGS
make -C "$top_build" has-sphinx >/dev/null 2>&1 || skip "configure has not found all of doxygen, Sphinx, myst-parser and NumPy"
enter_scratch
clean_environment
LC_ALL=C.UTF-8
export LC_ALL

calls 0 make -C "$top_build" site
test "$bad" = 0 || exit 1
has out ": none is broken"
ln -s "$top_build/site" site
cmp -s site/index.html site/README.html || fail "site/index.html is not README.md"
(cd "$top_src" && find README.md doc -name '*.md') >pages
while read -r page; do
    test -s "site/${page%.md}.html" || fail "$page is not on the site"
done <pages
test "$(wc -l <pages)" -ge 40 || fail "only $(wc -l <pages) pages were found"

# on PAGE TEXT: the page of the site has it.
on() {
    grep -qF -- "$2" "site/$1" || fail "$1 has no $2"
}
on doc/accuracy.html 'id="certificates"'
on doc/scenario.html 'href="accuracy.html#asking-for-an-accuracy"'
on doc/accuracy.html '<table'
on doc/tutorial.html '<pre>'
on doc/tutorial.html 'src="../_images/lorenz63.png"'
on c/solver_8h.html gbees_solver_create
on doc/site/reference.html 'href="../../c/index.html"'
for name in $(sed -n '/^__all__/,/^]/s/^ *"\(.*\)",$/\1/p' "$top_src/core/python/gbees/__init__.py") \
    orbit.propagate stonesoup.GridPredictor dapper.Grid.assimilate; do
    on doc/site/reference.html "id=\"gbees.$name\""
done
on doc/site/reference.html "Holds a density, and takes it from measurement to measurement"
# An example in a docstring that does not follow a "::" would be a paragraph.
if grep -q '<blockquote' site/doc/site/reference.html; then fail "an example of a docstring is not one on the site"; fi

# A page with a broken link, and one that no page leads to.
# sphinx PAGE TEXT: makes a site of README.md, doc/site/reference.rst and doc/PAGE.
sphinx() {
    rm -rf tree && mkdir -p tree/doc/site
    printf '%s\n' '# Title' '' '| | |' '| --- | --- |' '| **first** | [a page](doc/page.md) |' >tree/README.md
    printf '%s\n' Reference ========= >tree/doc/site/reference.rst
    echo '# Page' >tree/doc/page.md
    printf '%s\n' "$2" >>"tree/doc/$1"
    "$python" -m sphinx -q -W --keep-going -c "$top_src/doc/site" -d tree/work tree tree/made >out 2>err
}
what="a site of two pages"
PYTHONPATH=$top_src/core/python PYTHONDONTWRITEBYTECODE=1
GBEES_PYTHON_MODULE=$top_build/core/python/.libs/session.so
export PYTHONPATH PYTHONDONTWRITEBYTECODE GBEES_PYTHON_MODULE
sphinx page.md '[to the start](../README.md#title)' || fail "it is not made"
sphinx page.md '[nowhere](gone.md)' && fail "a link to no page is not seen"
sphinx page.md '[nowhere](../README.md#gone)' && fail "a link to no heading is not seen"
sphinx other.md '# Other' && fail "a page that no page leads to is not seen"

# plant TEXT OF THE PAGE, WHAT MUST BE REPORTED
plant() {
    what="links.py, '$1'"
    rm -rf planted && mkdir -p planted/style
    echo '<h1 id="there">' >planted/style/other.html
    echo "$1" >planted/page.html
    if "$python" "$top_src/doc/site/links.py" planted >out 2>err; then
        test -z "$2" || fail "it is not seen"
    elif test -z "$2"; then
        fail "it is refused"
    else
        has out "page.html: $2"
    fi
}
plant '<a href="style/other.html#there">, <a href="https://example.org">, <a href="#me"><p id="me">' ''
plant '<a href="gone.html">' 'gone.html leads nowhere'
plant '<a href="../planted.html">' '../planted.html leads nowhere'
plant '<a href="style/other.html#gone">' 'style/other.html#gone: the page has no such place'
plant '<img src="gone.png">' 'gone.png leads nowhere'
plant '<script src="https://example.org/x.js"></script>' 'loads https://example.org/x.js from elsewhere'
plant '<link href="//example.org/x.css">' 'loads //example.org/x.css from elsewhere'
plant '<style>@import "https://example.org/x.css";</style>' 'loads https://example.org/x.css from elsewhere'
plant '<p style="background: url(http://example.org/x.png)">' 'loads http://example.org/x.png from elsewhere'
exit "$bad"
