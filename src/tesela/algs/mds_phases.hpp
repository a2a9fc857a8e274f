#pragma once

#include "tesela/flow/matrix.hpp"
#include "tesela/kernels/gram.hpp"

#include <cstdint>

namespace tesela {

/// Who reads the tiles of the distance matrix, and who computes with them.
struct MdsOwners {
    Distribution read;
    Distribution compute;
};

/// What the first phases of multidimensional scaling by a randomized decomposition work on: the n x n distances D,
/// which become the Gram matrix G, the random Ω and the product Y = G·Ω, both of `columns` columns, and the sums
/// between them. All of D is stored, as paper 000 studies it. Y and Ω are cut as the rows of D, and into the fewest
/// columns of tiles of about equal width that are no wider than D's; tile (i, c) of both lives where D's tile of these
/// indices is computed with, as where a distribution is a function of them, so that under 1D a row of D and of Y is on
/// one node.
struct MdsMatrices {
    /// Throws Error unless the tiling is that of a square matrix, rows cut as columns, there are columns, and the
    /// owners are for its grid.
    MdsMatrices(Stream& stream, const Tiling& tiling, Index columns, const MdsOwners& owners);

    Distribution compute;  ///< where tiles of D go when they have been read
    Matrix<double> D;
    Matrix<double> omega;
    Matrix<double> Y;
    Matrix<double> ones;      ///< n x 1
    Matrix<double> sums;      ///< n x 1: of the squares in each row of D
    Scalar<double> total;     ///< of all squares
    Matrix<double> weights;   ///< columns x 1: the column sums of Ω, A of (7)
    Matrix<double> products;  ///< columns x 1: Ωᵀ·sums, n·B of (8)
};

/// How tiles are read, and by how many readers of a node at a time; `source` outlives the work.
struct MdsReading {
    const ReadKernel* kernel = &read_without_file;
    const void* source = nullptr;
    int readers_per_node = 5;  ///< paper 000, section 2.2
};

/// The limited resource that reading takes: what `limits` of a platform file calls it.
inline constexpr const char* reader_resource = "reader";

/// Submits Ω of standard normal numbers, D as it is read, Y := G·Ω and D := G; all that uses D is in the phases "read",
/// "gram", "product" and "centre" of the stream. The product begins while D is being read: it takes c·D², the Gram
/// matrix without its corrections, which follow when all of D has been read (paper 000, section 4.2.2). Products are
/// added to a row of Y in any order, on the node that owns it; priorities are (11).
void mds_phases(Stream& s, const MdsMatrices& matrices, const MdsReading& reading = {}, std::uint64_t seed = 0);

}  // namespace tesela
