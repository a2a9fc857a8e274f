#include "tesela/algs/elementwise.hpp"
#include "tesela/base/clock.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/random.hpp"
#include "tesela/distribution/heterogeneous.hpp"
#include "tesela/mds/decomposition.hpp"
#include "tesela/mds/internal/columns.hpp"
#include "tesela/mds/internal/iteration.hpp"
#include "tesela/mds/internal/panel_source.hpp"
#include "tesela/mds/streamed_matrix.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
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

Index chosen_tile(Index wanted, Index length, const Engine& engine) {
    return wanted > 0 ? std::min(wanted, length) : automatic_tile(length, engine.total_workers());
}

/// Columns of a block: those wanted and some more; all, where few are left.
Index block_width(const DecompositionOptions& options, GridSize size) {
    const Index wanted = options.explained ? std::min<Index>(options.dimensions, 10) : options.dimensions;
    const Index columns = std::min({wanted + options.oversampling, size.rows, size.cols});
    return 2 * columns > size.cols ? size.cols : columns;
}

/// Whole rows, dealt to the nodes in turns.
Distribution equal_rows(GridSize tiles, Index nodes) {
    return one_dimensional(tiles, std::vector<double>(static_cast<std::size_t>(nodes), 1.0));
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
    Randomized(Engine& engine, const MatrixFile& file, Analysis analysis, const DecompositionOptions& options)
        : engine_(engine),
          averaged_(options.symmetry == Symmetry::averaged ? symmetrised(file) : nullptr),
          file_(averaged_ ? *averaged_ : file),
          analysis_(analysis),
          options_(options),
          source_(file_, analysis, symmetric() ? PanelSource::Wanted::half : PanelSource::Wanted::all),
          stream_(engine, {.name = "mds", .sums = Sums::in_order}) {
        weight_ = options.row_weights.empty() ? static_cast<double>(file.rows()) : sum_of(options.row_weights);
        if (analysis == Analysis::components || analysis == Analysis::scaled_components) shift_ = column_shift(file_);
        matrix_ = std::make_unique<StreamedMatrix>(stream_, spec());
    }

    Decomposition run();

private:
    /// Of distances, which are symmetric, half is read in every step; paper 000 reads all.
    [[nodiscard]] bool symmetric() const { return analysis_ == Analysis::scaling; }
    [[nodiscard]] Stored stored() const { return symmetric() ? Stored::lower : Stored::full; }
    [[nodiscard]] ElementType type() const {
        return file_.type() == StoredType::float32 ? ElementType::f32 : ElementType::f64;
    }
    [[nodiscard]] StreamedSpec spec() const;
    void choose_memory(StreamedSpec& spec) const;
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

    Engine& engine_;
    std::unique_ptr<MatrixFile> averaged_;
    const MatrixFile& file_;
    Analysis analysis_;
    const DecompositionOptions& options_;
    PanelSource source_;
    Stream stream_;
    double weight_ = 0;
    std::vector<double> shift_;
    std::unique_ptr<StreamedMatrix> matrix_;
    int passes_ = 0;
};

StreamedSpec Randomized::spec() const {
    const Index rows = chosen_tile(options_.tile, file_.rows(), engine_);
    const Index cols = symmetric() ? rows : chosen_tile(options_.tile, file_.cols(), engine_);
    StreamedSpec spec{.tiling = Tiling::uniform({file_.rows(), file_.cols()}, {rows, cols}),
                      .stored = stored(),
                      .rule = border_rule(analysis_),
                      .columns = block_width(options_, {file_.rows(), file_.cols()}),
                      .column_tile = cols,
                      .reading = {.kernel = &PanelSource::kernel(type()),
                                  .source = &source_,
                                  .type = type(),
                                  .shift = shift_.empty() ? nullptr : shift_.data(),
                                  .readers_per_node = options_.readers},
                      .step = options_.overlap};
    const GridSize tiles = spec.tiling.grid();
    const bool planned = options_.owners.has_value();
    spec.compute = planned ? options_.owners->compute : equal_rows(tiles, engine_.node_count());
    spec.read = planned && options_.overlap >= StreamingStep::read_order ? options_.owners->read
                                                                         : read_owners(options_.overlap, spec.compute);
    for (const double w : options_.row_weights) spec.weights.push_back(w / weight_);
    spec.degrees_of_freedom = degrees_of_freedom(options_.row_weights, file_.rows()) / weight_;
    choose_memory(spec);
    return spec;
}

/// Panels as wide as the file, but not beyond what is read in some tens of milliseconds; and as many rows of tiles as
/// there is memory for.
void Randomized::choose_memory(StreamedSpec& spec) const {
    constexpr double largest_panel = 64e6;
    const GridSize tiles = spec.tiling.grid();
    const auto rows = static_cast<double>(spec.tiling.rows(0));
    const double element = type() == ElementType::f32 ? 4 : 8;
    const double of_tile = rows * static_cast<double>(spec.tiling.cols(0));
    spec.reading.panel_tiles =
        std::clamp<Index>(static_cast<Index>(largest_panel / (of_tile * element)), 1, tiles.cols);
    const Index in_row = (tiles.cols + spec.reading.panel_tiles - 1) / spec.reading.panel_tiles;
    spec.reading.slots = std::max<Index>(2, (options_.readers + 1 + in_row) / in_row);
    if (options_.memory <= 0) return;
    const double row = rows * static_cast<double>(file_.cols());
    // A quarter of it at most for what passes by: panels that are being read, and rows in use.
    const double quarter = options_.memory / 4;
    spec.reading.slots = std::clamp<Index>(static_cast<Index>(quarter / (row * element)), 1, spec.reading.slots);
    spec.passing_rows = std::clamp<Index>(static_cast<Index>(quarter / (row * 8)), 1, 2);
    double left = options_.memory - static_cast<double>(spec.reading.slots) * row * element -
                  static_cast<double>(spec.passing_rows) * row * 8;
    const auto nodes = static_cast<double>(engine_.node_count());
    Index kept = 0;
    for (Index i = tiles.rows - 1; i >= 0; --i, ++kept) {
        const Index cols = spec.stored == Stored::lower ? spec.tiling.col_begin(i + 1) : file_.cols();
        left -= static_cast<double>(spec.tiling.rows(i)) * static_cast<double>(cols) * 8 / nodes;
        if (left < 0) break;
    }
    spec.resident_rows = kept;
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
                                  .options = options_,
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

Decomposition decompose_randomly(Engine& engine, const MatrixFile& file, Analysis analysis,
                                 const DecompositionOptions& options) {
    validate(file, analysis, options);
    if (analysis == Analysis::scaling) require_symmetry(engine, file, options.symmetry, options.seed);
    return Randomized(engine, file, analysis, options).run();
}

Decomposition decompose_symmetric(Engine& engine, const double* values, Index n, const DecompositionOptions& options) {
    const Clock::time_point begin = Clock::now();
    Stream stream(engine, {.name = "eigenvalues", .sums = Sums::in_order});
    const Index tile = chosen_tile(options.tile, n, engine);
    const Tiling tiling = Tiling::square(n, tile);
    const Distribution owners = equal_rows(tiling.grid(), engine.node_count());
    StreamedMatrix matrix(stream, {.tiling = tiling,
                                   .stored = Stored::lower,
                                   .read = owners,
                                   .compute = owners,
                                   .rule = BorderRule::none,
                                   .columns = block_width(options, {n, n}),
                                   .column_tile = tile,
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
                        {.matrix = matrix, .options = options, .wait = wait, .trace = result.trace, .passes = 1});
    iteration.run(std::move(first));
    iteration.report(1, result);
    result.weight = static_cast<double>(n);
    result.seconds = seconds_since(begin);
    return result;
}

}  // namespace tesela::mds
