#include "tesela/cli/map_options.hpp"

#include "tesela/base/error.hpp"
#include "tesela/cli/choice_option.hpp"
#include "tesela/cli/help_groups.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>

namespace tesela::cli {
namespace {

constexpr Names<geo::MapObservationsShown, 2> shown_names{
    {{geo::MapObservationsShown::show, "show"}, {geo::MapObservationsShown::hide, "hide"}}};

ColourMap palette(const std::string& name) { return parse_name(colour_map_names, name, "palette"); }

std::optional<ValueRange> limits(const std::string& option, const std::vector<double>& numbers) {
    if (numbers.empty()) return std::nullopt;
    if (numbers.size() != 2 || !std::isfinite(numbers[1] - numbers[0]) || numbers[0] >= numbers[1])
        throw Error("{} takes two numbers, the lower one first, as 4,8; it was given {}", option,
                    fmt::join(numbers, ","));
    return ValueRange{numbers[0], numbers[1]};
}

}  // namespace

void add_map_options(CLI::App& command, MapOptions& options) {
    auto* map = command.add_option("--map", options.file, "Also draw mean and standard deviation into this SVG file");
    rarely_used(
        command.add_option("--map-title", options.title, "Title of the map (default: the value's name, by kriging)")
            ->needs(map));
    rarely_used(allow_only(comma_separated(
                               command.add_option("--map-palette", options.palettes,
                                                  "Colours of the mean and, after a comma, of the standard deviation "
                                                  "(default: viridis,magma)")),
                           words_of(colour_map_names))
                    ->needs(map));
    rarely_used(comma_separated(
                    command.add_option("--map-limits", options.limits,
                                       "Values of the mean at the ends of the colours (default: all that is drawn)"))
                    ->needs(map)
                    ->type_name("LOW,HIGH"));
    rarely_used(comma_separated(command.add_option("--map-deviation-limits", options.deviation_limits,
                                                   "The same for the standard deviation"))
                    ->needs(map)
                    ->type_name("LOW,HIGH"));
    rarely_used(add_choice(command, "--map-observations", options.observations, shown_names,
                           "Whether the observations are drawn on the map")
                    ->needs(map));
}

void require_svg(const std::string& option, const std::string& file) {
    const std::filesystem::path path(file);
    std::string ending = path.extension().string();
    std::transform(ending.begin(), ending.end(), ending.begin(),
                   [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
    if (ending.empty() || ending == ".svg") return;
    const std::string svg = std::filesystem::path(path).replace_extension(".svg").string();
    throw Error("{} writes SVG pictures, and {} ends in {}: write {} and convert it, as with rsvg-convert {} -o {}",
                option, file, ending, svg, svg, file);
}

geo::PredictionMapOptions prediction_map(const MapOptions& options, const geo::FittedModel& fitted) {
    geo::PredictionMapOptions result{.metric = fitted.model.metric,
                                     .title = options.title,
                                     .mean_range = limits("--map-limits", options.limits),
                                     .deviation_range = limits("--map-deviation-limits", options.deviation_limits),
                                     .observations = options.observations};
    if (options.file.empty()) return result;
    require_svg("--map", options.file);
    geo::require_map_coordinates(fitted.observations.coordinates.size());
    if (options.palettes.size() > 2)
        throw Error("--map-palette takes one or two palettes; it was given {}", options.palettes.size());
    if (!options.palettes.empty()) result.mean_colours = palette(options.palettes.front());
    if (options.palettes.size() > 1) result.deviation_colours = palette(options.palettes.back());
    return result;
}

}  // namespace tesela::cli
