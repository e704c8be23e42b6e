"""Packs the Python files with a library that is installed in a folder: `make wheel` installs there and calls this.

The wheel is of one platform, but of no version of Python: ctypes loads the library.
"""

import os
import shutil

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before 70.1
    from wheel.bdist_wheel import bdist_wheel


def needed(name):
    value = os.environ.get(name)
    if not value:
        raise SystemExit(f"{name} is not set: the wheel is built by `make wheel` in the build folder")
    return value


class BuildWithLibrary(build_py):
    """Adds lib/ (the library), lib/gbees/ (its modules) and include/ (for models of one's own) to the package."""

    def run(self):
        super().run()
        stage = needed("GBEES_STAGE")
        libraries = stage + needed("GBEES_LIBDIR")
        package = os.path.join(self.build_lib, "gbees")
        shutil.rmtree(os.path.join(package, "lib"), ignore_errors=True)
        shutil.copytree(
            os.path.join(libraries, "gbees"),
            os.path.join(package, "lib", "gbees"),
            ignore=shutil.ignore_patterns("*.la"),
        )
        shutil.copy(os.path.join(libraries, "libgbees.so.0"), os.path.join(package, "lib"))
        headers = stage + os.path.join(needed("GBEES_INCLUDEDIR"), "gbees")
        shutil.copytree(headers, os.path.join(package, "include", "gbees"), dirs_exist_ok=True)
        shutil.copy("gbees/py.typed", package)


class AnyPython(bdist_wheel):
    """py3-none-PLATFORM."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return ("py3", "none", super().get_tag()[2])


class WithLibrary(Distribution):
    """A distribution that is not pure Python."""

    def has_ext_modules(self):
        return True


setup(
    version=os.environ.get("GBEES_VERSION", "0"),
    distclass=WithLibrary,
    cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": AnyPython},
)
