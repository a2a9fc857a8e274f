#pragma once

#include "paper004/switched_cholesky.hpp"

#include "tesela/distribution/weights.hpp"
#include "tesela/flow/matrix.hpp"

namespace tesela::bench {

/// A factorisation, who owns its tiles, and how they are compressed.
struct CompressedOperation {
    Operation operation = Operation::cholesky;
    Tiling tiling;
    Distribution owners;
    Compression compression{};
    SwitchedFactor factor{};  ///< of Cholesky
};

/// Bytes of the messages of a factorisation whose factor has these ranks: what must be sent to the byte.
[[nodiscard]] double counted_bytes(const CompressedOperation& of, const RankMap& ranks);

}  // namespace tesela::bench
