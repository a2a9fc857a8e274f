#include "tesela/mds/decomposition.hpp"

#include "tesela/base/digest.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/units.hpp"
#include "tesela/flow/engine.hpp"
#include "tesela/io/matrix_file.hpp"
#include "tesela/mds/internal/algorithms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

namespace tesela::mds {
namespace {

void require_square(const MatrixFile& file) {
    if (file.rows() == file.cols()) return;
    std::string why;
    for (const std::string& note : file.header().notes) why += "; " + note;
    throw Error("{} is not square: {} x {}, where distances between all points are needed{}", file.name(), file.rows(),
                file.cols(), why);
}

/// A name as make.names of R leaves it, which tables come back with: "Hook.of.Holland", "X2".
std::string plain(const std::string& name) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    const auto stays = [&](char c) {
        return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & '\x80') != 0;
    };
    std::string result = name.empty() || is_digit(name.front()) ? "X" : "";
    for (const char c : name) result += stays(c) ? c : '.';
    return result;
}

/// Whether labels are no names but count, from 0 or from 1: "0", "1", …, or "V1", "V2", …
bool count_up(const std::vector<std::string>& labels) {
    const std::string& first = labels.front();
    if (!first.ends_with('0') && !first.ends_with('1')) return false;
    const std::string prefix = first.substr(0, first.size() - 1);
    if (!prefix.empty() && prefix.back() >= '0' && prefix.back() <= '9') return false;  // "101" is no first number
    for (std::size_t k = 0; k < labels.size(); ++k)
        if (labels[k] != fmt::format("{}{}", prefix, k + (first.ends_with('1') ? 1 : 0))) return false;
    return true;
}

/// Row k and column k of distances are the same point, by their names too.
void require_same_names(const MatrixFile& file) {
    const std::vector<std::string>& rows = file.header().row_labels;
    const std::vector<std::string>& cols = file.header().col_labels;
    if (rows.empty() || cols.empty()) return;
    const auto [row, col] = std::ranges::mismatch(rows, cols, {}, plain, plain);
    if (row == rows.end()) return;
    const auto sorted = [](std::vector<std::string> names) {
        std::ranges::transform(names, names.begin(), plain);
        std::ranges::sort(names);
        return names;
    };
    const bool reordered = sorted(rows) == sorted(cols);
    if (!reordered && (count_up(rows) || count_up(cols))) return;
    throw Error("{}: row {} is called {} and column {} is called {}, but must be the same point{}", file.name(),
                row - rows.begin() + 1, *row, col - cols.begin() + 1, *col,
                reordered ? ": rows and columns have the same names in different orders" : "");
}

/// The begin of some rows, for a comparison of files; where they cannot be read, who reads all of them says so.
std::vector<double> some_elements(const MatrixFile& file) {
    constexpr Index most = 256;
    std::vector<double> found;
    for (const Index row : {Index{0}, file.rows() / 3, file.rows() / 2, file.rows() - 1}) {
        std::vector<double> values(static_cast<std::size_t>(std::min(most, file.cols())));
        const MatrixBlock block{.row = row, .rows = 1, .cols = std::ssize(values)};
        if (file.read(block, RowMajor<double>{values.data(), block.cols}).ok())
            found.insert(found.end(), values.begin(), values.end());
    }
    return found;
}

/// Every node must have opened the same matrix and be asked for the same.
std::uint64_t digest_of(const MatrixFile& file, const Decision& decision) {
    Digest digest;
    const std::vector<double> numbers{
        static_cast<double>(file.rows()),         static_cast<double>(file.cols()),
        static_cast<double>(decision.analysis),   static_cast<double>(decision.dimensions),
        decision.asked.explained.value_or(0),     static_cast<double>(decision.algorithm),
        static_cast<double>(decision.asked.seed), static_cast<double>(file.type())};
    digest.add(numbers);
    digest.add(decision.asked.row_weights);
    digest.add(some_elements(file));
    return digest.value();
}

/// Of one vector: 1, or -1 where it has to be turned.
double sign_of(std::span<const double> vector) {
    double largest = 0;
    for (const double x : vector) largest = std::max(largest, std::abs(x));
    for (const double x : vector)
        if (std::abs(x) >= (1 - 1e-6) * largest) return x < 0 ? -1 : 1;
    return 1;
}

}  // namespace

Index most_dimensions(Analysis analysis, Index rows, Index cols) {
    switch (analysis) {
        case Analysis::scaling: return rows - 1;
        case Analysis::components:
        case Analysis::scaled_components: return std::min(rows - 1, cols);
        case Analysis::correspondence: return std::min(rows, cols) - 1;
    }
    return 0;
}

void validate(const MatrixFile& file, Analysis analysis, const DecompositionOptions& options) {
    if (analysis == Analysis::scaling) {
        require_square(file);
        require_same_names(file);
    }
    check(options, facts_of(file, analysis));
}

double degrees_of_freedom(std::span<const double> weights, Index rows) {
    if (weights.empty()) return static_cast<double>(rows - 1);
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    const double squares = std::inner_product(weights.begin(), weights.end(), weights.begin(), 0.0);
    return sum - squares / sum;
}

void fix_signs(Decomposition& result) {
    const auto rows = static_cast<std::size_t>(result.rows);
    const auto cols = result.right.empty() ? std::size_t{0} : static_cast<std::size_t>(result.cols);
    for (std::size_t k = 0; k < static_cast<std::size_t>(result.wanted); ++k) {
        const std::span left(result.left.data() + k * rows, rows);
        if (sign_of(left) > 0) continue;
        for (double& x : left) x = -x;
        for (double& x : std::span(result.right.data() + k * cols, cols)) x = -x;
    }
}

namespace {

/// Throws Error where squares of a table's numbers are no numbers any more; of distances scale() knows.
void require_range(const MatrixFile& table, const Decomposition& d, Analysis analysis) {
    if (analysis == Analysis::scaling) return;
    const double largest = analysis == Analysis::correspondence ? d.total : d.values.empty() ? 0 : d.values.front();
    const bool overflows = std::ranges::any_of(d.col_squares, [](double sum) { return !std::isfinite(sum); });
    if (!overflows && (largest == 0 || std::isnormal(largest * largest))) return;
    throw Error("{}: numbers are too {} to be multiplied: give them in another unit", table.name(),
                !overflows && std::abs(largest) < 1 ? "small" : "large");
}

}  // namespace

Decision resolve_for(Stream& stream, const MatrixFile& file, Analysis analysis, const DecompositionOptions& request) {
    validate(file, analysis, request);
    return resolve(request, facts_of(file, analysis), machine_of(stream.engine()));
}

Decomposition decompose(Stream& stream, const MatrixFile& file, const Decision& decision) {
    validate(file, decision.analysis, decision.asked);
    Engine& engine = stream.engine();
    if (engine.node_count() > 1)  // the digest reads some of the file
        engine.require_alike("the matrix and what is asked of it", digest_of(file, decision));
    Decomposition found = decision.algorithm == Algorithm::exact ? decompose_exactly(engine, file, decision)
                                                                 : decompose_randomly(stream, file, decision);
    require_range(file, found, decision.analysis);
    return found;
}

Decomposition decompose(Stream& stream, const MatrixFile& file, Analysis analysis,
                        const DecompositionOptions& options) {
    return decompose(stream, file, resolve_for(stream, file, analysis, options));
}

}  // namespace tesela::mds
