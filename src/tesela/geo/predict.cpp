#include "tesela/geo/predict.hpp"

#include "tesela/algs/solve.hpp"
#include "tesela/algs/tasks.hpp"
#include "tesela/base/digest.hpp"
#include "tesela/base/error.hpp"
#include "tesela/geo/internal/cross_covariance.hpp"

#include <algorithm>
#include <deque>
#include <utility>

namespace tesela::geo {
namespace {

/// Blocks submitted and not yet read: one is computed while the next is submitted.
constexpr std::size_t in_flight = 2;

/// The matrices of one block of new points: W = L⁻¹·K for the cross-covariances K, P = Wᵀ·L⁻¹[z X], and the squared
/// norms of the columns of W.
struct Block {
    Index first = 0;
    Index count = 0;
    Matrix<double> W;
    Matrix<double> P;
    Matrix<double> squares;
    std::vector<std::shared_ptr<Fetched>> products{};
    std::vector<std::shared_ptr<Fetched>> norms{};
};

class Kriging {
public:
    Kriging(Likelihood& likelihood, const CovarianceParameters& theta, const Sites& sites,
            const PredictionOptions& options);
    Predictions run();

private:
    [[nodiscard]] Block make_block(Index first, Index count);
    void submit(Block& block);
    void reduce(const Block& block);
    void collect(Block& block);
    void collect_tile(const Block& block, Index c);
    void write(Index point, const double* product, double norm);

    Likelihood& likelihood_;
    Stream& stream_;
    const PredictionOptions& options_;
    PointSet points_;
    SmallMatrix functions_;  ///< of the trend, at the points
    Covariance covariance_;
    LikelihoodValue value_;
    Predictions result_;
};

Kriging::Kriging(Likelihood& likelihood, const CovarianceParameters& theta, const Sites& sites,
                 const PredictionOptions& options)
    : likelihood_(likelihood),
      stream_(likelihood.stream()),
      options_(options),
      points_(likelihood.model().metric, sites.coordinates),
      functions_(likelihood.basis().at(sites)),
      covariance_(likelihood.model().family, theta, likelihood.model().metric,
                  points_.distance_bound(likelihood.points())),
      value_(likelihood.evaluate(theta)) {
    Digest digest;
    for (const auto& column : sites.coordinates) digest.add(column);
    digest.add(functions_.values);
    stream_.engine().require_alike("the points to predict", digest.value());
    require_good_evaluation(likelihood, value_.status, theta);
    result_.mean.resize(static_cast<std::size_t>(points_.size()));
    result_.variance.resize(static_cast<std::size_t>(points_.size()));
}

Block Kriging::make_block(Index first, Index count) {
    Matrix<double> W = columns_like_sigma(likelihood_, count, "W");
    Matrix<double> P = rows_for_columns(stream_, W, 1 + likelihood_.basis().size(), "P");
    Matrix<double> squares = rows_for_columns(stream_, W, 1, "w2");
    return {.first = first, .count = count, .W = std::move(W), .P = std::move(P), .squares = std::move(squares)};
}

/// P(c) += W(i, c)ᵀ·Y(i) and squares(c) += the squares of W(i, c), where W(i, c) lives.
void Kriging::reduce(const Block& block) {
    const auto phase = stream_.phase("dot");
    const GridSize tiles = block.W.tiling().grid();
    const MatrixView<double> Wt = block.W.view().transposed();
    for (Index c = 0; c < tiles.cols; ++c) {
        stream_.submit(tasks::laset({}, block.P(c, 0)));
        stream_.submit(tasks::laset({}, block.squares(c, 0)));
        for (Index i = 0; i < tiles.rows; ++i) {
            const TileOf<double> W = block.W(i, c);
            stream_.submit(
                tasks::gemm(GemmArguments{}, Wt(c, i), likelihood_.whitened()(i, 0), tesela::reduce(block.P(c, 0)))
                    .on(W.owner()));
            stream_.submit(Task(column_squares_kernel, read(W), tesela::reduce(block.squares(c, 0))).on(W.owner()));
        }
    }
}

void Kriging::submit(Block& block) {
    generate_cross_covariance(stream_, block.W, {covariance_, likelihood_.points(), points_, block.first});
    solve_triangular(stream_, likelihood_.factor(), block.W.view());
    reduce(block);
    for (Index c = 0; c < block.P.tiling().grid().rows; ++c) {
        block.products.push_back(stream_.fetch(block.P(c, 0)));
        block.norms.push_back(stream_.fetch(block.squares(c, 0)));
    }
}

/// With w = L⁻¹k and p = wᵀ·L⁻¹[z X]: mean = xᵀc + p_z − p_X·c, variance = C(0) − w·w + dᵀ(XᵀΣ⁻¹X)⁻¹d, d = x − p_X.
void Kriging::write(Index point, const double* product, double norm) {
    const Index p = likelihood_.basis().size();
    std::vector<double> d(static_cast<std::size_t>(p));
    double mean = likelihood_.offset() + product[0];
    for (Index k = 0; k < p; ++k) {
        d[static_cast<std::size_t>(k)] = functions_(point, k) - product[1 + k];
        mean += d[static_cast<std::size_t>(k)] * value_.fit.coefficients[static_cast<std::size_t>(k)];
    }
    const CovarianceParameters& theta = covariance_.parameters();
    double variance = theta.sigma2 - norm;
    for (Index k = 0; k < p; ++k)
        for (Index l = 0; l < p; ++l)
            variance += d[static_cast<std::size_t>(k)] * value_.fit.covariance(k, l) * d[static_cast<std::size_t>(l)];
    variance = std::max(0.0, variance);  // rounding, at an observed point of a field without noise
    if (options_.of == PredictionOf::observation) variance += theta.nugget;
    result_.mean[static_cast<std::size_t>(point)] = mean;
    result_.variance[static_cast<std::size_t>(point)] = variance;
}

void Kriging::collect_tile(const Block& block, Index c) {
    const Index functions = 1 + likelihood_.basis().size();
    const Tiling& tiling = block.P.tiling();
    const auto& product = block.products[static_cast<std::size_t>(c)];
    const auto& norm = block.norms[static_cast<std::size_t>(c)];
    product->wait();
    norm->wait();
    if (!product->has_value()) return;
    const auto* p = reinterpret_cast<const double*>(product->bytes().data());
    const auto* squares = reinterpret_cast<const double*>(norm->bytes().data());
    std::vector<double> row(static_cast<std::size_t>(functions));
    for (Index r = 0; r < tiling.rows(c); ++r) {
        for (Index k = 0; k < functions; ++k) row[static_cast<std::size_t>(k)] = p[r + k * tiling.rows(c)];
        write(block.first + tiling.row_begin(c) + r, row.data(), squares[r]);
    }
}

void Kriging::collect(Block& block) {
    for (Index c = 0; c < block.P.tiling().grid().rows; ++c) collect_tile(block, c);
    if (options_.progress) options_.progress(block.first + block.count);
}

Predictions Kriging::run() {
    const Index size = options_.block > 0 ? options_.block : prediction_block(likelihood_.observations().size());
    std::deque<Block> blocks;
    for (Index first = 0; first < points_.size(); first += size) {
        if (blocks.size() == in_flight) {
            collect(blocks.front());
            blocks.pop_front();
        }
        blocks.push_back(make_block(first, std::min(size, points_.size() - first)));
        submit(blocks.back());
    }
    for (Block& block : blocks) collect(block);
    require_done(stream_.wait());
    result_.trend = value_.trend;
    return std::move(result_);
}

}  // namespace

Predictions predict(Likelihood& likelihood, const CovarianceParameters& theta, const Sites& sites,
                    const PredictionOptions& options) {
    return Kriging(likelihood, theta, sites, options).run();
}

}  // namespace tesela::geo
