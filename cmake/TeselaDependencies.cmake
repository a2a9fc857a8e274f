# Everything the core needs; what only one part needs is looked for in that part's folder.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
# OpenBLAS carries LAPACK; the pthread flavour is wanted, since the OpenMP one adds threads inside our workers.
pkg_check_modules(openblas REQUIRED IMPORTED_TARGET GLOBAL openblas)
pkg_check_modules(starpu REQUIRED IMPORTED_TARGET GLOBAL starpu-1.3)
pkg_check_modules(starpumpi REQUIRED IMPORTED_TARGET GLOBAL starpumpi-1.3)
pkg_check_modules(mpi REQUIRED IMPORTED_TARGET GLOBAL ompi-c)
# Open MPI's header would pull in its removed C++ bindings.
target_compile_definitions(PkgConfig::mpi INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
