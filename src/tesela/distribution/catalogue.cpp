#include "tesela/distribution/catalogue.hpp"

#include "tesela/base/error.hpp"
#include "tesela/distribution/band.hpp"
#include "tesela/distribution/extended_block_cyclic.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/distribution/generation.hpp"
#include "tesela/distribution/hybrid.hpp"
#include "tesela/distribution/metrics.hpp"
#include "tesela/distribution/powers.hpp"
#include "tesela/distribution/random_subsets.hpp"
#include "tesela/distribution/symmetric_block_cyclic.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <limits>
#include <sstream>
#include <utility>

namespace tesela {
namespace {

/// A family's name and arguments, with the whole text for complaints.
struct Named {
    std::string_view family;
    std::string_view arguments;
    std::string_view whole;
};

Named split(std::string_view text) {
    const auto colon = text.find(':');
    return {.family = text.substr(0, colon),
            .arguments = colon == std::string_view::npos ? "" : text.substr(colon + 1),
            .whole = text};
}

template <class Number>
Number parse(std::string_view text, const Named& named) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size())
        throw Error("the distribution \"{}\" has \"{}\" where a number is needed", named.whole, text);
    return value;
}

void no_arguments(const Named& named) {
    if (!named.arguments.empty()) throw Error("the distribution \"{}\" takes no arguments", named.family);
}

double alpha_of(const Named& named, const DistributionRequest& request) {
    return named.arguments.empty() ? request.alpha : parse<double>(named.arguments, named);
}

std::vector<double> powers_of(const Named& named, const DistributionRequest& request) {
    std::vector<double> powers = request.powers;
    if (!named.arguments.empty()) {
        powers.clear();
        for (std::string_view rest = named.arguments;;) {
            const auto comma = rest.find(',');
            powers.push_back(parse<double>(rest.substr(0, comma), named));
            if (comma == std::string_view::npos) break;
            rest.remove_prefix(comma + 1);
        }
    }
    if (powers.empty()) powers.assign(static_cast<std::size_t>(request.nodes), 1);
    if (static_cast<Index>(powers.size()) != request.nodes)
        throw Error("the distribution \"{}\" has {} powers; there are {} nodes", named.whole, powers.size(),
                    request.nodes);
    return powers;
}

GridSize grid_of(const DistributionRequest& request) { return request.workload.density.grid(); }

Distribution make_block_cyclic(const Named& named, const DistributionRequest& request) {
    if (named.arguments.empty()) return squarest_block_cyclic(grid_of(request), request.nodes);
    if (named.arguments == "rule") return rule_block_cyclic(grid_of(request), request.nodes);
    const auto cross = named.arguments.find('x');
    if (cross == std::string_view::npos)
        throw Error("the distribution \"{}\" needs a grid such as block_cyclic:2x3", named.whole);
    const BlockCyclic grid{.p = parse<Index>(named.arguments.substr(0, cross), named),
                           .q = parse<Index>(named.arguments.substr(cross + 1), named)};
    if (grid.p * grid.q != request.nodes)
        throw Error("the grid of \"{}\" is for {} nodes; the number of nodes is {}", named.whole, grid.p * grid.q,
                    request.nodes);
    return block_cyclic(grid_of(request), grid);
}

Distribution make_bce(const Named& named, const DistributionRequest& request) {
    const TileMap weights = tile_weights(request.workload);
    const auto cross = named.arguments.find('x');
    if (cross == std::string_view::npos)
        return extended_block_cyclic(
            weights, {.nodes = request.nodes, .alpha = alpha_of(named, request), .powers = request.powers});
    const auto slash = named.arguments.find('/', cross);
    const GridSize pattern{parse<Index>(named.arguments.substr(0, cross), named),
                           parse<Index>(named.arguments.substr(cross + 1, slash - cross - 1), named)};
    std::optional<Index> used;
    if (slash != std::string_view::npos) used = parse<Index>(named.arguments.substr(slash + 1), named);
    return extended_block_cyclic(
        weights,
        {.nodes = request.nodes, .alpha = request.alpha, .pattern = pattern, .powers = request.powers, .used = used});
}

Distribution make_rs(const Named& named, const DistributionRequest& request) {
    return random_subsets(
        tile_weights(request.workload),
        {.nodes = request.nodes, .alpha = alpha_of(named, request), .seed = request.seed, .powers = request.powers});
}

Distribution make_hybrid(const Named& named, const DistributionRequest& request) {
    return hybrid_pattern(request.workload,
                          {.nodes = request.nodes, .alpha = alpha_of(named, request), .powers = request.powers});
}

Distribution make_best(const Named& named, const DistributionRequest& request) {
    DistributionRequest with_alpha = request;
    with_alpha.alpha = alpha_of(named, request);
    const std::array<std::string, 3> of_paper_001{"block_cyclic:rule", "bce", "rs"};
    return best_of(of_paper_001, with_alpha).distribution;
}

Distribution make_1d(const Named& named, const DistributionRequest& request) {
    return one_dimensional(grid_of(request), powers_of(named, request));
}

Distribution make_constrained_1d(const Named& named, const DistributionRequest& request) {
    no_arguments(named);
    if (!request.rows)
        throw Error(
            "1d_constrained needs to know when rows are ready and how long they take: tesela plan mds makes it");
    return constrained_one_dimensional(grid_of(request), powers_of(named, request), *request.rows);
}

Distribution make_1d1d(const Named& named, const DistributionRequest& request) {
    return one_d_one_d(grid_of(request), powers_of(named, request));
}

bool has_triangle(const DistributionRequest& request) {
    const GridSize grid = grid_of(request);
    return stored_tiles(request.workload.operation) == Stored::lower && grid.rows == grid.cols;
}

Distribution make_1d1d_triangle(const Named& named, const DistributionRequest& request) {
    if (!has_triangle(request))
        throw Error("1d1d_triangle is for Cholesky, which works on the lower triangle; 1d1d is for all tiles");
    return one_d_one_d_triangle(grid_of(request).rows, powers_of(named, request));
}

Distribution make_constrained(const Named& named, const DistributionRequest& request) {
    no_arguments(named);
    if (!request.steps)
        throw Error(
            "1d1d_constrained needs a platform: tesela dist make 1d1d_constrained --platform FILE -o d.json writes a "
            "file "
            "that --dist takes");
    return constrained_one_d_one_d(tile_weights(request.workload), *request.steps);
}

Distribution make_band(const Named& named, const DistributionRequest& request) {
    const Index width = named.arguments.empty() ? 1 : parse<Index>(named.arguments, named);
    return band_hybrid(grid_of(request), request.nodes, width);
}

Distribution make_sbc(const Named& named, const DistributionRequest& request) {
    no_arguments(named);
    if (!Powers(request.nodes, request.powers).equal())
        throw Error("sbc is for nodes of equal power, and these differ; 1d1d, bce and hybrid are for unequal ones");
    return symmetric_block_cyclic(grid_of(request), request.nodes);
}

Distribution make_random(const Named& named, const DistributionRequest& request) {
    const auto seed = named.arguments.empty() ? request.seed : parse<std::uint64_t>(named.arguments, named);
    return random_distribution(grid_of(request), request.nodes, seed);
}

struct Family {
    std::string_view name;
    Distribution (*make)(const Named&, const DistributionRequest&);
};

constexpr std::array families{Family{"block_cyclic", make_block_cyclic},
                              Family{"bce", make_bce},
                              Family{"rs", make_rs},
                              Family{"hybrid", make_hybrid},
                              Family{"best", make_best},
                              Family{"1d", make_1d},
                              Family{"1d_constrained", make_constrained_1d},
                              Family{"1d1d", make_1d1d},
                              Family{"1d1d_triangle", make_1d1d_triangle},
                              Family{"1d1d_constrained", make_constrained},
                              Family{"band", make_band},
                              Family{"sbc", make_sbc},
                              Family{"random", make_random}};

Distribution from_file(const std::string& path, const DistributionRequest& request) {
    Distribution distribution = read_distribution(path);
    const GridSize grid = distribution.grid(), wanted = grid_of(request);
    if (grid != wanted || distribution.nodes() != request.nodes)
        throw Error("{} is a distribution for {}x{} tiles on {} nodes; one for {}x{} tiles on {} nodes is needed here",
                    path, grid.rows, grid.cols, distribution.nodes(), wanted.rows, wanted.cols, request.nodes);
    return distribution;
}

std::string known_families() {
    std::string names;
    for (const auto& family : families) names += fmt::format("{}{}", names.empty() ? "" : ", ", family.name);
    return names;
}

}  // namespace

Distribution make_family(std::string_view text, const DistributionRequest& request) {
    if (text.ends_with(".json")) return from_file(std::string(text), request);
    const Named named = split(text);
    const auto found = std::ranges::find(families, named.family, &Family::name);
    if (found == families.end())
        throw Error("\"{}\" is not a family of distributions; there are {}, and files that end in .json", text,
                    known_families());
    return found->make(named, request);
}

std::string usual_family(const DistributionRequest& request) {
    if (std::ranges::all_of(request.powers, [&](double power) { return power == request.powers.front(); }))
        return "block_cyclic";
    return stored_tiles(request.workload.operation) == Stored::lower ? "1d1d_triangle" : "1d1d";
}

Distribution make_distribution(std::string_view text, GridSize tiles, Index nodes, Operation operation) {
    return make_family(text, {.workload = {.operation = operation, .density = full_density(tiles)}, .nodes = nodes});
}

std::vector<std::string> families_for(const DistributionRequest& request) {
    std::vector<std::string> names{"block_cyclic:rule", "block_cyclic", "bce", "rs", "hybrid", "1d", "1d1d"};
    if (has_triangle(request)) names.emplace_back("1d1d_triangle");
    if (request.steps) names.emplace_back("1d1d_constrained");
    names.emplace_back("band");
    if (fits_symmetric_block_cyclic(request.nodes) && Powers(request.nodes, request.powers).equal())
        names.emplace_back("sbc");
    names.emplace_back("random");
    return names;
}

BestOf best_of(std::span<const std::string> names, const DistributionRequest& request) {
    const TileMap weights = tile_weights(request.workload);
    BestOf best;
    double least = std::numeric_limits<double>::infinity();
    for (const auto& name : names) {
        Distribution distribution = make_family(name, request);
        const double load = summarise_loads(node_loads(distribution, weights), request.powers).max_over_ideal;
        if (load >= least) continue;
        least = load;
        best = {name, std::move(distribution)};
    }
    if (best.family.empty()) throw Error("the best of no families does not exist");
    return best;
}

Distribution read_distribution(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw Error("the distribution {} cannot be opened", path);
    std::ostringstream text;
    text << file.rdbuf();
    return parse_distribution(text.str(), path);
}

Distribution parse_distribution(std::string_view text, const std::string& file) {
    try {
        return nlohmann::json::parse(text).get<Distribution>();
    } catch (const nlohmann::json::exception&) {
        throw Error("{} is not a distribution that tesela dist wrote", file);
    } catch (const Error& error) {
        throw Error("{}: {}", file, error.what());
    }
}

}  // namespace tesela
