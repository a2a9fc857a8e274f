#pragma once

#include "tesela/io/internal/stored_elements.hpp"

#include <string_view>

namespace tesela {

enum class NpyOrder { c, fortran };

/// What the header of a NumPy file says.
struct NpyHeader {
    StoredElements elements;
    NpyOrder order = NpyOrder::c;
    Index rows = 0;
    Index cols = 0;
    Index data_offset = 0;  ///< where the elements begin, in bytes
};

/// Bytes from which a NumPy file's header length can be told.
inline constexpr Index npy_prefix_bytes = 12;

/// Where the elements begin, by the first bytes of the file. Throws Error if they are not those of a NumPy file.
[[nodiscard]] Index npy_data_offset(std::string_view prefix, std::string_view file);

/// Reads everything before the elements. Throws Error of one line if it is not a header, or not one of a matrix of
/// numbers.
[[nodiscard]] NpyHeader parse_npy_header(std::string_view text, std::string_view file);

}  // namespace tesela
