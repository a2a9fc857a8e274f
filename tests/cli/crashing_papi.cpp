// Preloaded, it ends every program that starts the hardware counters of PAPI.

#include <cstdlib>

extern "C" [[gnu::visibility("default")]] int PAPI_library_init(int) { std::abort(); }
