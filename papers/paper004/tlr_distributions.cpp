#include "experiments.hpp"
#include "harness/choice.hpp"
#include "harness/engine_options.hpp"
#include "harness/part_table.hpp"
#include "harness/timing.hpp"
#include "paper004/counted_bytes.hpp"
#include "shared/covariance_problem.hpp"
#include "shared/sent_by_all.hpp"

#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/generated_product.hpp"
#include "tesela/algs/lu.hpp"
#include "tesela/algs/operation.hpp"
#include "tesela/algs/ranks.hpp"
#include "tesela/algs/recorded_operation.hpp"
#include "tesela/algs/solve.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/random.hpp"
#include "tesela/distribution/catalogue.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/distribution/metrics.hpp"
#include "tesela/sim/allocation_metrics.hpp"
#include "tesela/sim/kernel_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace tesela::bench {
namespace {

struct TlrDistributionsOptions {
    /// What is factored by Cholesky; its n is that of the other matrix too.
    CovarianceProblem problem{.n = 4000};
    Index tile = 200;
    std::vector<std::string> kernels{"cholesky", "lu"};
    std::vector<std::string> families;  ///< none: those that the catalogue has for the nodes
    /// Frobenius norm of LU's tiles off the diagonal. What is subtracted from them is its square: with more than a
    /// thousandth ranks change, where paper 001 takes it that they do not.
    double tile_norm = 1e-4;
    int rounds = 3;
    std::string table;  ///< empty: none
    EngineOptions engine;
};

void add_tlr_distributions_options(CLI::App& command, TlrDistributionsOptions& options) {
    add_problem_options(command, options.problem);
    command.add_option("--tile", options.tile, "Tile size, of which --n is a multiple")->capture_default_str();
    comma_separated(command.add_option("--kernel", options.kernels, "Factorisations: cholesky, lu"))
        ->check(CLI::IsMember({"cholesky", "lu"}));
    comma_separated(command.add_option("--families", options.families,
                                       "Families of distributions (default: those that fit the nodes)"));
    command
        .add_option("--tile-norm", options.tile_norm,
                    "Of paper 001's generator, for LU: Frobenius norm of a tile off the diagonal, where 1 is on it")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command.add_option("--rounds", options.rounds, "Best of so many, the families in turn")->capture_default_str();
    command.add_option("--table", options.table, "CSV file for the results; rows of other numbers of nodes stay");
    add_engine_options(command, options.engine);
}

/// A compressed matrix that can be made again under any distribution, and factored.
class FactoredMatrix {
public:
    FactoredMatrix() = default;
    virtual ~FactoredMatrix() = default;
    FactoredMatrix(const FactoredMatrix&) = delete;
    FactoredMatrix& operator=(const FactoredMatrix&) = delete;
    FactoredMatrix(FactoredMatrix&&) = delete;
    FactoredMatrix& operator=(FactoredMatrix&&) = delete;

    [[nodiscard]] virtual Operation operation() const = 0;
    [[nodiscard]] virtual Compression compression() const = 0;
    virtual void generate(Stream& s, const Matrix<double>& A) const = 0;
    virtual void factor(Stream& s, const Matrix<double>& A) const = 0;
    /// What the product of the factors differs from the matrix, in the spectral norm by estimate from below.
    [[nodiscard]] virtual double residual(Stream& s, const Matrix<double>& A) const = 0;
};

/// The covariances of a jittered grid.
class Covariances final : public FactoredMatrix {
public:
    explicit Covariances(const CovarianceProblem& problem) : problem_(problem), covariances_(problem) {}
    [[nodiscard]] Operation operation() const override { return Operation::cholesky; }
    [[nodiscard]] Compression compression() const override { return problem_.compression(); }
    void generate(Stream& s, const Matrix<double>& A) const override { covariances_.generate(s, A); }
    void factor(Stream& s, const Matrix<double>& A) const override { cholesky(s, A); }
    [[nodiscard]] double residual(Stream& s, const Matrix<double>& A) const override {
        return geo::factor_residual(s, covariances_.factored(A), 3);
    }

private:
    CovarianceProblem problem_;
    CovarianceMatrix covariances_;
};

/// Paper 001's matrices (section 5.1): tile (i, j) is U·Vᵀ of random numbers with rank d(i, j)·tile/4, and stored whole
/// where the density is 1; a quarter, since tiles of half the full rank take less room whole. 1 is added on the
/// diagonal. With tiles of norm 1e-4 off it what is subtracted from them, 1e-8, is below the accuracy of 1e-6: the
/// matrix is diagonally dominant and its ranks do not change, which is what the paper assumes.
class BlockLowRank final : public FactoredMatrix {
public:
    BlockLowRank(Index n, Index tile, double tile_norm)
        : tile_(tile),
          norm_(tile_norm),
          density_(synthetic_density(ceil_div(n, tile), {})),
          most_(std::max<Index>(1, tile / 4)),
          left_(random_rows(n, 0)),
          right_(random_rows(n, 1)) {}

    [[nodiscard]] Operation operation() const override { return Operation::lu; }
    [[nodiscard]] Compression compression() const override { return {.accuracy = 1e-6, .dense_band = 1}; }
    void generate(Stream& s, const Matrix<double>& A) const override {
        tesela::generate(s, A.view(), [this](Index i, Index j) { return element(i, j); });
    }
    void factor(Stream& s, const Matrix<double>& A) const override { lu(s, A); }
    /// ‖(A − L·U)·w‖ / ‖w‖ for four w, the largest: w = (L·U)⁻¹·b, so that (A − L·U)·w = A·w − b.
    [[nodiscard]] double residual(Stream& s, const Matrix<double>& A) const override {
        constexpr Index columns = 4;
        const auto some = [&](const char* name) {
            return Matrix<double>(s, A.tiling().with_columns(columns, columns), along_diagonal(A.distribution(), 1),
                                  {.name = name});
        };
        const Matrix<double> w = some("w");
        const Matrix<double> b = some("b");
        const auto normal = [](Index i, Index j) {
            return Random(11).normal({static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(j)});
        };
        tesela::generate(s, w.view(), normal);
        solve_lu(s, A.view(), w.view());
        generated_product(s, [this](Index i, Index j) { return element(i, j); })(w.view(), b.view());
        const std::vector<double> solved = gather(s, w.view());
        const std::vector<double> found = gather(s, b.view());
        require_done(s.wait());
        double largest = 0;
        const Index rows = A.tiling().row_cuts().back();
        for (Index c = 0; c < columns; ++c) {
            double error = 0;
            double length = 0;
            for (Index i = 0; i < rows; ++i) {
                const auto at = static_cast<std::size_t>(i + c * rows);
                error += std::pow(found[at] - normal(i, c), 2);
                length += std::pow(solved[at], 2);
            }
            largest = std::max(largest, std::sqrt(error / length));
        }
        return largest;
    }

private:
    /// n x most_ numbers in [-1, 1], row by row.
    [[nodiscard]] std::vector<double> random_rows(Index n, std::uint64_t seed) const {
        const Random random(seed);
        std::vector<double> values;
        values.reserve(static_cast<std::size_t>(n * most_));
        for (Index i = 0; i < n; ++i)
            for (Index k = 0; k < most_; ++k)
                values.push_back(2 * random.uniform({static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(k)}) -
                                 1);
        return values;
    }

    /// Σ_k u(i, k)·v(j, k) has the variance rank/9: divided by its root and the tile's size the tile has norm 1. A tile
    /// of density 1 has noise of its own in place of a product.
    [[nodiscard]] double element(Index i, Index j) const {
        const double density = density_[{i / tile_, j / tile_}];
        const double diagonal = i == j ? 1 : 0;
        const auto size = static_cast<double>(tile_);
        if (density >= 1) {
            const double noise = Random(3).uniform({static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(j)});
            return diagonal + norm_ * (2 * noise - 1) * std::sqrt(3.0) / size;
        }
        const auto rank = static_cast<Index>(std::ceil(density * static_cast<double>(most_)));
        if (rank == 0) return diagonal;
        const double* u = left_.data() + i * most_;
        const double* v = right_.data() + j * most_;
        return diagonal +
               norm_ * std::inner_product(u, u + rank, v, 0.0) * 3 / std::sqrt(static_cast<double>(rank)) / size;
    }

    Index tile_;
    double norm_;
    TileMap density_;
    Index most_;
    std::vector<double> left_;
    std::vector<double> right_;
};

std::unique_ptr<FactoredMatrix> matrix_for(Operation operation, const TlrDistributionsOptions& options) {
    switch (operation) {
        case Operation::cholesky: return std::make_unique<Covariances>(options.problem);
        case Operation::lu: return std::make_unique<BlockLowRank>(options.problem.n, options.tile, options.tile_norm);
        case Operation::product: break;
    }
    throw Error("tlr-distributions factors matrices: --kernel takes cholesky and lu");
}

/// What a factorisation took, all nodes together.
struct MeasuredFactorisation {
    double seconds = 0;
    double messages = 0;
    double bytes = 0;
    RankMap ranks;
    double residual = 0;  ///< over what is allowed, 10·accuracy·√(tile rows)
};

MeasuredFactorisation run_factorisation(StarpuEngine& engine, const FactoredMatrix& matrix, const Tiling& tiling,
                                        const Distribution& owners) {
    Stream s(engine);
    const Matrix<double> A(s, tiling, owners,
                           {.stored = stored_tiles(matrix.operation()), .compression = matrix.compression()});
    matrix.generate(s, A);
    require_done(s.wait());
    const SentInAll before = sent_by_all(engine);
    MeasuredFactorisation measured;
    measured.seconds = engine.max(seconds_of([&] {
        matrix.factor(s, A);
        require_done(s.wait());
    }));
    const SentInAll after = sent_by_all(engine);
    measured.messages = after.messages - before.messages;
    measured.bytes = after.bytes - before.bytes;
    measured.ranks = tile_ranks(s, A);
    measured.residual = matrix.residual(s, A) /
                        (10 * matrix.compression().accuracy * std::sqrt(static_cast<double>(tiling.grid().rows)));
    return measured;
}

/// What is known of a factorisation with these ranks before it runs.
class ExpectedFactorisation {
public:
    ExpectedFactorisation(Operation operation, const Tiling& tiling, const RankMap& ranks, Index nodes)
        : workload_{.operation = operation, .density = density_of_ranks(ranks, tiling)},
          ranks_(ranks_from_maps({{operation_matrix, ranks}})),
          recorded_(operation, {.tiles = tiling.grid().rows, .nodes = nodes, .tile = tiling.rows(0), .ranks = ranks}),
          metrics_(recorded_.recording(), workload_),
          flops_(tile_flops()) {}

    /// Paper 001's: tiles weigh in proportion to their ranks.
    [[nodiscard]] const Workload& by_rank() const { return workload_; }
    /// Tiles weigh what is done to them with these ranks: the density is what gives them that weight.
    [[nodiscard]] Workload by_flops() const {
        const GridSize grid = flops_.grid();
        const TileMap whole = tile_weights({.operation = workload_.operation, .density = full_density(grid)});
        Workload result{.operation = workload_.operation, .density = TileMap(grid)};
        double most = 0;
        for (Index i = 0; i < grid.rows; ++i)
            for (Index j = 0; j < grid.cols; ++j) {
                if (whole[{i, j}] > 0) result.density[{i, j}] = flops_[{i, j}] / whole[{i, j}];
                most = std::max(most, result.density[{i, j}]);
            }
        for (Index i = 0; i < grid.rows; ++i)
            for (Index j = 0; j < grid.cols; ++j) result.density[{i, j}] /= most;
        return result;
    }

    [[nodiscard]] Row metrics(const Distribution& owners) const {
        const Stored stored = stored_tiles(workload_.operation);
        const double ideal = metrics_.ideal(owners.nodes());
        const Transfers transfers = recorded_.transfers(owners);
        return {{"load", metrics_.load(owners) / ideal},
                {"dependencies", metrics_.dependency_makespan(owners, Preemption::allowed) / ideal},
                {"nodes_per_row", std::ranges::max(nodes_per_row(owners, stored))},
                {"nodes_per_column", std::ranges::max(nodes_per_column(owners, stored))},
                {"transfers", transfers.messages},
                {"transfer_bytes", transfers.bytes},
                {"flops_load", summarise_loads(node_loads(owners, flops_)).max_over_ideal}};
    }

private:
    /// What is done to each tile: operations on dense tiles times what ranks leave of them.
    [[nodiscard]] TileMap tile_flops() const {
        const Recording& recording = recorded_.recording();
        TileMap flops(workload_.density.grid());
        for (const RecordedItem& item : recording.items) {
            if (item.kind != RecordedItem::Kind::task) continue;
            const auto accesses = recording.accesses_of(item);
            const auto written =
                std::ranges::find_if(accesses, [](const RecordedAccess& access) { return writes(access.mode); });
            if (written == accesses.end()) continue;
            flops[recording.data[static_cast<std::size_t>(written->datum)].index] +=
                item.cost.flops * work_ratio(recording, item, ranks_);
        }
        return flops;
    }

    Workload workload_;
    RankModel ranks_;
    RecordedOperation recorded_;
    AllocationMetrics metrics_;
    TileMap flops_;
};

/// A family's distribution, what its tiles weighed, and the best run under it.
struct FamilyCandidate {
    std::string family;
    std::string weights;
    Distribution owners;
    Best best;
    MeasuredFactorisation last;
};

/// Families that look at the weights of tiles.
bool is_by_weight(std::string_view family) {
    return family.starts_with("bce") || family.starts_with("rs") || family.starts_with("hybrid") ||
           family.starts_with("best");
}

/// For bce, rs and hybrid.
constexpr double family_alpha = 2;

/// Each family for the ranks, and those by weight for what is done to the tiles as well. Of the catalogue's families
/// those that cannot be made for these nodes are left out, with a note; of those that were asked for none is.
std::vector<FamilyCandidate> family_candidates(const TlrDistributionsOptions& options,
                                               const ExpectedFactorisation& expected, Index nodes,
                                               std::vector<std::string>& notes) {
    const DistributionRequest by_rank{.workload = expected.by_rank(), .nodes = nodes, .alpha = family_alpha};
    const DistributionRequest by_flops{.workload = expected.by_flops(), .nodes = nodes, .alpha = family_alpha};
    std::vector<FamilyCandidate> result;
    const auto add = [&](const std::string& family, const char* weights, const DistributionRequest& request) {
        try {
            result.push_back({family, weights, make_family(family, request), {}, {}});
        } catch (const Error& error) {
            if (!options.families.empty()) throw;
            notes.push_back(fmt::format("no {}: {}", family, error.what()));
        }
    };
    for (const std::string& family : options.families.empty() ? families_for(by_rank) : options.families) {
        add(family, is_by_weight(family) ? "rank" : "", by_rank);
        if (is_by_weight(family)) add(family, "flops", by_flops);
    }
    return result;
}

std::vector<Row> distribution_rows(StarpuEngine& engine, Operation operation, const TlrDistributionsOptions& options,
                                   std::vector<std::string>& notes) {
    const Tiling tiling = Tiling::square(options.problem.n, options.tile);
    const std::unique_ptr<FactoredMatrix> matrix = matrix_for(operation, options);
    const Index nodes = engine.node_count();
    const RankMap ranks = run_factorisation(engine, *matrix, tiling, squarest_block_cyclic(tiling.grid(), nodes)).ranks;
    const RankSummary summary = summarise_ranks(ranks, tiling, stored_tiles(operation));
    const ExpectedFactorisation expected(operation, tiling, ranks, nodes);
    std::vector<FamilyCandidate> all = family_candidates(options, expected, nodes, notes);
    for (int round = 0; round < options.rounds; ++round)
        for (FamilyCandidate& one : all) {
            one.last = run_factorisation(engine, *matrix, tiling, one.owners);
            one.best.add(one.last.seconds);
        }
    std::vector<Row> rows;
    for (const FamilyCandidate& one : all) {
        Row row{{"nodes", nodes},
                {"kernel", name_in(operation_names, operation)},
                {"n", options.problem.n},
                {"tile", options.tile},
                {"rank_mean", summary.mean},
                {"rank_max", summary.largest},
                {"whole_tiles", summary.tiles - summary.compressed},
                {"family", one.family},
                {"weights", one.weights},
                {"seconds", one.best.seconds()},
                {"messages", one.last.messages},
                {"bytes", one.last.bytes},
                {"residual", one.last.residual}};
        row.update(expected.metrics(one.owners));
        // Ranks differ a little from run to run, as updates are added in another order.
        row["counted_bytes"] = counted_bytes({operation, tiling, one.owners, matrix->compression()}, one.last.ranks);
        rows.push_back(std::move(row));
    }
    return rows;
}

Check bytes_check(const std::vector<Row>& rows) {
    double worst = 0;
    for (const Row& row : rows)
        worst = std::max(worst, std::abs(row.at("bytes").get<double>() - row.at("counted_bytes").get<double>()));
    return at_most("bytes sent differ from those of the ranks by", worst, 0);
}

Check residual_check(const std::vector<Row>& rows) {
    double worst = 0;
    for (const Row& row : rows) worst = std::max(worst, row.at("residual").get<double>());
    return at_most("residual of a factor over what is allowed", worst, 1);
}

/// Cholesky of a compressed covariance matrix and LU of a compressed diagonally dominant one (paper 001's generator)
/// under each family of distributions, made for the ranks that a first run measures, and those by weight also for the
/// operations that these ranks leave: seconds, what was sent, and the nodes' loads in operations of low rank, beside
/// paper 001's metrics.
Report run_tlr_distributions(const TlrDistributionsOptions& options) {
    const auto engine = start_engine(options.engine);
    if (engine->node_count() < 2)
        throw Error("tlr-distributions compares what several nodes own: start it with mpirun -n 2 or more");
    if (options.tile < 1 || options.problem.n % options.tile != 0)
        throw Error("--n must be a multiple of --tile: {} is none of {}", options.problem.n, options.tile);
    if (options.rounds < 1) throw Error("--rounds must be at least 1; it is {}", options.rounds);
    require_alike(*engine, options.problem, fmt::format("{}", options.tile));
    Report report;
    for (const std::string& kernel : options.kernels)
        for (Row& row :
             distribution_rows(*engine, parse_name(operation_names, kernel, "--kernel"), options, report.notes))
            report.rows.push_back(std::move(row));
    if (!options.table.empty() && engine->is_first()) PartTable(options.table, "nodes", report.rows).write();
    report.checks = {bytes_check(report.rows), residual_check(report.rows)};
    return report;
}

}  // namespace

Experiment tlr_distributions() {
    return experiment("tlr-distributions",
                      "Cholesky and LU of compressed matrices under paper 001's distributions, made for measured "
                      "ranks: times, loads and bytes beside the paper's metrics. Needs mpirun; exit code 1 if other "
                      "bytes are sent than ranks say or a factor is less accurate than it should be",
                      add_tlr_distributions_options, run_tlr_distributions);
}

}  // namespace tesela::bench
