#include "tesela/geo/degrees.hpp"

#include "tesela/base/error.hpp"
#include "tesela/io/input_file.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

namespace tesela::geo {
namespace {

/// An angle by the name and the range that it has.
struct Angle {
    std::string_view name;
    double lower;
    double upper;
    [[nodiscard]] bool holds(double degrees) const { return degrees >= lower && degrees <= upper; }
    [[nodiscard]] bool holds(const std::vector<double>& column) const {
        return std::all_of(column.begin(), column.end(), [this](double x) { return holds(x); });
    }
};
constexpr Angle longitude{"longitude", -180, 360};
constexpr Angle latitude{"latitude", -90, 90};

bool begins_with(std::string_view text, std::string_view word) {
    const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
    return text.size() >= word.size() &&
           std::equal(word.begin(), word.end(), text.begin(), [&](char w, char t) { return same(t, w); });
}
bool is_called_longitude(std::string_view name) { return begins_with(name, "lon") || begins_with(name, "lng"); }
bool is_called_latitude(std::string_view name) { return begins_with(name, "lat"); }

/// "longitude comes first: --coords lon,lat", with the names the other way round where that would fit.
std::string right_order(const CoordinateColumns& c) {
    const bool exchanged = latitude.holds(c.columns[0]) && longitude.holds(c.columns[1]);
    return exchanged ? fmt::format("longitude comes first: --coords {},{}", c.names[1], c.names[0])
                     : "longitude comes first, as in --coords lon,lat";
}

void require(const Angle& angle, const CoordinateColumns& c, std::size_t column) {
    for (std::size_t i = 0; i < c.columns[column].size(); ++i)
        if (const double degrees = c.columns[column][i]; !angle.holds(degrees))
            throw Error("{}, line {}, column {}: {} is not a {}, which is in [{}, {}]; {}", in_quotes(c.file),
                        c.lines[i], in_quotes(c.names[column]), degrees, angle.name, angle.lower, angle.upper,
                        right_order(c));
}

}  // namespace

void require_degrees(Metric metric, const CoordinateColumns& coordinates) {
    if (metric == Metric::euclidean || coordinates.columns.size() != 2) return;
    require(latitude, coordinates, 1);
    require(longitude, coordinates, 0);
    if (is_called_latitude(coordinates.names[0]) && is_called_longitude(coordinates.names[1]))
        throw Error("the coordinates {} and {} are in the wrong order for {} distances; {}",
                    in_quotes(coordinates.names[0]), in_quotes(coordinates.names[1]), name(metric),
                    right_order(coordinates));
}

std::string explain_euclidean_degrees(Metric metric, const CoordinateColumns& coordinates) {
    if (metric != Metric::euclidean || coordinates.columns.size() != 2) return {};
    std::optional<std::size_t> lon;
    if (is_called_longitude(coordinates.names[0]) && is_called_latitude(coordinates.names[1])) lon = 0;
    if (is_called_latitude(coordinates.names[0]) && is_called_longitude(coordinates.names[1])) lon = 1;
    if (!lon || !longitude.holds(coordinates.columns[*lon]) || !latitude.holds(coordinates.columns[1 - *lon]))
        return {};
    return fmt::format(
        "{} and {} look like degrees, but distances are euclidean, as if a degree were as long everywhere and in both "
        "directions: for distances on the Earth in km give --metric chordal --coords {},{}",
        coordinates.names[0], coordinates.names[1], coordinates.names[*lon], coordinates.names[1 - *lon]);
}

}  // namespace tesela::geo
