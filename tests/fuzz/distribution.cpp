// Feeds bytes to the reader of distributions and measures what it accepts. Only tesela::Error may come out.

#include "require.hpp"
#include "tesela/base/error.hpp"
#include "tesela/distribution/catalogue.hpp"
#include "tesela/distribution/metrics.hpp"

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string_view>

namespace {

using namespace tesela;  // NOLINT(google-build-using-namespace): a program
using fuzz::require;

Distribution written_and_read(const Distribution& distribution) {
    return parse_distribution(nlohmann::json(distribution).dump(), "fuzz");
}

void use(const Distribution& distribution) {
    require(written_and_read(distribution) == distribution, "a distribution that is written reads back the same");
    const Distribution transposed = distribution.transposed();
    require(written_and_read(transposed).transposed() == distribution, "transposing twice changes nothing");
    const std::vector<Index> counts = tile_counts(distribution, Stored::full);
    require(std::accumulate(counts.begin(), counts.end(), Index{0}) == distribution.grid().count(),
            "every tile has one owner");
    (void)summarise_loads(node_loads(distribution, tile_weights({.density = full_density(distribution.grid())})));
    (void)nodes_per_row(distribution);
    (void)nodes_per_column(distribution);
    require(count_moves(distribution, distribution).moved == 0, "nothing moves to where it is");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Distribution distribution;
    try {
        distribution = parse_distribution(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
    } catch (const Error&) {
        return 0;  // What a damaged file must end in.
    }
    use(distribution);
    return 0;
}
