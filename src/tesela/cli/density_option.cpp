#include "tesela/cli/density_option.hpp"

#include "tesela/base/error.hpp"

#include <charconv>

namespace tesela::cli {

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

}  // namespace tesela::cli
