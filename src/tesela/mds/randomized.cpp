#include "tesela/algs/elementwise.hpp"
#include "tesela/base/clock.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/random.hpp"
#include "tesela/mds/internal/algorithms.hpp"
#include "tesela/mds/internal/columns.hpp"
#include "tesela/mds/internal/iteration.hpp"
#include "tesela/mds/internal/panel_source.hpp"
#include "tesela/mds/streamed_matrix.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

namespace tesela::mds {
namespace {

BorderRule border_rule(Analysis analysis) {
    switch (analysis) {
        case Analysis::scaling: return BorderRule::distances;
        case Analysis::components: return BorderRule::means;
        case Analysis::scaled_components: return BorderRule::means_deviations;
        case Analysis::correspondence: return BorderRule::masses;
    }
    return BorderRule::distances;
}

void fill_with_normal(Stream& stream, const Matrix<double>& omega, std::uint64_t seed) {
    const auto phase = stream.phase("omega");
    generate(stream, omega.view(), [seed](Index i, Index j) {
        return Random(seed).normal({static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(j)});
    });
}

/// A number of each column that is near its mean, so that means and deviations keep their digits: of some first rows.
std::vector<double> column_shift(const MatrixFile& file) {
    const Index rows = std::min<Index>(file.rows(), 16);
    std::vector<double> block(static_cast<std::size_t>(rows * file.cols()));
    const ReadOutcome outcome = file.read({.rows = rows, .cols = file.cols()}, ColumnMajor<double>{block.data(), rows});
    if (!outcome.ok()) throw Error("{}", outcome.reason());
    std::vector<double> shift;
    for (auto column = block.begin(); column != block.end(); column += rows) {
        const double mean = std::accumulate(column, column + rows, 0.0) / static_cast<double>(rows);
        shift.push_back(std::isfinite(mean) ? mean : 0);
    }
    return shift;
}

/// One decomposition: the matrix as it is streamed, and the basis that grows by its products.
class Randomized {
public:
    Randomized(Stream& stream, const MatrixFile& file, const Decision& decision)
        : stream_(stream),
          engine_(stream.engine()),
          averaged_(decision.asked.symmetry == Symmetry::averaged ? symmetrised(file) : nullptr),
          file_(averaged_ ? *averaged_ : file),
          decision_(decision),
          analysis_(decision.analysis),
          options_(decision.asked),
          source_(file_, analysis_, symmetric() ? PanelSource::Wanted::half : PanelSource::Wanted::all) {
        weight_ = options_.row_weights.empty() ? static_cast<double>(file.rows()) : sum_of(options_.row_weights);
        if (analysis_ == Analysis::components || analysis_ == Analysis::scaled_components) shift_ = column_shift(file_);
        matrix_ = std::make_unique<StreamedMatrix>(stream_, spec());
    }
    /// Tasks that are left refer to it.
    ~Randomized() {
        if (std::uncaught_exceptions() > exceptions_before_) (void)stream_.wait();
    }
    Randomized(const Randomized&) = delete;
    Randomized& operator=(const Randomized&) = delete;

    Decomposition run();

private:
    /// Of distances, which are symmetric, half is read in every step; paper 000 reads all.
    [[nodiscard]] bool symmetric() const { return analysis_ == Analysis::scaling; }
    [[nodiscard]] Stored stored() const { return symmetric() ? Stored::lower : Stored::full; }
    [[nodiscard]] ElementType type() const {
        return file_.type() == StoredType::float32 ? ElementType::f32 : ElementType::f64;
    }
    [[nodiscard]] StreamedSpec spec() const;
    void wait();
    void tell(const std::string& text) const {
        if (options_.progress && engine_.is_first()) options_.progress(text);
    }

    Matrix<double> start();
    void add_sums(Decomposition& result);
    /// What values of the streamed matrix, whose weights have the sum 1, are multiplied with.
    [[nodiscard]] double value_factor() const {
        if (options_.row_weights.empty()) return 1;
        return symmetric() ? weight_ : std::sqrt(weight_);
    }

    /// Profiles that do not differ leave what rounding makes of zero.
    [[nodiscard]] double negligible() const {
        constexpr double rounding = std::numeric_limits<double>::epsilon();
        return analysis_ == Analysis::correspondence ? 16 * rounding * rounding * static_cast<double>(file_.rows()) : 0;
    }

    Stream& stream_;
    Engine& engine_;
    std::unique_ptr<MatrixFile> averaged_;
    const MatrixFile& file_;
    const Decision& decision_;
    Analysis analysis_;
    const DecompositionOptions& options_;
    PanelSource source_;
    double weight_ = 0;
    std::vector<double> shift_;
    std::unique_ptr<StreamedMatrix> matrix_;
    int passes_ = 0;
    int exceptions_before_ = std::uncaught_exceptions();
};

StreamedSpec Randomized::spec() const {
    const StreamingDecision& chosen = *decision_.streaming;
    StreamedSpec spec{.tiling = chosen.tiling,
                      .stored = stored(),
                      .read = chosen.owners.read,
                      .compute = chosen.owners.compute,
                      .rule = border_rule(analysis_),
                      .columns = chosen.columns,
                      .column_tile = chosen.tiling.cols(0),
                      .resident_rows = chosen.resident_rows,
                      .passing_rows = chosen.passing_rows,
                      .degrees_of_freedom = degrees_of_freedom(options_.row_weights, file_.rows()) / weight_,
                      .reading = {.kernel = &PanelSource::kernel(type()),
                                  .source = &source_,
                                  .type = type(),
                                  .panel_tiles = chosen.panel_tiles,
                                  .slots = chosen.slots,
                                  .shift = shift_.empty() ? nullptr : shift_.data(),
                                  .readers_per_node = options_.readers},
                      .step = options_.overlap};
    for (const double w : options_.row_weights) spec.weights.push_back(w / weight_);
    return spec;
}

void Randomized::wait() { source_.require_ok(engine_, stream_.wait()); }

/// The first block: random numbers, multiplied while the file is read.
Matrix<double> Randomized::start() {
    const Matrix<double> omega = matrix_->make_right("Omega");
    fill_with_normal(stream_, omega, options_.seed);
    Matrix<double> Y = matrix_->make_left("Y");
    matrix_->first_product(omega, Y, [&] { wait(); });
    ++passes_;
    if (symmetric()) return Y;
    Matrix<double> Z = matrix_->make_right("Z");
    const MatrixView<double> transposed = Z;
    matrix_->pass({.Y = Y, .transposed = &transposed});
    ++passes_;
    wait();  // Y is done with
    return Z;
}

/// Sums over F, of what the matrix has of H.
void Randomized::add_sums(Decomposition& result) {
    result.weight = weight_;
    const double total = matrix_->total().value(stream_).get();
    if (symmetric()) {
        result.row_sums = gather(stream_, matrix_->row_sums().view());
        for (std::size_t i = 0; i < result.row_sums.size(); ++i) {
            const double l2 = options_.row_weights.empty() ? 1 : options_.row_weights[i];
            result.trace += l2 * (total - 2 * result.row_sums[i]);  // the diagonal of H is 0
            result.row_sums[i] *= -2 * weight_;
        }
        result.total = -2 * weight_ * weight_ * total;
        return;
    }
    std::vector<double> cols = gather(stream_, matrix_->col_sums().view());
    const auto n = static_cast<std::size_t>(file_.cols());
    if (analysis_ == Analysis::correspondence) {
        result.row_sums = gather(stream_, matrix_->row_sums().view());
        result.col_sums = std::move(cols);
        result.total = total;
        require_masses(file_, result.row_sums, result.col_sums);
        return;
    }
    std::vector<double> means;
    for (std::size_t j = 0; j < n; ++j) {
        means.push_back(shift_[j] + cols[j]);
        result.col_sums.push_back(weight_ * means.back());
        result.col_squares.push_back(weight_ * std::max(0.0, cols[n + j] - cols[j] * cols[j]));
    }
    result.total = sum_of(result.col_sums);
    if (analysis_ == Analysis::scaled_components) require_deviations(file_, means, result.col_squares, weight_);
}

Decomposition Randomized::run() {
    const Clock::time_point begin = Clock::now();
    Decomposition result{.rows = file_.rows(), .cols = file_.cols(), .distances = options_.distances};
    Matrix<double> first = start();
    wait();
    result.first_seconds = seconds_since(begin);
    tell("the file has been read");
    add_sums(result);
    Iteration iteration(stream_, {.matrix = *matrix_,
                                  .of = symmetric() ? Iteration::Of::matrix : Iteration::Of::normal_matrix,
                                  .decision = decision_,
                                  .wait = [this] { wait(); },
                                  .growth = matrix_->is_resident() ? Iteration::Setting::Growth::fewest_products
                                                                   : Iteration::Setting::Growth::fewest_passes,
                                  .trace = result.trace / value_factor(),
                                  .passes = passes_,
                                  .negligible = negligible()});
    iteration.run(std::move(first));
    iteration.report(value_factor(), result);
    result.read_seconds = source_.seconds(engine_);
    result.seconds = seconds_since(begin);
    return result;
}

}  // namespace

Decomposition decompose_randomly(Stream& stream, const MatrixFile& file, const Decision& decision) {
    if (decision.analysis == Analysis::scaling)
        require_symmetry(stream.engine(), file, decision.asked.symmetry, decision.asked.seed);
    return Randomized(stream, file, decision).run();
}

Decomposition decompose_symmetric(Stream& stream, const double* values, Index n, const DecompositionOptions& options) {
    const Clock::time_point begin = Clock::now();
    DecompositionOptions asked = options;
    if (asked.algorithm != Algorithm::power) asked.algorithm = Algorithm::krylov;
    const Decision decision = resolve(asked, {.name = "the matrix", .size = {n, n}}, machine_of(stream.engine()));
    const StreamingDecision& chosen = *decision.streaming;
    StreamedMatrix matrix(stream, {.tiling = chosen.tiling,
                                   .stored = Stored::lower,
                                   .read = chosen.owners.compute,
                                   .compute = chosen.owners.compute,
                                   .rule = BorderRule::none,
                                   .columns = chosen.columns,
                                   .column_tile = chosen.tiling.cols(0),
                                   .values = values});
    Decomposition result{.rows = n, .cols = n};
    for (Index i = 0; i < n; ++i) result.trace += values[i + i * n];
    const auto wait = [&] { require_done(stream.wait()); };
    const Matrix<double> omega = matrix.make_right("Omega");
    Matrix<double> first = matrix.make_left("Y");
    fill_with_normal(stream, omega, options.seed);
    const MatrixView<double> X = omega;
    matrix.pass({.X = &X, .Y = first});
    Iteration iteration(stream,
                        {.matrix = matrix, .decision = decision, .wait = wait, .trace = result.trace, .passes = 1});
    iteration.run(std::move(first));
    iteration.report(1, result);
    result.weight = static_cast<double>(n);
    result.seconds = seconds_since(begin);
    return result;
}

}  // namespace tesela::mds
