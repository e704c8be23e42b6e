"""Builds the Python package for pip, by the Autotools (PEP 517), and packs it for `make wheel`:

    python3 gbees_build.py STAGE LIBDIR INCLUDEDIR FOLDER

STAGE has an installed gbees, in LIBDIR and INCLUDEDIR; the wheel goes to FOLDER. It is of one platform, but of no version
of Python: ctypes loads the library. GBEES_CONFIGURE_FLAGS has options for configure.
"""

import base64
import glob
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
HELP = "doc/install.md lists what gbees needs"
METADATA = """Metadata-Version: 2.1
Name: gbees
Version: {}
Summary: Probability densities through nonlinear dynamics, on a sparse grid
License: BSD-3-Clause
Requires-Python: >=3.9
Requires-Dist: numpy>=1.20
Provides-Extra: all
Provides-Extra: orbit
"""
OPTIONAL = ("xarray", "matplotlib", "sympy", "tqdm")
ORBIT = ("astropy", "ccsds-ndm", "sgp4")  # of gbees.orbit
# Programs that build from a clone or, the last two, from a release, and their Debian packages.
CLONE = {"autoreconf": "autoconf", "automake": "automake", "libtoolize": "libtool", "pkg-config": "pkg-config"}
RELEASE = {"make": "make", "cc": "gcc libc6-dev"}


def fail(text):
    raise SystemExit(f"gbees: {text}; {HELP}")


def version():
    try:
        with open(os.path.join(TOP, "configure.ac"), encoding="utf-8") as file:
            return re.search(r"AC_INIT\(\[gbees\], \[(.*?)\]", file.read())[1]
    except FileNotFoundError:
        fail("the package is built from all of the sources, of which core/python is a part")


def metadata():
    extras = (f'Requires-Dist: {name}; extra == "all"\n' for name in OPTIONAL)
    orbit = (f'Requires-Dist: {name}; extra == "orbit"\n' for name in ORBIT)
    return METADATA.format(version()) + "".join(extras) + "".join(orbit)


# ---- the wheel ----


def package_files(stage, libraries, headers):
    """Pairs of a path in the wheel and a file: Python, lib/ (the library and its modules) and include/, for models."""
    folders = [(HERE + "/gbees", "", "*.py"), (HERE + "/gbees", "", "py.typed")]
    folders += [(stage + libraries, "lib", "libgbees.so.0"), (stage + headers + "/gbees", "include/gbees", "*.h")]
    folders += [(stage + libraries + "/gbees", "lib/gbees", "**/*.so")]
    for folder, place, pattern in folders:
        files = sorted(glob.glob(os.path.join(folder, pattern), recursive=True))
        if not files:
            fail(f"{folder} has no {pattern}")
        for file in files:
            yield os.path.join("gbees", place, os.path.relpath(file, folder)), file


def pack(stage, libraries, headers, folder):
    """Writes the wheel; returns its name."""
    tag = "py3-none-" + re.sub("[-.]", "_", sysconfig.get_platform())
    info = f"gbees-{version()}.dist-info"
    name = f"gbees-{version()}-{tag}.whl"
    texts = {"METADATA": metadata(), "WHEEL": f"Wheel-Version: 1.0\nGenerator: gbees\nRoot-Is-Purelib: false\nTag: {tag}\n"}
    record = ""
    os.makedirs(folder, exist_ok=True)
    with zipfile.ZipFile(os.path.join(folder, name), "w", zipfile.ZIP_DEFLATED) as wheel:

        def add(path, data):
            nonlocal record
            entry = zipfile.ZipInfo(path)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record += f"{path},sha256={digest},{len(data)}\n"

        for path, file in package_files(stage, libraries, headers):
            with open(file, "rb") as source:
                add(path, source.read())
        for path, text in texts.items():
            add(f"{info}/{path}", text.encode())
        wheel.writestr(f"{info}/RECORD", record + f"{info}/RECORD,,\n")
    return name


# ---- the build ----


def run(folder, *command, **variables):
    """Runs a command without its output, of which the end is printed if it fails."""
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    environment.update(variables)
    done = subprocess.run(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        encoding="utf-8", errors="replace", check=False,
    )
    if done.returncode:
        print("\n".join(done.stdout.splitlines()[-40:]), file=sys.stderr)
        errors = re.findall(r"configure: error: (.*)", done.stdout)
        fail(errors[-1] if errors else f"{command[0]} failed, with the messages above")


def configured(folder):
    """Makes configure, if this is a clone, and runs it in the folder."""
    release = os.path.exists(os.path.join(TOP, "configure"))
    compilers = os.environ.get("CC", "").split()[:1] or ("gcc", "cc", "clang")
    needed = RELEASE if release else {**CLONE, **RELEASE}
    missing = [name for name in needed if not any(map(shutil.which, compilers if name == "cc" else [name]))]
    if missing:
        packages = " ".join(needed[name] for name in missing)
        fail(f"it is compiled on this machine, which lacks {', '.join(missing)} (Debian: apt-get install {packages})")
    version()
    if not release:
        run(TOP, "autoreconf", "-fi")
    flags = os.environ.get("GBEES_CONFIGURE_FLAGS", "").split()
    run(folder, os.path.join(TOP, "configure"), "--quiet", *flags, CFLAGS=os.environ.get("CFLAGS", "-g0"))


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with tempfile.TemporaryDirectory() as folder:
        configured(folder)
        run(folder, "make", f"-j{os.cpu_count() or 1}", "wheel", f"PYTHON3={sys.executable}")
        (wheel,) = glob.glob(os.path.join(folder, "dist", "*.whl"))
        shutil.copy(wheel, wheel_directory)
    return os.path.basename(wheel)


def build_sdist(sdist_directory, config_settings=None):
    """The release of `make dist`, with what pip wants to be in it."""
    name = f"gbees-{version()}"
    with tempfile.TemporaryDirectory() as folder:
        configured(folder)
        run(folder, "make", "dist-gzip")
        with tarfile.open(os.path.join(folder, f"{name}.tar.gz")) as release:
            with tarfile.open(os.path.join(sdist_directory, f"{name}.tar.gz"), "w:gz", format=tarfile.PAX_FORMAT) as sdist:
                for member in release:
                    sdist.addfile(member, release.extractfile(member) if member.isfile() else None)
                entry = tarfile.TarInfo(f"{name}/PKG-INFO")
                entry.size = len(metadata().encode())
                sdist.addfile(entry, io.BytesIO(metadata().encode()))
    return f"{name}.tar.gz"


if __name__ == "__main__":
    if len(sys.argv) != 5:
        raise SystemExit(__doc__)
    pack(*sys.argv[1:])
