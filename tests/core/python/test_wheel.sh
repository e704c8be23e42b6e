#!/bin/sh
# test_wheel.sh - make wheel, and the wheel in a fresh virtual environment that knows no build folder: runs, a model that is
# compiled, and the notebooks; what pip builds of a clone and of its own release (sdist), in fresh environments, too, and what
# it says where a compiler or a library is missing. Where there is auditwheel: the wheel that has the libraries in it.
# Skipped without NumPy, pip or venv; needs no network.
set -u

. "${GBEES_TOP_SRC:-$(dirname "$0")/../../..}/tests/fixtures/shell_fixture.sh"

python=$(find_python "numpy, pip, venv, ensurepip") || skip "no python3 has all of NumPy, pip and venv"
enter_scratch
unset GBEES_PYTHON_MODULE GBEES_PLUGIN_PATH GBEES_BACKEND_PATH PYTHONPATH MAKEFLAGS MFLAGS
HOME=$scratch XDG_CACHE_HOME=$scratch/cache MPLBACKEND=Agg PYDEVD_DISABLE_FILE_VALIDATION=1
export HOME XDG_CACHE_HOME MPLBACKEND PYDEVD_DISABLE_FILE_VALIDATION

# fresh FOLDER: a virtual environment there, which finds the packages that $python has.
fresh() {
    rm -rf "$1"
    "$python" -m venv "$1" || exit 99
    "$python" -c 'import site; print("\n".join(site.getsitepackages()))' >"$(echo "$1"/lib/python3*/site-packages)/host.pth"
}

rm -rf "$top_build/dist"
make -C "$top_build" PYTHON3="$python" wheel || exit 1
fresh venv
venv/bin/pip install --quiet --no-index "$top_build"/dist/gbees-*.whl || exit 1
cat >run.py <<'END'
import os
os.environ["GBEES_CUDA_LIBRARY_PATH"] = os.environ["HOME"]  # where there is no driver of a GPU
import gbees
from gbees import _library
assert gbees.__file__.startswith(os.environ["HOME"]), gbees.__file__
run = gbees.run("lorenz63", set={"accuracy": 0, "factor": 1, "records": 1}, progress=False)
assert run.records[-1].time == 2 and run.backend == "cpu"
try:
    gbees.run("lorenz63", backend="cuda", progress=False)
    raise SystemExit("a backend for GPUs runs without one")
except gbees.BackendError as error:
    print(error)
solver = gbees.Solver("lorenz63")  # has its model loaded
mapped = open("/proc/self/maps").read()
for name in ("libgbees.so", "gbees_cpu.so", "lorenz63.so"):
    files = {line.split()[-1] for line in mapped.splitlines() if name in line}
    assert files and all(os.environ["HOME"] in f for f in files), (name, files)
END
venv/bin/python run.py || exit 1
for notebook in lorenz63 orbit own_model; do
    needs=matplotlib
    test "$notebook" = own_model && needs=sympy
    test "$notebook" = orbit && needs=numpy
    venv/bin/python -c "import $needs" 2>/dev/null || continue
    venv/bin/python "$top_src/tests/core/python/notebooks.py" --script "$top_src/core/python/notebooks/$notebook.ipynb" || exit 1
done

# install WHAT: by pip, in the fresh environment `built`, in a tenth of the time: without kernels for the latest processors.
install() {
    what="pip install $1"
    fresh built
    GBEES_CONFIGURE_FLAGS='--disable-vector-kernels --with-cuda=no --with-mpi=no' CFLAGS='-g0 -O1' \
        built/bin/pip install --quiet --no-index "$1" >out 2>err </dev/null
}
# refuses TEXT FOLDER: pip ends with these words alone, not with a traceback.
refuses() {
    install "$2" && fail "it was built"
    has err "gbees: $1"
    lacks err Traceback
}
# Of a release, which is no clone: its files.
clone=$scratch/clone
if command -v git >/dev/null; then git clone --quiet "$top_src" "$clone" 2>/dev/null; fi
test -e "$clone" || cp -R "$top_src" "$clone"
PKG_CONFIG_LIBDIR=/nonexistent refuses "HDF5 is missing (Debian: apt-get install libhdf5-dev)" "$clone"
CC=/nonexistent/cc refuses "it is compiled on this machine, which lacks cc (Debian: apt-get install gcc libc6-dev)" "$clone"
cp -R "$clone/core/python" alone
refuses "the package is built from all of the sources" ./alone

install "$clone/core/python" || fail "it was not built"
built/bin/python run.py || fail "it does not run"
what="the release for pip"
PYTHONPATH=$clone/core/python "$python" -c 'import gbees_build; print(gbees_build.build_sdist("."))' >out 2>err ||
    stop "it was not made"
install "./$(cat out)" || fail "it was not built"
built/bin/python run.py || fail "it does not run"
test "$bad" = 0 || exit 1

command -v auditwheel >/dev/null && command -v patchelf >/dev/null || exit 0
make -C "$top_build" PYTHON3="$python" wheel-manylinux || exit 1
venv/bin/pip install --quiet --no-index --force-reinstall --no-deps "$top_build"/dist/manylinux/gbees-*-manylinux_*.whl || exit 1
cat >>run.py <<'END'
mine = {line.split()[-1] for line in mapped.splitlines() if "libhdf5" in line}
assert mine and all("gbees.libs" in f for f in mine), mine
END
venv/bin/python run.py
