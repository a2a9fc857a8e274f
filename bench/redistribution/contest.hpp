#pragma once

#include "redistribution/definition.hpp"
#include "redistribution/redistribute_bench.hpp"
#include "redistribution/scalapack.hpp"

#include "tesela/distribution/redistribution.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tesela::bench {

/// One redistribution with its matrices, the same in Tesela's tiles and, where ScaLAPACK can do it, in its arrays: to
/// be measured again and again, in turn with others. Every node calls every function.
class Contest {
public:
    /// Throws Error before any matrix is made if the submatrix is not inside both.
    Contest(StarpuEngine& engine, RedistributeBenchOptions options);

    [[nodiscard]] const RedistributeBenchOptions& options() const { return options_; }
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
    RedistributeBenchOptions options_;
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
