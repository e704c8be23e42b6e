#!/bin/sh
# test_blocks.sh - runs every block of code of the manual's pages: see blocks.py, which lists those that can't be run.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../..}/tests/fixtures/shell_fixture.sh"
python=$(find_python "numpy, sympy, xarray, h5py, h5netcdf, matplotlib") ||
    skip "no python3 has what the manual's programs need (./quickstart test installs it)"
enter_scratch
clean_environment
mkdir pages

GBEES_PYTHON_MODULE=$top_build/core/python/.libs/session.so GBEES_INCLUDE_DIR=$top_src/include
GBEES_PLUGIN_PATH=$top_build/plugins/.libs GBEES_BACKEND_PATH=$top_build/backends/.libs
PYTHONPATH=$top_src/core/python PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=ignore MPLBACKEND=Agg LC_ALL=C.UTF-8
PKG_CONFIG_PATH=$top_build/core XDG_CACHE_HOME=$scratch/cache GBEES_CUDA_LIBRARY_PATH=$scratch/none
export GBEES_PYTHON_MODULE GBEES_INCLUDE_DIR GBEES_PLUGIN_PATH GBEES_BACKEND_PATH PYTHONPATH PYTHONDONTWRITEBYTECODE \
    PYTHONWARNINGS MPLBACKEND LC_ALL PKG_CONFIG_PATH XDG_CACHE_HOME GBEES_CUDA_LIBRARY_PATH
long=
is_long && long=long
cd pages || exit 99
# shellcheck disable=SC2086 # nothing, or a word
"$python" "$top_src/tests/doc/blocks.py" "$top_src" "$programs" $long
