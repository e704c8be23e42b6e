"""A recipe for spack: copy it to packages/gbees/package.py of a repository of recipes (spack repo create)."""
from spack.package import *


class Gbees(AutotoolsPackage):
    """Carries a full probability density through nonlinear dynamics on a sparse grid, on processors and NVIDIA GPUs."""

    version("0.1.0")
    license("BSD-3-Clause")

    variant("cuda", default=False, description="a backend for NVIDIA GPUs; needs the toolkit's headers alone")

    depends_on("c", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("hdf5+hl")
    depends_on("libyaml")
    depends_on("jansson@2.10:")
    depends_on("cairo")
    depends_on("netlib-lapack+lapacke")
    depends_on("libdeflate")
    depends_on("libpng")
    depends_on("giflib")
    depends_on("random123")
    depends_on("libtool", type=("build", "link"))
    depends_on("check@0.15:", type="test")
    depends_on("cuda@12:", when="+cuda")

    def configure_args(self):
        return ["--with-cuda=" + (self.spec["cuda"].prefix if self.spec.satisfies("+cuda") else "no")]
