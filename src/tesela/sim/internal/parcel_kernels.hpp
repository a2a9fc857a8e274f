#pragma once

#include "tesela/kernels/kernel.hpp"

namespace tesela::sim {

/// The tasks of a parcel of an exchange. They have names and durations; nothing runs them.
struct ParcelKernels {
    static const Kernel pack;
    static const Kernel unpack;
    static const Kernel copy;
};

/// Whether a kernel does nothing but copy, for an exchange or a redistribution that is made of tasks: platforms need
/// not list it, since the bandwidth of memory says how long it takes. Segments of compressed tiles count as copied:
/// what it takes to compress them anew is not in that.
[[nodiscard]] bool only_copies(const Kernel& kernel);

}  // namespace tesela::sim
