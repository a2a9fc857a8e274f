#pragma once

#include "tesela/distribution/weights.hpp"
#include "tesela/flow/recording.hpp"

#include <optional>

namespace tesela {

/// What is recorded: an operation on n x n square tiles of doubles, for distributions over `nodes` nodes.
struct OperationSize {
    Index tiles = 1;
    Index nodes = 1;
    Index tile = 1;  ///< rows of a tile, for the bytes
    /// For the bytes too: of the tiles of every matrix. None: all are stored whole.
    std::optional<RankMap> ranks{};
};

/// The stream of a product C = A·B, an LU or a Cholesky factorization, once: transfers can then be counted for any
/// distribution of its matrices without the algorithm being run or written again.
class RecordedOperation {
public:
    RecordedOperation(Operation operation, const OperationSize& size);

    /// What every node must receive when all matrices of the operation have this distribution.
    [[nodiscard]] Transfers transfers(const Distribution& distribution) const;
    [[nodiscard]] const Recording& recording() const { return recording_; }

private:
    Recording recording_;
};

}  // namespace tesela
