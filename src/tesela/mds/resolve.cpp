#include "tesela/mds/resolve.hpp"

#include "tesela/base/units.hpp"
#include "tesela/distribution/heterogeneous.hpp"
#include "tesela/io/matrix_file.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tesela::mds {
namespace {

Algorithm chosen_algorithm(Algorithm asked, GridSize size) {
    if (asked != Algorithm::automatic) return asked;
    const bool small = std::min(size.rows, size.cols) <= largest_exact && size.count() <= largest_exact_elements;
    return small ? Algorithm::exact : Algorithm::krylov;
}

AlgorithmReason reason_for(Algorithm asked, Algorithm chosen) {
    if (asked != Algorithm::automatic) return AlgorithmReason::asked_for;
    return chosen == Algorithm::exact ? AlgorithmReason::small_enough : AlgorithmReason::too_large;
}

Index automatic_tile(Index length, Index workers) {
    constexpr Index least = 96;
    constexpr Index most = 512;
    const Index rows = 4 * std::max<Index>(2, workers);
    return std::min(length, std::clamp(ceil_div(length, rows), least, most));
}

/// Of distances those of the lower triangle.
Index tile_count(const MatrixFacts& facts, Index tile) {
    const GridSize tiles{ceil_div(facts.size.rows, tile), ceil_div(facts.size.cols, tile)};
    return facts.analysis == Analysis::scaling ? tiles.rows * (tiles.rows + 1) / 2 : tiles.count();
}

void require_weights(const std::vector<double>& weights, const MatrixFacts& facts) {
    if (weights.empty()) return;
    if (facts.analysis == Analysis::correspondence)
        throw Error("correspondence analysis takes no weights: the masses of {} are its margins", facts.name);
    if (static_cast<Index>(weights.size()) != facts.size.rows)
        throw Error("there {} {} weight{} for the {} rows of {}", weights.size() == 1 ? "is" : "are", weights.size(),
                    plural(weights.size()), facts.size.rows, facts.name);
    const auto bad = std::ranges::find_if_not(weights, [](double w) { return std::isfinite(w) && w > 0; });
    if (bad != weights.end())
        throw Error("weight {} is {}, where a number above 0 is needed", bad - weights.begin() + 1, *bad);
    const auto [least, most] = std::ranges::minmax(weights);
    if (most > 1e15 * least)
        throw Error("weights go from {} to {}: beside the largest the smallest is less than rounding", least, most);
}

void require_dimensions(const DecompositionOptions& request, const MatrixFacts& facts) {
    const Index most = most_dimensions(facts.analysis, facts.size.rows, facts.size.cols);
    if (most < 1) throw Error("{} is {} x {}: too small to be analysed", facts.name, facts.size.rows, facts.size.cols);
    if (request.dimensions && (*request.dimensions < 1 || *request.dimensions > most))
        throw Error("{} is {} x {} and has 1 to {} dimensions, not {}", facts.name, facts.size.rows, facts.size.cols,
                    most, *request.dimensions);
    if (request.explained && !(*request.explained > 0 && *request.explained <= 1))
        throw Error("the explained part of the variance is above 0 and at most 1, not {}", *request.explained);
}

void require_owners(const DecompositionOptions& request, const MatrixFacts& facts) {
    if (!request.owners) return;
    if (chosen_algorithm(request.algorithm, facts.size) == Algorithm::exact)
        throw Error(
            "{} is {} x {}, which LAPACK decomposes on one node: owners of its tiles are for algorithms that stream "
            "it, krylov and power",
            facts.name, facts.size.rows, facts.size.cols);
    if (request.tile < 1) throw Error("owners of tiles need the size of these");
    if (request.memory > 0)
        throw Error("owners keep all tiles of {}: memory for a part of them cannot be given too", facts.name);
    const GridSize tiles = Tiling::uniform({facts.size.rows, facts.size.cols}, {request.tile, request.tile}).grid();
    for (const Distribution* owners : {&request.owners->read, &request.owners->compute})
        if (owners->grid() != tiles)
            throw Error("{} has {} x {} tiles of {}, and owners are for {} x {}", facts.name, tiles.rows, tiles.cols,
                        request.tile, owners->grid().rows, owners->grid().cols);
}

/// The smallest tiles that are not too many.
Index least_tile(const MatrixFacts& facts) {
    Index low = 1;
    Index high = std::max(facts.size.rows, facts.size.cols);
    while (low < high) {
        const Index middle = low + (high - low) / 2;
        if (tile_count(facts, middle) > most_tiles)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void require_few_tiles(const DecompositionOptions& request, const MatrixFacts& facts) {
    if (request.tile < 1 || chosen_algorithm(request.algorithm, facts.size) == Algorithm::exact) return;
    const Index count = tile_count(facts, request.tile);
    if (count > most_tiles)
        throw Refusal(fmt::format("{} would be {} tiles of size {}, and at most {} are taken", facts.name, count,
                                  request.tile, most_tiles),
                      Refusal::Remedy::larger_tiles, least_tile(facts));
}

/// LAPACK counts in 32 bits, also what it needs to work in: some three times the square of the smaller side.
void require_size(const DecompositionOptions& request, const MatrixFacts& facts) {
    constexpr Index most = 20000;
    constexpr Index most_of_one_side = std::numeric_limits<int>::max() / 64;
    if (chosen_algorithm(request.algorithm, facts.size) != Algorithm::exact) return;
    const auto [smaller, larger] = std::minmax(facts.size.rows, facts.size.cols);
    if (smaller > most || larger > most_of_one_side)
        throw Error("{} is {} x {}, which is more than LAPACK takes: other algorithms read it in parts", facts.name,
                    facts.size.rows, facts.size.cols);
}

void require_parts(const DecompositionOptions& request, const MatrixFacts& facts) {
    if (request.memory > 0 && request.overlap < StreamingStep::split_gram &&
        chosen_algorithm(request.algorithm, facts.size) != Algorithm::exact)
        throw Error(
            "memory for a part of {} needs the step {} or a later one: those before it centre the matrix itself",
            facts.name, name_in(streaming_step_names, StreamingStep::split_gram));
}

Index dimensions_of(const DecompositionOptions& request, const MatrixFacts& facts, Algorithm algorithm) {
    const Index most = most_dimensions(facts.analysis, facts.size.rows, facts.size.cols);
    if (request.dimensions) return *request.dimensions;
    if (!request.explained) return std::min<Index>(most, 2);
    return algorithm == Algorithm::exact ? most : std::min(most, most_explaining);
}

/// Columns of a block: those wanted and some more; all, where few are left.
Index block_width(const DecompositionOptions& request, Index dimensions, GridSize size) {
    const Index wanted = request.explained ? std::min<Index>(dimensions, 10) : dimensions;
    const Index columns = std::min({wanted + request.oversampling, size.rows, size.cols});
    return 2 * columns > size.cols ? size.cols : columns;
}

TileOwners owners_of(const DecompositionOptions& request, GridSize tiles, Index nodes) {
    Distribution compute = request.owners
                               ? request.owners->compute
                               : one_dimensional(tiles, std::vector<double>(static_cast<std::size_t>(nodes), 1.0));
    Distribution read = request.owners && request.overlap >= StreamingStep::read_order
                            ? request.owners->read
                            : read_owners(request.overlap, compute);
    return {.read = std::move(read), .compute = std::move(compute)};
}

/// Bytes of rows of tiles, as they are read and as they are kept.
struct RowBytes {
    double read = 0;
    double kept = 0;
};

/// Panels as wide as the file, but not beyond what is read in some tens of milliseconds.
void choose_panels(const DecompositionOptions& request, double of_tile, RowBytes row, StreamingDecision& chosen) {
    constexpr double largest_panel = 64e6;
    const Index tiles = chosen.tiling.grid().cols;
    chosen.panel_tiles = std::clamp<Index>(static_cast<Index>(largest_panel / of_tile), 1, tiles);
    const Index in_row = ceil_div(tiles, chosen.panel_tiles);
    chosen.slots = std::max<Index>(2, (request.readers + 1 + in_row) / in_row);
    if (request.memory <= 0) return;
    // A quarter of it at most for what passes by: panels that are being read, and rows in use.
    const double quarter = request.memory / 4;
    chosen.slots = std::clamp<Index>(static_cast<Index>(quarter / row.read), 1, chosen.slots);
    chosen.passing_rows = std::clamp<Index>(static_cast<Index>(quarter / row.kept), 1, 2);
}

/// As many rows of tiles as there is memory for, from the last on.
void choose_residents(const DecompositionOptions& request, const MatrixFacts& facts, RowBytes row,
                      StreamingDecision& chosen) {
    const Tiling& tiling = chosen.tiling;
    const double panels = static_cast<double>(chosen.slots) * row.read;
    const double passing = static_cast<double>(chosen.passing_rows) * row.kept;
    const auto nodes = static_cast<double>(chosen.owners.compute.nodes());
    const bool half = facts.analysis == Analysis::scaling;
    double left = request.memory - panels - passing;
    chosen.resident_rows = 0;
    chosen.bytes = panels;
    for (Index i = tiling.grid().rows - 1; i >= 0; --i, ++chosen.resident_rows) {
        const Index cols = half ? tiling.col_begin(i + 1) : facts.size.cols;
        const double bytes = static_cast<double>(tiling.rows(i)) * static_cast<double>(cols) * 8 / nodes;
        left -= bytes;
        if (request.memory > 0 && left < 0) break;
        chosen.bytes += bytes;
    }
    if (chosen.resident_rows < tiling.grid().rows) chosen.bytes += passing;
}

StreamingDecision streaming(const DecompositionOptions& request, const MatrixFacts& facts, const Machine& machine) {
    const auto tile = [&](Index length) {
        return request.tile > 0 ? std::min(request.tile, length) : automatic_tile(length, machine.total_workers());
    };
    const GridSize size = facts.size;
    const Index rows = tile(size.rows);
    StreamingDecision chosen{.tiling = Tiling::uniform({size.rows, size.cols}, {rows, tile(size.cols)}), .owners = {}};
    chosen.owners = owners_of(request, chosen.tiling.grid(), machine.nodes());
    const double element = facts.elements == ElementType::f32 ? 4 : 8;
    const double of_row = static_cast<double>(rows) * static_cast<double>(size.cols);
    const double of_tile = static_cast<double>(rows) * static_cast<double>(chosen.tiling.cols(0));
    const RowBytes row{.read = of_row * element, .kept = of_row * 8};
    choose_panels(request, of_tile * element, row, chosen);
    choose_residents(request, facts, row, chosen);
    return chosen;
}

/// Where tiles are smaller than would be chosen, and very many.
std::optional<ManyTiles> many_tiles_of(Index tile, const MatrixFacts& facts, const Machine& machine) {
    const Index chosen = automatic_tile(std::max(facts.size.rows, facts.size.cols), machine.total_workers());
    if (tile < 1 || tile >= chosen || tile_count(facts, tile) <= many_tiles) return {};
    const Index count = tile_count(facts, tile);
    return ManyTiles{.tiles = count,
                     .bytes = static_cast<double>(count) * bytes_per_tile,
                     .chosen_size = chosen,
                     .chosen_tiles = tile_count(facts, chosen)};
}

}  // namespace

MatrixFacts facts_of(const MatrixFile& file, Analysis analysis) {
    return {.name = file.name(),
            .analysis = analysis,
            .size = {file.rows(), file.cols()},
            .elements = file.type() == StoredType::float32 ? ElementType::f32 : ElementType::f64};
}

void check(const DecompositionOptions& request, const MatrixFacts& facts) {
    require_dimensions(request, facts);
    require_weights(request.row_weights, facts);
    require_few_tiles(request, facts);
    require_owners(request, facts);
    require_parts(request, facts);
    require_size(request, facts);
}

Decision resolve(const DecompositionOptions& request, const MatrixFacts& facts, const Machine& machine) {
    check(request, facts);
    Decision decision(request, facts.analysis);
    decision.algorithm = chosen_algorithm(request.algorithm, facts.size);
    decision.reason = reason_for(request.algorithm, decision.algorithm);
    decision.dimensions = dimensions_of(request, facts, decision.algorithm);
    if (decision.algorithm == Algorithm::exact) return decision;
    decision.streaming = streaming(request, facts, machine);
    decision.streaming->columns = block_width(request, decision.dimensions, facts.size);
    decision.many_tiles = many_tiles_of(request.tile, facts, machine);
    return decision;
}

}  // namespace tesela::mds
