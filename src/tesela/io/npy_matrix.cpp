#include "tesela/io/npy_matrix.hpp"

#include "tesela/base/error.hpp"
#include "tesela/io/input_file.hpp"
#include "tesela/io/internal/npy_header.hpp"
#include "tesela/io/internal/stored_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace tesela {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr Index most_header_bytes = Index{1} << 20U;  // of a matrix it has about a hundred

Index little_endian(std::string_view bytes) {
    Index value = 0;
    for (std::size_t k = bytes.size(); k-- > 0;) value = value * 256 + static_cast<unsigned char>(bytes[k]);
    return value;
}

/// The header is a dictionary as Python writes it: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
class HeaderParser {
public:
    HeaderParser(std::string_view text, std::string_view file) : rest_(text), file_(file) {}

    NpyHeader parse() {
        expect('{');
        while (!accept('}')) {
            read_entry();
            if (!accept(',')) {
                expect('}');
                break;
            }
        }
        if (!type_ || !order_ || !shape_) fail("it lacks 'descr', 'fortran_order' or 'shape'");
        return {.elements = elements(), .order = *order_, .rows = (*shape_)[0], .cols = (*shape_)[1]};
    }

private:
    [[noreturn]] void fail(std::string_view why) const {
        throw Error("{}: the header of this NumPy file cannot be read: {}", in_quotes(file_), why);
    }

    void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n"), rest_.size())); }

    bool accept(char c) {
        skip_blanks();
        if (rest_.empty() || rest_.front() != c) return false;
        rest_.remove_prefix(1);
        return true;
    }

    void expect(char c) {
        if (!accept(c)) fail(fmt::format("'{}' is expected at {}", c, excerpt(rest_)));
    }

    bool accept_word(std::string_view word) {
        skip_blanks();
        if (!rest_.starts_with(word)) return false;
        rest_.remove_prefix(word.size());
        return true;
    }

    std::string_view read_text() {
        const char quote = accept('"') ? '"' : '\'';
        if (quote == '\'') expect('\'');
        const std::size_t end = rest_.find(quote);
        if (end == std::string_view::npos) fail("a text never ends");
        const std::string_view text = rest_.substr(0, end);
        rest_.remove_prefix(end + 1);
        return text;
    }

    void read_entry() {
        const std::string_view key = read_text();
        expect(':');
        if (key == "descr") {
            read_type();
        } else if (key == "fortran_order") {
            read_order();
        } else if (key == "shape") {
            read_shape();
        } else {
            fail(fmt::format("it has an entry {}", excerpt(key)));
        }
    }

    void read_type() {
        skip_blanks();
        if (rest_.starts_with('['))
            throw Error("{} holds records with fields, not a matrix of numbers", in_quotes(file_));
        type_ = read_text();
    }

    void read_order() {
        if (accept_word("True")) {
            order_ = NpyOrder::fortran;
        } else if (accept_word("False")) {
            order_ = NpyOrder::c;
        } else {
            fail("'fortran_order' is neither True nor False");
        }
    }

    void read_shape() {
        std::vector<Index> sizes;
        expect('(');
        while (!accept(')')) {
            sizes.push_back(read_size());
            if (!accept(',')) {
                expect(')');
                break;
            }
        }
        if (sizes.size() == 1) sizes.push_back(1);  // a vector is a column
        if (sizes.size() != 2)
            throw Error("{} has {} dimension{}; a matrix has 2", in_quotes(file_), sizes.size(),
                        sizes.size() == 1 ? "" : "s");
        shape_ = {sizes[0], sizes[1]};
    }

    Index read_size() {
        skip_blanks();
        Index size = 0;
        const auto [stop, status] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
        if (status != std::errc{} || size < 0) fail(fmt::format("{} is no size", excerpt(rest_)));
        rest_.remove_prefix(static_cast<std::size_t>(stop - rest_.data()));
        accept('L');  // as Python 2 wrote long integers
        return size;
    }

    /// '<f8': byte order, kind and bytes.
    [[nodiscard]] StoredElements elements() const {
        const std::string_view text = *type_;
        constexpr std::array<std::pair<std::string_view, StoredType>, 10> types{{{"f4", StoredType::float32},
                                                                                 {"f8", StoredType::float64},
                                                                                 {"i1", StoredType::int8},
                                                                                 {"i2", StoredType::int16},
                                                                                 {"i4", StoredType::int32},
                                                                                 {"i8", StoredType::int64},
                                                                                 {"u1", StoredType::uint8},
                                                                                 {"u2", StoredType::uint16},
                                                                                 {"u4", StoredType::uint32},
                                                                                 {"u8", StoredType::uint64}}};
        const auto found = std::find_if(types.begin(), types.end(), [&](const auto& type) {
            return !text.empty() && type.first == text.substr(1);
        });
        const bool order_known = !text.empty() && std::string_view("<>=|").find(text[0]) != std::string_view::npos;
        if (found == types.end() || !order_known)
            throw Error("{} has elements of type {}; floating-point numbers of 4 or 8 bytes and integers can be read",
                        in_quotes(file_), excerpt(text));
        const std::endian order = text[0] == '<'   ? std::endian::little
                                  : text[0] == '>' ? std::endian::big
                                                   : std::endian::native;
        return {.type = found->second, .order = order};
    }

    std::string_view rest_;
    std::string_view file_;
    std::optional<std::string_view> type_;
    std::optional<NpyOrder> order_;
    std::optional<std::array<Index, 2>> shape_;
};

std::string read_text(const StoredFile& file, Index count) {
    std::string text(static_cast<std::size_t>(std::min(count, file.size())), '\0');
    const ReadOutcome outcome =
        file.read(0, reinterpret_cast<std::byte*>(text.data()), static_cast<Index>(text.size()));
    if (!outcome) throw Error(outcome.reason());
    return text;
}

NpyHeader read_header(const StoredFile& file) {
    const Index offset = npy_data_offset(read_text(file, npy_prefix_bytes), file.path());
    if (offset > file.size()) throw Error("{} is cut short: it ends inside of its header", in_quotes(file.path()));
    return parse_npy_header(read_text(file, offset), file.path());
}

std::string layout_text(const NpyHeader& header) {
    return fmt::format("NumPy, {} order{}", header.order == NpyOrder::c ? "C" : "Fortran",
                       header.elements.order == std::endian::native ? "" : ", other byte order");
}

class NpyMatrix final : public MatrixFile {
public:
    NpyMatrix(std::string path, const NpyHeader& header)
        : MatrixFile({.name = path,
                      .rows = header.rows,
                      .cols = header.cols,
                      .type = header.elements.type,
                      .layout = layout_text(header)}),
          npy_(header),
          file_(std::move(path)) {
        if (file_.size() - npy_.data_offset < bytes())
            throw Error("{} is cut short: {} x {} elements of {} bytes need {} bytes after the header, it has {}",
                        in_quotes(name()), rows(), cols(), stored_type_bytes(type()), bytes(),
                        file_.size() - npy_.data_offset);
    }

    void forget_cached() const override { file_.forget_cached(); }

private:
    [[nodiscard]] ReadOutcome read_block(const MatrixBlock& block, const Target& to) const override {
        if (npy_.order == NpyOrder::fortran) return read_columns(block, to);
        return read_rows(file_, {.offset = npy_.data_offset, .cols = cols(), .elements = npy_.elements}, block, to);
    }

    [[nodiscard]] ReadOutcome read_columns(const MatrixBlock& block, const Target& to) const {
        const Index bytes = stored_type_bytes(type());
        std::byte* const memory = scratch(block.rows * bytes);
        for (Index j = 0; j < block.cols; ++j) {
            const Index offset = npy_.data_offset + ((block.col + j) * rows() + block.row) * bytes;
            ReadOutcome outcome = file_.read(offset, memory, block.rows * bytes);
            if (!outcome) return outcome;
            to_native_order(memory, block.rows, npy_.elements);
            copy_column(memory, type(), block.rows, shifted(to, 0, j));
        }
        return {};
    }

    NpyHeader npy_;
    StoredFile file_;
};

}  // namespace

Index npy_data_offset(std::string_view prefix, std::string_view file) {
    if (!prefix.starts_with(magic)) throw Error("{} is not a NumPy file: it does not begin as one", in_quotes(file));
    if (static_cast<Index>(prefix.size()) < npy_prefix_bytes)
        throw Error("{} is cut short: it ends inside of its header", in_quotes(file));
    const int version = prefix[6];
    if (version < 1 || version > 3)
        throw Error("{} has version {} of NumPy's format; 1 to 3 can be read", in_quotes(file), version);
    const std::size_t length_bytes = version == 1 ? 2 : 4;
    const Index length = little_endian(prefix.substr(8, length_bytes));
    if (length > most_header_bytes)
        throw Error("{}: the header of this NumPy file cannot be read: it says that it has {} bytes", in_quotes(file),
                    length);
    return 8 + static_cast<Index>(length_bytes) + length;
}

NpyHeader parse_npy_header(std::string_view text, std::string_view file) {
    const Index offset = npy_data_offset(text, file);
    if (static_cast<Index>(text.size()) < offset)
        throw Error("{} is cut short: it ends inside of its header", in_quotes(file));
    const std::size_t begin = text[6] == 1 ? 10 : 12;
    NpyHeader header = HeaderParser(text.substr(begin, static_cast<std::size_t>(offset) - begin), file).parse();
    header.data_offset = offset;
    return header;
}

std::unique_ptr<MatrixFile> open_npy_matrix(const std::string& path) {
    const NpyHeader header = read_header(StoredFile(path));
    return std::make_unique<NpyMatrix>(path, header);
}

}  // namespace tesela
