#include "tesela/sim/internal/parcel_kernels.hpp"

#include "tesela/flow/exchange.hpp"
#include "tesela/kernels/compressed_segment.hpp"
#include "tesela/kernels/segment.hpp"

#include <algorithm>
#include <array>

namespace tesela::sim {

const Kernel ParcelKernels::pack{.name = ParcelTaskNames::pack};
const Kernel ParcelKernels::unpack{.name = ParcelTaskNames::unpack};
const Kernel ParcelKernels::copy{.name = ParcelTaskNames::copy};

bool only_copies(const Kernel& kernel) {
    static const std::array<const Kernel*, 10> all{&ParcelKernels::pack,
                                                   &ParcelKernels::unpack,
                                                   &ParcelKernels::copy,
                                                   &SegmentKernels::copy,
                                                   &SegmentKernels::open,
                                                   &SegmentKernels::close,
                                                   &CompressedSegments<float>::cut,
                                                   &CompressedSegments<float>::place,
                                                   &CompressedSegments<double>::cut,
                                                   &CompressedSegments<double>::place};
    return std::ranges::find(all, &kernel) != all.end();
}

}  // namespace tesela::sim
