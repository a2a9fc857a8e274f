// Linked into executables: replaces MPI_Test so that StarPU-MPI's progress thread, which polls while receives are
// pending, sleeps a moment when nothing happened instead of keeping a core busy. Users of the library opt in by linking
// tesela::mpi_idle.

#include <mpi.h>

#include <ctime>

extern "C" int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
    const int result = PMPI_Test(request, flag, status);
    if (result == MPI_SUCCESS && *flag == 0) {
        const timespec moment{.tv_sec = 0, .tv_nsec = 20'000};
        nanosleep(&moment, nullptr);
    }
    return result;
}
