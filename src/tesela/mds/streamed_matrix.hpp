#pragma once

#include "tesela/base/names.hpp"
#include "tesela/flow/matrix.hpp"
#include "tesela/mds/gram.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace tesela {

/// The steps of paper 000, section 4.2.2 and figure 9, each with those before it: phases that wait for each other; none
/// that does; panels that have their memory before reading begins and are used again; a product that takes the Gram
/// matrix without its corrections, which follow; sums of products in any order; tiles read by the nodes that compute
/// with them, where nodes would otherwise read equal parts of the file one below the other; priorities (11).
enum class StreamingStep : std::uint8_t { sync, async, allocation, split_gram, commute, read_order, priorities };
inline constexpr Names<StreamingStep, 7> streaming_step_names{{{StreamingStep::sync, "sync"},
                                                               {StreamingStep::async, "async"},
                                                               {StreamingStep::allocation, "allocation"},
                                                               {StreamingStep::split_gram, "split_gram"},
                                                               {StreamingStep::commute, "commute"},
                                                               {StreamingStep::read_order, "read_order"},
                                                               {StreamingStep::priorities, "priorities"}}};

/// Who reads a tile under a step, if these compute with it: the same from read_order on, before that nodes with equal
/// parts of the file, one below the other.
[[nodiscard]] Distribution read_owners(StreamingStep step, const Distribution& compute);

/// How a matrix is read: by rows of tiles, each in panels of some columns of tiles, by so many readers of a node at a
/// time.
struct StreamedReading {
    /// A PanelKernel of `type`, or without panels a ReadKernel; and its source, which outlives the work.
    const Kernel* kernel = &read_without_file;
    const void* source = nullptr;
    ElementType type = ElementType::f64;
    Index panel_tiles = 0;          ///< columns of tiles in a panel; 0: the kernel reads tiles, and there are no panels
    Index slots = 4;                ///< panels of a node that are there at a time, of each column of panels
    const double* shift = nullptr;  ///< of ElementRule::shifted, by column; outlives the work
    int readers_per_node = 5;       ///< paper 000, section 2.2
};

/// A matrix F that is read, and the A = diag(l)·(H + U·Vᵀ)·diag(r) that is made of it (see mds/gram.hpp).
struct StreamedSpec {
    Tiling tiling;
    /// lower: F is symmetric, its rows cut as its columns, and only that half is read and kept.
    Stored stored = Stored::full;
    Distribution read;     ///< who reads a tile: with panels, the first of each panel decides
    Distribution compute;  ///< who keeps it and computes with it
    BorderRule rule = BorderRule::distances;
    Index columns = 1;  ///< of what it is multiplied with
    /// How wide their tiles are: as those of F, where QR follows, which needs square ones; 0: the fewest of about equal
    /// width that are no wider than F's are high.
    Index column_tile = 0;
    /// Rows of tiles that are kept, the last ones; the others are read again for every product, by who computes.
    Index resident_rows = -1;  ///< -1: all
    Index passing_rows = 2;    ///< of those that are not kept, how many are there at a time on a node
    /// Weights of rows and columns; empty: 1 over their number, for `masses` 1. With them A is scaled (Weighted).
    std::vector<double> weights{};
    double degrees_of_freedom = 1;  ///< of a variance (`means_deviations`), over the sum of weights
    StreamedReading reading{};
    StreamingStep step = StreamingStep::priorities;
    /// Where all of A is in the caller's memory, column by column (of which the stored half counts), on every node: it
    /// is used as it is, the rule is `none`, and nothing is read.
    const double* values = nullptr;
    /// Whether the corrections are also made to H, as paper 000 does (10), or only to products.
    enum class Centring : std::uint8_t { products, tiles_too } centring = Centring::products;

    [[nodiscard]] Index tile_rows() const { return tiling.grid().rows; }
    /// Tiles of a row that are read and kept.
    [[nodiscard]] Index tiles_of_row(Index i) const { return stored == Stored::lower ? i + 1 : tiling.grid().cols; }
    /// Of the last rows of tiles, the first that is kept.
    [[nodiscard]] Index first_resident() const { return tile_rows() - resident_rows; }
    /// What becomes of an element of F.
    [[nodiscard]] ElementRule element_rule() const {
        return rule == BorderRule::distances ? ElementRule::half_squares : ElementRule::shifted;
    }
    /// (11), from the step of that name on: rows first to last, of reading, of sums, and of X in a product.
    [[nodiscard]] std::int32_t priority(Index row) const {
        return step >= StreamingStep::priorities ? static_cast<std::int32_t>(tile_rows() - row) : 0;
    }
};

/// The limited resource that reading takes: what `limits` of a platform file calls it.
inline constexpr const char* reader_resource = "reader";

class Borders;
class ResidentTiles;
class TileReading;

/// Products with a matrix that is read while the first of them is computed, and of which as much is kept as there is
/// memory for. Its members submit tasks and return; phases are "read", "gram", "product" and "centre".
class StreamedMatrix {
public:
    /// Throws Error unless there are columns, owners are for the grid, and a symmetric matrix is cut alike.
    StreamedMatrix(Stream& stream, StreamedSpec spec);
    ~StreamedMatrix();
    StreamedMatrix(const StreamedMatrix&) = delete;
    StreamedMatrix& operator=(const StreamedMatrix&) = delete;
    StreamedMatrix(StreamedMatrix&&) = delete;
    StreamedMatrix& operator=(StreamedMatrix&&) = delete;

    /// What it is multiplied with from the right, cut as the columns of F, and from the left, cut as its rows: into
    /// columns of tiles as StreamedSpec::column_tile says. Tile (i, c) lives where F's tile of
    /// these indices is computed with, so that under 1D a row of F and of a product are on one node.
    [[nodiscard]] Matrix<double> make_right(const char* name) const { return make_right(name, columns()); }
    [[nodiscard]] Matrix<double> make_left(const char* name) const { return make_left(name, columns()); }
    /// The same with other columns than StreamedSpec says, and how so many are cut.
    [[nodiscard]] Matrix<double> make_right(const char* name, Index columns) const;
    [[nodiscard]] Matrix<double> make_left(const char* name, Index columns) const;
    [[nodiscard]] std::vector<Index> column_cuts(Index columns) const;
    [[nodiscard]] Index columns() const { return spec_.columns; }
    /// Whether no row is read again.
    [[nodiscard]] bool is_resident() const { return spec_.first_resident() == 0; }

    /// Of a matrix that is read (StreamedSpec::values is not set): reads F, adds up what U, V, l and r follow from, and
    /// Y := A·diag(r)⁻¹·X: X is taken as what A has already scaled, which random numbers are as well. `between` is
    /// called between the phases of StreamingStep::sync.
    void first_product(const MatrixView<double>& X, const MatrixView<double>& Y,
                       const std::function<void()>& between = {});

    /// What one pass over the matrix computes.
    struct Pass {
        const MatrixView<double>* X = nullptr;           ///< none: Y is given
        MatrixView<double> Y;                            ///< := A·X
        const MatrixView<double>* transposed = nullptr;  ///< := Aᵀ·Y, in the same pass; not of a matrix that is halved
        const Scalar<double>* squares = nullptr;         ///< := the sum of the squares of all elements of A
    };
    /// After first_product(), or of a matrix in memory.
    void pass(const Pass& pass);

    /// Sums that U, V, l and r follow from: means of H by rows and by columns, or sums (`masses`).
    [[nodiscard]] const Matrix<double>& row_sums() const;
    [[nodiscard]] const Matrix<double>& col_sums() const;
    [[nodiscard]] const Scalar<double>& total() const;
    /// H, or after StreamedSpec::Centring::tiles_too A, where all of it is kept.
    [[nodiscard]] const Matrix<double>& tiles() const;

private:
    using View = MatrixView<double>;

    void phase_by_phase(const View& X, const View& Y, const std::function<void()>& between);
    void row_by_row(const View& X, const View& Y);
    [[nodiscard]] AccessTo<double> sum(const TileOf<double>& tile) const;
    void clear(const View& Y);
    void share_rows(const View& X, const View& Y);
    void retire(const View& X);
    void multiply_row(Index i, const View& X, const View& Y);
    void multiply_row_transposed(Index i, const View& Y, const View& Z);

    Stream& s_;
    const StreamedSpec spec_;
    std::unique_ptr<Borders> borders_;
    std::unique_ptr<ResidentTiles> tiles_;
    std::unique_ptr<TileReading> reading_;
};

}  // namespace tesela
