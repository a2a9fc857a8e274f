// Feeds bytes to the reader of NumPy headers. Only tesela::Error of one line may come out; what is accepted is a matrix
// whose elements begin after the header.

#include "require.hpp"
#include "tesela/base/error.hpp"
#include "tesela/io/internal/npy_header.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

using namespace tesela;  // NOLINT(google-build-using-namespace): a program
using fuzz::require;

void read(std::string_view text) {
    const NpyHeader header = parse_npy_header(text, "fuzz");
    require(header.rows >= 0 && header.cols >= 0, "sizes are not below 0");
    require(header.data_offset >= npy_prefix_bytes - 2, "elements begin after the prefix");
    require(header.data_offset <= static_cast<Index>(text.size()), "all of the header is there");
    require(npy_data_offset(text.substr(0, npy_prefix_bytes), "fuzz") == header.data_offset,
            "the prefix says where elements begin");
    const NpyHeader again = parse_npy_header(text.substr(0, static_cast<std::size_t>(header.data_offset)), "fuzz");
    require(again.rows == header.rows && again.cols == header.cols && again.order == header.order,
            "elements do not change the header");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::one_line_at_most([&] { read({reinterpret_cast<const char*>(data), size}); });
    return 0;
}
