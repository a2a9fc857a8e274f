#pragma once

#include "tesela/distribution/scalapack_layout.hpp"
#include "tesela/flow/matrix.hpp"

namespace tesela {

/// A matrix over the local arrays of a ScaLAPACK matrix, without a copy: what is written into it stands in the arrays
/// when the matrix is gone. Every node passes its own array and keeps it until then. BLACS process (p, q) must be the
/// node that the layout says. Throws Error if the descriptor does not make sense.
template <class T>
[[nodiscard]] Matrix<T> over_scalapack(Stream& stream, const ScalapackLayout& layout, T* local,
                                       const std::string& name = "A") {
    check_layout(layout, stream.engine().this_node());
    return {stream, layout.tiling(), layout.distribution(),
            MatrixOptions{.name = name, .memory = [layout, local](TileIndex block) -> TileMemory {
                              return {local + layout.local_position(block), layout.ld()};
                          }}};
}

}  // namespace tesela
