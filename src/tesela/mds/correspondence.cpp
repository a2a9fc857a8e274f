#include "tesela/mds/correspondence.hpp"

#include "tesela/base/error.hpp"
#include "tesela/flow/engine.hpp"
#include "tesela/io/matrix_file.hpp"
#include "tesela/mds/resolve.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

namespace tesela::mds {
namespace {

/// Σ over the other index of A_ij², of each row and column.
struct Squares {
    std::vector<double> rows;
    std::vector<double> cols;
    std::string failure{};
};

/// The panels of rows that this node reads, by several threads.
class SquareSum {
public:
    /// Which of how many processes this is.
    struct Share {
        Index number = 0;
        Index of = 1;
    };
    SquareSum(const MatrixFile& file, const Decomposition& d, Share share)
        : file_(file),
          d_(d),
          next_(share.number),
          step_(share.of),
          turn_(share.number),
          panel_(file.panel_rows(std::max<Index>(1, panel_elements / file.cols()))) {
        sums_.rows.resize(static_cast<std::size_t>(file.rows()));
        sums_.cols.resize(static_cast<std::size_t>(file.cols()));
    }

    Squares run(int readers) {
        {
            std::vector<std::jthread> threads;
            for (int k = 1; k < readers; ++k) threads.emplace_back([this] { read_panels(); });
            read_panels();
        }
        return std::move(sums_);
    }

private:
    static constexpr Index panel_elements = Index{1} << 20;

    void read_panels() {
        std::vector<double> cols(static_cast<std::size_t>(file_.cols()));
        std::vector<double> values;
        for (Index panel = next_.fetch_add(step_); panel * panel_ < file_.rows(); panel = next_.fetch_add(step_)) {
            const MatrixBlock block{
                .row = panel * panel_, .rows = std::min(panel_, file_.rows() - panel * panel_), .cols = file_.cols()};
            values.resize(static_cast<std::size_t>(block.rows * block.cols));
            if (const ReadOutcome outcome = file_.read(block, ColumnMajor<double>{values.data(), block.rows}); !outcome)
                return fail(outcome.reason());
            std::ranges::fill(cols, 0.0);
            add(block, values, cols);
            add_in_order(panel, cols);
        }
    }

    /// Panel by panel, so that the digits of sums do not depend on which thread was faster.
    void add_in_order(Index panel, const std::vector<double>& cols) {
        std::unique_lock lock(mutex_);
        turns_.wait(lock, [&] { return turn_ == panel || !sums_.failure.empty(); });
        for (std::size_t j = 0; j < cols.size(); ++j) sums_.cols[j] += cols[j];
        turn_ += step_;
        turns_.notify_all();
    }

    /// Rows are this thread's alone.
    void add(const MatrixBlock& block, const std::vector<double>& values, std::vector<double>& cols) {
        for (Index j = 0; j < block.cols; ++j)
            for (Index i = 0; i < block.rows; ++i) {
                const auto row = static_cast<std::size_t>(block.row + i);
                const auto col = static_cast<std::size_t>(j);
                const double expected = d_.row_sums[row] * (d_.col_sums[col] / d_.total);
                const double off = values[static_cast<std::size_t>(i + j * block.rows)] - expected;
                const double square = off / expected * (off / d_.total);
                sums_.rows[row] += square;
                cols[col] += square;
            }
    }

    void fail(const std::string& reason) {
        const std::scoped_lock lock(mutex_);
        sums_.failure = reason;
        turns_.notify_all();
    }

    const MatrixFile& file_;
    const Decomposition& d_;
    std::atomic<Index> next_;
    Index step_;
    Index turn_;  ///< the panel whose sums are added next
    Index panel_;
    std::mutex mutex_;
    std::condition_variable turns_;
    Squares sums_;
};

/// As many processes as share the work: one, where an engine plays several nodes.
Index processes_of(Engine& engine) { return engine.max(engine.this_node().number()) + 1; }

/// The sum of what all nodes have.
std::vector<double> sum_over_nodes(Engine& engine, Index processes, const std::vector<double>& mine) {
    const std::string text(reinterpret_cast<const char*>(mine.data()), mine.size() * sizeof(double));
    std::vector<double> sum(mine.size());
    std::vector<double> theirs(mine.size());
    std::vector<std::string> texts = engine.gather(text);
    texts.resize(static_cast<std::size_t>(processes));
    for (const std::string& other : texts) {
        std::memcpy(theirs.data(), other.data(), other.size());
        std::transform(sum.begin(), sum.end(), theirs.begin(), sum.begin(), std::plus<>());
    }
    return sum;
}

Squares sum_squares(Engine& engine, const MatrixFile& file, const Decomposition& d, int readers) {
    const Index processes = processes_of(engine);
    Squares sums = SquareSum(file, d, {engine.this_node().number(), processes}).run(readers);
    for (const std::string& failure : engine.gather(sums.failure))
        if (!failure.empty()) throw Error(failure);
    if (processes == 1) return sums;
    return {.rows = sum_over_nodes(engine, processes, sums.rows), .cols = sum_over_nodes(engine, processes, sums.cols)};
}

/// Of rows with U or of columns with V.
ProfilePoints points_of(const std::vector<double>& sums, const std::vector<double>& vectors,
                        const std::vector<double>& squares, const Decomposition& d) {
    const std::size_t n = sums.size();
    ProfilePoints points{.inertias = squares};
    for (std::size_t i = 0; i < n; ++i) {
        points.masses.push_back(sums[i] / d.total);
        points.distances.push_back(std::sqrt(squares[i] / points.masses[i]));
    }
    for (std::size_t k = 0; k < static_cast<std::size_t>(d.wanted); ++k)
        for (std::size_t i = 0; i < n; ++i) {
            const double vector = vectors[i + k * n];
            const double standard = vector / std::sqrt(points.masses[i]);
            const double coordinate = standard * d.values[k];
            points.standard.push_back(standard);
            points.coordinates.push_back(coordinate);
            // mass·coordinate²/σ² is the square of the vector's element.
            points.contributions.push_back(vector * vector);
            const double distance = points.distances[i];
            points.squared_cosines.push_back(distance > 0 ? std::min(1.0, std::pow(coordinate / distance, 2)) : 0.0);
        }
    return points;
}

}  // namespace

std::vector<double> Correspondence::inertias() const {
    const Index most = most_dimensions(Analysis::correspondence, decomposition.rows, decomposition.cols);
    std::vector<double> squares(
        decomposition.values.begin(),
        decomposition.values.begin() + std::min(most, static_cast<Index>(decomposition.values.size())));
    for (double& value : squares) value *= value;
    return squares;
}

Correspondence correspondence(Stream& stream, const MatrixFile& counts, const DecompositionOptions& options) {
    return correspondence(stream, counts, resolve_for(stream, counts, Analysis::correspondence, options));
}

Correspondence correspondence(Stream& stream, const MatrixFile& counts, const Decision& decision) {
    Correspondence result{.decomposition = decompose(stream, counts, decision)};
    const Decomposition& d = result.decomposition;
    const Squares squares = sum_squares(stream.engine(), counts, d, decision.asked.readers);
    result.dimensions = d.wanted;
    result.inertia = d.frobenius;
    result.chi_square = d.frobenius * d.total;
    result.rows = points_of(d.row_sums, d.left, squares.rows, d);
    result.columns = points_of(d.col_sums, d.right, squares.cols, d);
    return result;
}

}  // namespace tesela::mds
