#!/bin/sh
# test_python.sh - the Python package against the build tree, with pytest, and its notebooks.
# Skipped without NumPy or pytest, which ./quickstart test installs.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../..}/tests/fixtures/shell_fixture.sh"
tests=$top_src/tests/core/python

python=$(find_python "numpy, pytest") ||
    skip "no python3 has NumPy and pytest (Debian: apt-get install python3-numpy python3-pytest)"
enter_scratch

GBEES_TOP_BUILD=$top_build
GBEES_PYTHON_MODULE=$top_build/core/python/.libs/session.so
GBEES_PLUGIN_PATH=$top_build/plugins/.libs GBEES_BACKEND_PATH=$top_build/backends/.libs
GBEES_INCLUDE_DIR=$top_src/include PYTHONPATH=$top_src/core/python PYTHONDONTWRITEBYTECODE=1
HOME=$scratch XDG_CACHE_HOME=$scratch/cache MPLBACKEND=Agg PYDEVD_DISABLE_FILE_VALIDATION=1
export GBEES_TOP_BUILD GBEES_PYTHON_MODULE GBEES_PLUGIN_PATH GBEES_BACKEND_PATH GBEES_INCLUDE_DIR PYTHONPATH \
    PYTHONDONTWRITEBYTECODE HOME XDG_CACHE_HOME MPLBACKEND PYDEVD_DISABLE_FILE_VALIDATION

# In make check the orbit has a tenth of its cells; make check-long runs that notebook alone, as it is.
if is_long; then
    "$python" "$tests/notebooks.py" "$top_src/core/python/notebooks/orbit.ipynb"
    exit
fi
"$python" -m pytest -q -rs -p no:cacheprovider "$tests/test_gbees.py" "$tests/test_filter.py" "$tests/test_kept.py" \
    "$tests/test_smoothed.py" "$tests/test_bounds.py" "$tests/test_parts.py" "$tests/test_sympy.py" \
    "$tests/test_tables.py" "$tests/test_equations.py" "$tests/test_dapper.py" "$tests/test_orbit.py" "$tests/test_stonesoup.py" || exit 1
if "$python" -m mypy --version >/dev/null 2>&1; then
    "$python" -m mypy --strict --cache-dir "$scratch/mypy" "$top_src/core/python/gbees" || exit 1
else
    echo "types were not checked: mypy is not installed"
fi
for notebook in halo lorenz63 orbit own_model stonesoup; do
    needs=matplotlib
    test "$notebook" = own_model && needs=sympy
    test "$notebook" = orbit && needs=numpy
    test "$notebook" = stonesoup && needs="stonesoup, sympy, matplotlib"
    if "$python" -c "import $needs" 2>/dev/null; then
        cp "$top_src/core/python/notebooks/$notebook.ipynb" "$notebook.ipynb"
        if test "$notebook" = orbit; then
            grep -q '"threshold.": 1e-7' orbit.ipynb || { echo "FAIL: orbit.ipynb has another threshold" && exit 1; }
            sed -i 's/\("threshold.": \)1e-7/\11e-5/' orbit.ipynb
        fi
        "$python" "$tests/notebooks.py" "$notebook.ipynb" || exit 1
    else
        echo "$notebook.ipynb was not run: it needs $needs"
    fi
done
