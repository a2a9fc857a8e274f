#pragma once

#include "shared/definition.hpp"
#include "shared/scalapack.hpp"

#include "tesela/algs/redistribute.hpp"
#include "tesela/distribution/redistribution.hpp"
#include "tesela/starpu/engine.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tesela::bench {

/// One redistribution to measure. Sizes that are not given follow from n.
struct ContestOptions {
    Index n = 8000;
    /// Size of the source and of the target; less than 0: n.
    ElementIndex from_size{-1, -1};
    ElementIndex to_size{-1, -1};
    /// Empty: all nodes in one row, and a grid that is nearly square but not the same.
    std::string from{};
    std::string to{};
    ElementIndex tile_from{960, 960};
    ElementIndex tile_to{400, 400};
    RedistributeOptions redistribute{};
    /// What redistributes, all of the source; empty: `redistribute`.
    std::function<void(Stream&, const MatrixView<double>& from, const MatrixView<double>& to)> by{};
    Part part = Part::all;
    Op op = Op::none;
    /// Gives the tiles of one matrix to other owners instead, by moves.
    bool in_place = false;
    /// With ScaLAPACK, where it can do the same.
    bool compare = true;
};

/// Block-cyclic families that differ as much as they can: all nodes in one row, and a grid as square as can be that is
/// not that row.
[[nodiscard]] std::string flat_grid(Index nodes);
[[nodiscard]] std::string square_grid(Index nodes);

/// One redistribution with its matrices, the same in Tesela's tiles and, where ScaLAPACK can do it, in its arrays: to
/// be measured again and again, in turn with others. Every node calls every function.
class Contest {
public:
    /// Throws Error before any matrix is made if the submatrix is not inside both.
    Contest(StarpuEngine& engine, ContestOptions options);

    [[nodiscard]] const ContestOptions& options() const { return options_; }
    [[nodiscard]] RedistributionVolume volume() const;

    /// Seconds of one redistribution, on the slowest node.
    [[nodiscard]] double tesela_seconds();
    [[nodiscard]] bool has_rival() const { return scalapack_to_ != nullptr; }
    [[nodiscard]] double scalapack_seconds();
    /// Elements of the target that are not what the definition of the redistribution says, on all nodes.
    [[nodiscard]] Index wrong();

private:
    [[nodiscard]] MatrixView<double> source() const;
    [[nodiscard]] Overlay overlay() const;
    [[nodiscard]] ElementIndex or_n(ElementIndex size) const;
    [[nodiscard]] Distribution owners(const std::string& family, ElementIndex tile, ElementIndex size) const;
    void prepare_scalapack();
    void give(const Distribution& to);
    [[nodiscard]] RedistributionDefinition definition() const;
    [[nodiscard]] Index wrong_in(const RedistributionDefinition& defined, TileIndex tile,
                                 const std::vector<std::byte>& bytes) const;

    StarpuEngine& engine_;
    ContestOptions options_;
    Stream stream_;
    Matrix<double> from_;
    Matrix<double> to_;
    std::unique_ptr<BlacsGrid> all_, from_grid_, to_grid_;
    std::unique_ptr<ScalapackMatrix> scalapack_from_, scalapack_to_;
    ScalapackMove move_{};
};

/// Best times of a contest.
struct ContestTimes {
    double tesela = 0;
    std::optional<double> scalapack{};
};
/// Measures all contests in turn, as often as asked, after one round that does not count: pages are touched then and
/// buffers exist.
[[nodiscard]] std::vector<ContestTimes> race(const std::vector<std::unique_ptr<Contest>>& contests, int repetitions);

}  // namespace tesela::bench
