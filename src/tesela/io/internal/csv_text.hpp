#pragma once

#include <string>
#include <string_view>

namespace tesela {

inline constexpr std::string_view separated_by_spaces =
    "the fields seem to be separated by spaces; separate them by commas, semicolons or tabs";

/// A name that reads back as itself from a CSV file: quoted if it holds anything that a reader could take for
/// structure.
[[nodiscard]] std::string csv_name(std::string_view name);

/// Whether a column of this name has the names of rows, if they can be such: "id", "Site", "plot_nr", "SampleID".
[[nodiscard]] bool is_called_as_labels(std::string_view name);

}  // namespace tesela
