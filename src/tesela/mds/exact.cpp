#include "tesela/base/clock.hpp"
#include "tesela/base/error.hpp"
#include "tesela/flow/engine.hpp"
#include "tesela/io/memory_matrix.hpp"
#include "tesela/kernels/spectrum.hpp"
#include "tesela/mds/goodness_of_fit.hpp"
#include "tesela/mds/input_check.hpp"
#include "tesela/mds/internal/algorithms.hpp"
#include "tesela/mds/internal/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <numeric>
#include <utility>

namespace tesela::mds {
namespace {

/// √w of each row.
std::vector<double> roots_of(const std::vector<double>& weights, Index rows) {
    std::vector<double> roots(static_cast<std::size_t>(rows), 1.0);
    for (std::size_t i = 0; i < weights.size(); ++i) roots[i] = std::sqrt(weights[i]);
    return roots;
}

/// Columns are added apart, so that rounding grows with their lengths and not with their product.
double sum_of_squares(const std::vector<double>& A, Index rows) {
    double all = 0;
    for (auto column = A.begin(); column != A.end(); column += rows)
        all += std::inner_product(column, column + rows, column, 0.0);
    return all;
}

std::vector<double> read_values(const MatrixFile& file, Analysis analysis) {
    std::vector<double> F = read_all(file).values;
    const MatrixBlock all{.rows = file.rows(), .cols = file.cols()};
    if (const InputFlaw flaw = find_flaw(analysis, all, {F.data(), file.rows()})) throw input_error(file, flaw);
    return F;
}

/// One distance for both directions: the mean of two, or that of the lower triangle.
void make_symmetric(const MatrixFile& file, Symmetry symmetry, std::vector<double>& F) {
    const Index n = file.rows();
    const MatrixBlock all{.rows = n, .cols = n};
    if (symmetry == Symmetry::sampled || symmetry == Symmetry::checked)
        if (const InputFlaw flaw = find_asymmetry(all, {F.data(), n}, {F.data(), n})) throw input_error(file, flaw);
    for (Index j = 0; j < n; ++j)
        for (Index i = j + 1; i < n; ++i) {
            double& below = F[at(i, j, n)];
            double& above = F[at(j, i, n)];
            if (symmetry == Symmetry::averaged) below = 0.5 * (below + above);
            above = below;
        }
}

/// F := A = -½·W^½·J·F²·Jᵀ·W^½, by its elements: -½·√(w_i·w_j)·(F_ij² - s_i - s_j + o) with the weighted means s of
/// rows and o of all.
void centre_distances(const std::vector<double>& roots, std::vector<double>& F, Decomposition& result) {
    const Index n = result.rows;
    for (double& distance : F) distance *= distance;
    std::vector<double> means(static_cast<std::size_t>(n));
    for (Index j = 0; j < n; ++j) {
        double sum = 0;
        for (Index i = 0; i < n; ++i) {
            const double root = roots[static_cast<std::size_t>(i)];
            sum += root * root * F[at(i, j, n)];
        }
        result.row_sums.push_back(sum);
        means[static_cast<std::size_t>(j)] = sum / result.weight;
    }
    for (std::size_t j = 0; j < roots.size(); ++j) result.total += roots[j] * roots[j] * result.row_sums[j];
    const double of_all = result.total / result.weight / result.weight;
    for (Index j = 0; j < n; ++j) {
        const auto col = static_cast<std::size_t>(j);
        for (Index i = 0; i < n; ++i) {
            const auto row = static_cast<std::size_t>(i);
            double& element = F[at(i, j, n)];
            element = -0.5 * roots[row] * roots[col] * ((element - means[row]) - (means[col] - of_all));
        }
        result.trace += F[at(j, j, n)];
    }
}

/// The weighted mean of a column, twice: what the first rounds away is in the second.
double mean_of(const double* column, const std::vector<double>& roots, double weight) {
    double mean = 0;
    for (int round = 0; round < 2; ++round) {
        double sum = 0;
        for (std::size_t i = 0; i < roots.size(); ++i) sum += roots[i] * roots[i] * (column[i] - mean);
        mean += sum / weight;
    }
    return mean;
}

/// F := W^½·(F - its columns' means), and for scaled components divided by their deviations.
void centre_columns(const MatrixFile& file, Analysis analysis, const DecompositionOptions& options,
                    std::vector<double>& F, Decomposition& result) {
    const std::vector<double> roots = roots_of(options.row_weights, result.rows);
    std::vector<double> means;
    for (Index j = 0; j < result.cols; ++j) {
        double* column = F.data() + at(0, j, result.rows);
        const double mean = mean_of(column, roots, result.weight);
        double squares = 0;
        for (std::size_t i = 0; i < roots.size(); ++i) {
            column[i] = roots[i] * (column[i] - mean);
            squares += column[i] * column[i];
        }
        means.push_back(mean);
        result.col_sums.push_back(mean * result.weight);
        result.col_squares.push_back(squares);
    }
    result.total = sum_of(result.col_sums);
    if (analysis != Analysis::scaled_components) return;
    require_deviations(file, means, result.col_squares, result.weight);
    const double freedom = degrees_of_freedom(options.row_weights, result.rows);
    for (Index j = 0; j < result.cols; ++j) {
        const double deviation = std::sqrt(result.col_squares[static_cast<std::size_t>(j)] / freedom);
        double* column = F.data() + at(0, j, result.rows);
        std::for_each(column, column + result.rows, [=](double& x) { x /= deviation; });
    }
}

/// F := Dr^-½·(P - r·cᵀ)·Dc^-½ with P = F/ΣF.
void standardise_counts(const MatrixFile& file, std::vector<double>& F, Decomposition& result) {
    result.row_sums.assign(static_cast<std::size_t>(result.rows), 0.0);
    for (Index j = 0; j < result.cols; ++j) {
        double sum = 0;
        for (Index i = 0; i < result.rows; ++i) {
            result.row_sums[static_cast<std::size_t>(i)] += F[at(i, j, result.rows)];
            sum += F[at(i, j, result.rows)];
        }
        result.col_sums.push_back(sum);
    }
    require_masses(file, result.row_sums, result.col_sums);
    result.total = sum_of(result.col_sums);
    for (Index j = 0; j < result.cols; ++j)
        for (Index i = 0; i < result.rows; ++i) {
            // With r and c divided by the total this is (F/total - r·c)/√(r·c).
            const double expected = result.row_sums[static_cast<std::size_t>(i)] *
                                    (result.col_sums[static_cast<std::size_t>(j)] / result.total);
            double& element = F[at(i, j, result.rows)];
            element = (element - expected) / std::sqrt(expected * result.total);
        }
}

/// A, of which the decomposition knows sums and sizes.
std::vector<double> make_matrix(const MatrixFile& file, Analysis analysis, const DecompositionOptions& options,
                                std::vector<double> F, Decomposition& result) {
    if (analysis == Analysis::scaling) {
        make_symmetric(file, options.symmetry, F);
        centre_distances(roots_of(options.row_weights, result.rows), F, result);
    } else if (analysis == Analysis::correspondence) {
        standardise_counts(file, F, result);
    } else {
        centre_columns(file, analysis, options, F, result);
    }
    result.frobenius = sum_of_squares(F, result.rows);
    return F;
}

[[noreturn]] void fail(const MatrixFile& file) {
    throw Error(
        "LAPACK finds no spectrum of {}: are its numbers too large or too small to be multiplied? Give them in another "
        "unit",
        file.name());
}

/// Leaves the vectors of as many values as are wanted.
void choose_wanted(const Decision& decision, Decomposition& result) {
    const std::optional<double>& explained = decision.asked.explained;
    result.wanted = explained ? dimensions_explaining(result, decision.analysis, *explained, decision.dimensions)
                              : decision.dimensions;
    result.left.resize(static_cast<std::size_t>(result.wanted * result.rows));
    if (!result.right.empty()) result.right.resize(static_cast<std::size_t>(result.wanted * result.cols));
}

void find_spectrum(const MatrixFile& file, Analysis analysis, Index wanted, std::vector<double> A,
                   Decomposition& result) {
    if (analysis == Analysis::scaling) {
        auto spectrum = symmetric_spectrum(std::move(A), result.rows, wanted);
        if (!spectrum) fail(file);
        result.values = std::move(spectrum->values);
        result.left = std::move(spectrum->vectors);
    } else {
        auto spectrum = singular_spectrum(std::move(A), {result.rows, result.cols}, wanted);
        if (!spectrum) fail(file);
        result.values = std::move(spectrum->values);
        result.left = std::move(spectrum->left);
        result.right = std::move(spectrum->right);
    }
    result.rest_at_most = 0;
}

Decomposition decompose_here(const MatrixFile& file, const Decision& decision) {
    const DecompositionOptions& options = decision.asked;
    const Analysis analysis = decision.analysis;
    const auto start = Clock::now();
    Decomposition result{.rows = file.rows(), .cols = file.cols()};
    result.weight = options.row_weights.empty() ? static_cast<double>(result.rows) : sum_of(options.row_weights);
    if (options.progress) options.progress("reading");
    std::vector<double> F = read_values(file, analysis);
    result.read_seconds = seconds_since(start);
    if (options.progress) options.progress("decomposing");
    std::vector<double> A = make_matrix(file, analysis, options, std::move(F), result);
    find_spectrum(file, analysis, decision.dimensions, std::move(A), result);
    choose_wanted(decision, result);
    fix_signs(result);
    result.algorithm = Algorithm::exact;
    result.passes = 1;
    result.seconds = seconds_since(start);
    return result;
}

// --- from the node that has it to all --------------------------------------------------------------------------------

/// Writes parts of a decomposition into text, or reads them back, in one order.
class Writer {
public:
    template <class T>
    void operator()(const T& value) {
        text_.append(reinterpret_cast<const char*>(&value), sizeof(T));
    }
    void operator()(const std::vector<double>& values) {
        (*this)(values.size());
        text_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
    }
    [[nodiscard]] std::string text() && { return std::move(text_); }

private:
    std::string text_;
};

class Reader {
public:
    explicit Reader(const std::string& text) : text_(text) {}
    template <class T>
    void operator()(T& value) {
        std::memcpy(&value, text_.data() + at_, sizeof(T));
        at_ += sizeof(T);
    }
    void operator()(std::vector<double>& values) {
        std::size_t size = 0;
        (*this)(size);
        values.resize(size);
        if (size != 0) std::memcpy(values.data(), text_.data() + at_, size * sizeof(double));
        at_ += size * sizeof(double);
    }

private:
    const std::string& text_;
    std::size_t at_ = 0;
};

template <class Visitor, class D>
void visit(Visitor& visitor, D& d) {
    visitor(d.rows);
    visitor(d.cols);
    visitor(d.values);
    visitor(d.rest_at_most);
    visitor(d.wanted);
    visitor(d.left);
    visitor(d.right);
    visitor(d.algorithm);
    visitor(d.trace);
    visitor(d.frobenius);
    visitor(d.row_sums);
    visitor(d.col_sums);
    visitor(d.col_squares);
    visitor(d.total);
    visitor(d.weight);
    visitor(d.passes);
    visitor(d.seconds);
    visitor(d.read_seconds);
}

}  // namespace

Decomposition decompose_exactly(Engine& engine, const MatrixFile& file, const Decision& decision) {
    std::string complaint;
    auto remedy = Refusal::Remedy::none;
    Writer writer;
    if (engine.is_first()) {
        try {
            const Decomposition result = decompose_here(file, decision);
            visit(writer, result);
        } catch (const Refusal& refusal) {
            complaint = refusal.what();
            remedy = refusal.remedy();
        } catch (const Error& error) {
            complaint = error.what();
        } catch (const std::bad_alloc&) {
            complaint =
                fmt::format("{} does not fit into memory as a whole: other algorithms read it in parts", file.name());
        }
    }
    complaint = engine.broadcast(complaint);
    if (!complaint.empty()) throw Refusal(complaint, engine.broadcast(remedy));
    const std::string text = engine.broadcast(std::move(writer).text());
    Reader reader(text);
    Decomposition result;
    visit(reader, result);
    return result;
}

}  // namespace tesela::mds
