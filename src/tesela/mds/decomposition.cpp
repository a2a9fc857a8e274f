#include "tesela/mds/decomposition.hpp"

#include "tesela/base/digest.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/units.hpp"
#include "tesela/flow/engine.hpp"
#include "tesela/io/matrix_file.hpp"

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

void require_weights(const MatrixFile& file, Analysis analysis, const std::vector<double>& weights) {
    if (weights.empty()) return;
    if (analysis == Analysis::correspondence)
        throw Error("correspondence analysis takes no weights: the masses of {} are its margins", file.name());
    if (static_cast<Index>(weights.size()) != file.rows())
        throw Error("there {} {} weight{} for the {} rows of {}", weights.size() == 1 ? "is" : "are", weights.size(),
                    plural(weights.size()), file.rows(), file.name());
    const auto bad = std::ranges::find_if_not(weights, [](double w) { return std::isfinite(w) && w > 0; });
    if (bad != weights.end())
        throw Error("weight {} is {}, where a number above 0 is needed", bad - weights.begin() + 1, *bad);
    const auto [least, most] = std::ranges::minmax(weights);
    if (most > 1e15 * least)
        throw Error("weights go from {} to {}: beside the largest the smallest is less than rounding", least, most);
}

void require_dimensions(const MatrixFile& file, Analysis analysis, const DecompositionOptions& options) {
    const Index most = most_dimensions(analysis, file.rows(), file.cols());
    if (most < 1) throw Error("{} is {} x {}: too small to be analysed", file.name(), file.rows(), file.cols());
    if (options.dimensions < 1 || options.dimensions > most)
        throw Error("{} is {} x {} and has 1 to {} dimensions, not {}", file.name(), file.rows(), file.cols(), most,
                    options.dimensions);
    if (options.explained && !(*options.explained > 0 && *options.explained <= 1))
        throw Error("the explained part of the variance is above 0 and at most 1, not {}", *options.explained);
}

void require_owners(const MatrixFile& file, const DecompositionOptions& options) {
    if (!options.owners) return;
    if (chosen_algorithm(options.algorithm, file.rows(), file.cols()) == Algorithm::exact)
        throw Error(
            "{} is {} x {}, which LAPACK decomposes on one node: owners of its tiles are for algorithms that stream "
            "it, "
            "krylov and power",
            file.name(), file.rows(), file.cols());
    if (options.tile < 1) throw Error("owners of tiles need the size of these");
    if (options.memory > 0)
        throw Error("owners keep all tiles of {}: memory for a part of them cannot be given too", file.name());
    const GridSize tiles = Tiling::uniform({file.rows(), file.cols()}, {options.tile, options.tile}).grid();
    for (const Distribution* owners : {&options.owners->read, &options.owners->compute})
        if (owners->grid() != tiles)
            throw Error("{} has {} x {} tiles of {}, and owners are for {} x {}", file.name(), tiles.rows, tiles.cols,
                        options.tile, owners->grid().rows, owners->grid().cols);
}

/// The smallest tiles that are not too many.
Index least_tile(Analysis analysis, GridSize size) {
    Index low = 1;
    Index high = std::max(size.rows, size.cols);
    while (low < high) {
        const Index middle = low + (high - low) / 2;
        if (tile_count(analysis, size, middle) > most_tiles)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void require_few_tiles(const MatrixFile& file, Analysis analysis, const DecompositionOptions& options) {
    const GridSize size{file.rows(), file.cols()};
    if (options.tile < 1 || chosen_algorithm(options.algorithm, size.rows, size.cols) == Algorithm::exact) return;
    const Index count = tile_count(analysis, size, options.tile);
    if (count > most_tiles)
        throw Error("{} would be {} tiles of size {}, and at most {} are taken: give --tile {} or more, or --tile auto",
                    file.name(), count, options.tile, most_tiles, least_tile(analysis, size));
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
std::uint64_t digest_of(const MatrixFile& file, Analysis analysis, const DecompositionOptions& options) {
    Digest digest;
    const std::vector<double> numbers{static_cast<double>(file.rows()),  static_cast<double>(file.cols()),
                                      static_cast<double>(analysis),     static_cast<double>(options.dimensions),
                                      options.explained.value_or(0),     static_cast<double>(options.algorithm),
                                      static_cast<double>(options.seed), static_cast<double>(file.type())};
    digest.add(numbers);
    digest.add(options.row_weights);
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

Algorithm chosen_algorithm(Algorithm asked, Index rows, Index cols) {
    if (asked != Algorithm::automatic) return asked;
    const bool small = std::min(rows, cols) <= largest_exact && rows * cols <= largest_exact_elements;
    return small ? Algorithm::exact : Algorithm::krylov;
}

Index automatic_tile(Index length, Index workers) {
    constexpr Index least = 96;
    constexpr Index most = 512;
    const Index rows = 4 * std::max<Index>(2, workers);
    return std::min(length, std::clamp(ceil_div(length, rows), least, most));
}

Index tile_count(Analysis analysis, GridSize size, Index tile) {
    const GridSize tiles{ceil_div(size.rows, tile), ceil_div(size.cols, tile)};
    return analysis == Analysis::scaling ? tiles.rows * (tiles.rows + 1) / 2 : tiles.count();
}

void validate(const MatrixFile& file, Analysis analysis, const DecompositionOptions& options) {
    if (analysis == Analysis::scaling) {
        require_square(file);
        require_same_names(file);
    }
    require_dimensions(file, analysis, options);
    require_weights(file, analysis, options.row_weights);
    require_few_tiles(file, analysis, options);
    require_owners(file, options);
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

Decomposition decompose(Engine& engine, const MatrixFile& file, Analysis analysis,
                        const DecompositionOptions& options) {
    validate(file, analysis, options);
    if (engine.node_count() > 1)  // the digest reads some of the file
        engine.require_alike("the matrix and what is asked of it", digest_of(file, analysis, options));
    const bool exactly = chosen_algorithm(options.algorithm, file.rows(), file.cols()) == Algorithm::exact;
    Decomposition found = exactly ? decompose_exactly(engine, file, analysis, options)
                                  : decompose_randomly(engine, file, analysis, options);
    require_range(file, found, analysis);
    return found;
}

}  // namespace tesela::mds
