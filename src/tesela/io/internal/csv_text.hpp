#pragma once

#include <string>
#include <string_view>

namespace tesela {

/// A name that reads back as itself from a CSV file: quoted if it holds anything that a reader could take for
/// structure.
[[nodiscard]] std::string csv_name(std::string_view name);

}  // namespace tesela
