# A recipe for Spack: `spack repo add spack`, then `spack dev-build tesela@develop`, in the folder of the sources.
from spack.package import *


class Tesela(CMakePackage):
    """Tiled linear algebra on machines that are not all alike: Gaussian processes, distributions, simulation."""

    license("BSD-3-Clause")
    # That of the folder in which `spack dev-build` is called; a release will have its version and checksum here.
    version("develop")

    variant("bench", default=False, description="tesela-bench, which compares with LAPACK, ScaLAPACK and GSL")
    variant("hdf5", default=True, description="Matrices and traces in HDF5 files")
    variant("simgrid", default=False, description="The network of simulations in SimGrid")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("starpu@1.3.10:1.4")
    depends_on("mpi")
    depends_on("openblas threads=pthreads")
    depends_on("fmt@9:")
    depends_on("nlohmann-json@3.11:")
    depends_on("random123")
    depends_on("nlopt")
    depends_on("clp")
    depends_on("cli11@2.1:")
    depends_on("boost@1.74:", when="+bench")
    depends_on("gsl", when="+bench")
    depends_on("netlib-scalapack", when="+bench")
    depends_on("hdf5@1.10.5:", when="+hdf5")
    depends_on("zlib-api", when="+hdf5")
    depends_on("simgrid", when="+simgrid")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define("TESELA_TESTS", False),
            self.define_from_variant("TESELA_BENCH", "bench"),
            self.define("TESELA_BLAS", "openblas"),
            self.define("TESELA_STARPU_ROOT", self.spec["starpu"].prefix),
        ]
