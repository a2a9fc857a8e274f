#include "tesela/cli/density_option.hpp"

#include "tesela/base/error.hpp"
#include "tesela/cli/output.hpp"
#include "tesela/trace/trace.hpp"

#include <charconv>
#include <filesystem>
#include <utility>

namespace tesela::cli {
namespace {

constexpr Index usual_tile = 960;

/// A trace and the matrix of it that is meant: after the last colon, unless that is part of a file's name.
struct NamedTrace {
    std::string file;
    std::string matrix;
};
NamedTrace split(const std::string& text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos || std::filesystem::exists(text)) return {text, ""};
    return {text.substr(0, colon), text.substr(colon + 1)};
}

TracedRanks ranks_in(const NamedTrace& named) {
    return ranks_of_matrix(read_trace_with_warnings("tesela", named.file), named.matrix, named.file);
}

RankMap ranks_of_density(const TileMap& density, Index tile) {
    const RankModel model = ranks_from_density(density, tile);
    RankMap map{.grid = density.grid(), .ranks = {}};
    for (Index i = 0; i < map.grid.rows; ++i)
        for (Index j = 0; j < map.grid.cols; ++j) map.ranks.push_back(model.rank("", {i, j}));
    return map;
}

}  // namespace

CLI::Option* add_ranks_option(CLI::App& command, std::string& ranks) {
    return command
        .add_option("--ranks", ranks,
                    "Trace of a run with compressed tiles (--method tlr --trace) to take the ranks of tiles from; "
                    "TRACE:MATRIX where several matrices are compressed")
        ->type_name("TRACE");
}

void add_density_options(CLI::App& command, DensityOptions& options) {
    auto* density = command
                        .add_option("--density", options.density,
                                    "What the tiles hold: dense, or synthetic:DELTA (paper 001's low-rank generator)")
                        ->capture_default_str();
    add_ranks_option(command, options.ranks)->excludes(density);
}

Index tile_of_ranks(const std::string& text) { return ranks_in(split(text)).tiling.rows(0); }

TracedRanks read_ranks(const std::string& text, const RanksUse& use) {
    const NamedTrace named = split(text);
    TracedRanks ranks = ranks_in(named);
    const GridSize grid = ranks.tiling.grid();
    if (grid != GridSize{use.tiles, use.tiles})
        throw Error("the ranks of {} in {} are of {} x {} tiles, and {} x {} are asked for", ranks.matrix, named.file,
                    grid.rows, grid.cols, use.tiles, use.tiles);
    if (use.tile && *use.tile != ranks.tiling.rows(0))
        throw Error("the ranks of {} in {} are of tiles of {} rows, and --tile is {}", ranks.matrix, named.file,
                    ranks.tiling.rows(0), *use.tile);
    if (stored_tiles(use.operation) == Stored::full && ranks.stored == Stored::lower && grid.rows > 1)
        throw Error("{} has ranks of the lower triangle of {} alone, and {} works on all tiles", named.file,
                    ranks.matrix, name_in(operation_names, use.operation));
    return ranks;
}

TileMap parse_density(const std::string& text, Index tiles, std::uint64_t seed) {
    if (tiles < 1) throw Error("--tiles must be at least 1; it is {}", tiles);
    if (text == "dense") return full_density({tiles, tiles});
    const std::string prefix = "synthetic:";
    if (text.starts_with(prefix)) {
        SyntheticDensity synthetic{.seed = seed};
        const char* end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data() + prefix.size(), end, synthetic.delta);
        if (error == std::errc{} && stop == end && synthetic.delta >= 0) return synthetic_density(tiles, synthetic);
    }
    throw Error("--density must be dense or synthetic:DELTA, as synthetic:8; it is \"{}\"", text);
}

TileContents tile_contents(const DensityOptions& options, const RanksUse& use, std::uint64_t seed) {
    if (options.ranks.empty()) {
        TileContents contents{.density = parse_density(options.density, use.tiles, seed),
                              .ranks = {},
                              .tile = use.tile.value_or(usual_tile)};
        contents.ranks = ranks_of_density(contents.density, contents.tile);
        return contents;
    }
    TracedRanks ranks = read_ranks(options.ranks, use);
    return {.density = density_of_ranks(ranks.last, ranks.tiling),
            .ranks = std::move(ranks.last),
            .tile = ranks.tiling.rows(0)};
}

}  // namespace tesela::cli
