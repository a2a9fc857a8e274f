#pragma once

#include "tesela/base/index.hpp"
#include "tesela/distribution/scalapack_layout.hpp"

#include <vector>

namespace tesela::bench {

/// Whether this program was built with ScaLAPACK; without it all that follows throws Error, but for squarest_grid.
[[nodiscard]] bool has_scalapack();

/// p rows of q processes with p·q = nodes, p ≤ q and as near as can be.
[[nodiscard]] GridSize squarest_grid(Index nodes);

/// A BLACS grid over the nodes of this run, numbered by rows. MPI must have started.
class BlacsGrid {
public:
    explicit BlacsGrid(GridSize size);
    ~BlacsGrid();
    BlacsGrid(const BlacsGrid&) = delete;
    BlacsGrid& operator=(const BlacsGrid&) = delete;
    BlacsGrid(BlacsGrid&&) = delete;
    BlacsGrid& operator=(BlacsGrid&&) = delete;

    [[nodiscard]] int context() const { return context_; }
    [[nodiscard]] GridSize size() const { return size_; }
    [[nodiscard]] bool has_this_node() const { return context_ >= 0; }

private:
    int context_ = -1;
    GridSize size_;
};

/// A matrix of doubles that ScaLAPACK holds.
struct ScalapackMatrix {
    ScalapackMatrix(const BlacsGrid& grid, NodeId me, ElementIndex size, ElementIndex block);
    ScalapackLayout layout;
    std::vector<double> local;

    /// Sets element (i, j), for all that this node has.
    template <class Element>
    void generate(NodeId me, Element element) {
        const TileIndex at = layout.process(me);
        const ElementIndex mine = layout.local_size(me);
        for (Index j = 0; j < mine.j; ++j)
            for (Index i = 0; i < mine.i; ++i)
                local[static_cast<std::size_t>(i + j * layout.ld())] =
                    element({global(i, layout.block().i, at.i, layout.grid.rows),
                             global(j, layout.block().j, at.j, layout.grid.cols)});
    }

private:
    static Index global(Index local_index, Index block, Index p, Index count) {
        return (local_index / block * count + p) * block + local_index % block;
    }
};

/// A submatrix of two ScaLAPACK matrices.
struct ScalapackMove {
    ElementIndex size;
    ElementIndex from_offset;
    ElementIndex to_offset;
};
void pdgemr2d(const ScalapackMatrix& from, ScalapackMatrix& to, const ScalapackMove& move, const BlacsGrid& all);
/// Lower Cholesky factor in place; throws Error if it fails.
void pdpotrf(ScalapackMatrix& a);
/// C := A·B.
void pdgemm(const ScalapackMatrix& a, const ScalapackMatrix& b, ScalapackMatrix& c);

}  // namespace tesela::bench
