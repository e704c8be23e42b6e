#!/bin/sh
# test_bare.sh - the README's two commands on a Debian 12 with nothing installed, alone and on a busy machine (tests/bare).
# GBEES_BARE_PACKAGES names a folder for the packages that it downloads.
set -u
. "${GBEES_TOP_SRC:-$(dirname "$0")/../..}/tests/fixtures/shell_fixture.sh"
exec "$top_src/tests/bare" ${GBEES_BARE_PACKAGES:+"$GBEES_BARE_PACKAGES"}
