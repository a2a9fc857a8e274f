#include "tesela/io/matrix_writer.hpp"

#include "tesela/base/error.hpp"
#include "tesela/io/input_file.hpp"
#include "tesela/io/internal/csv_text.hpp"
#include "tesela/io/output_file.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <array>
#include <bit>
#include <iterator>
#include <string_view>
#include <utility>

namespace tesela {
namespace {

void check_plan(const MatrixPlan& plan, const std::string& name) {
    const auto fail = [&](const std::string& why) { throw Error("cannot write {}: {}", in_quotes(name), why); };
    const auto fits = [](const std::vector<std::string>& labels, Index count) {
        return labels.empty() || static_cast<Index>(labels.size()) == count;
    };
    if (plan.rows <= 0 || plan.cols <= 0)
        fail(fmt::format("a matrix of {} x {} has no elements", plan.rows, plan.cols));
    if (plan.type != StoredType::float32 && plan.type != StoredType::float64)
        fail("float32 and float64 can be written");
    if (!fits(plan.row_labels, plan.rows))
        fail(fmt::format("{} labels for {} rows", plan.row_labels.size(), plan.rows));
    if (!fits(plan.col_labels, plan.cols))
        fail(fmt::format("{} labels for {} columns", plan.col_labels.size(), plan.cols));
    const bool chunked = plan.chunk != GridSize{};
    if (chunked && (plan.chunk.rows <= 0 || plan.chunk.cols <= 0))
        fail(fmt::format("chunks of {} x {} have no elements", plan.chunk.rows, plan.chunk.cols));
    if (!chunked && plan.compression != MatrixCompression::none) fail("only chunks are compressed");
}

/// Hands values over as the type that is stored.
template <class Stored, class T, class Use>
void converted(std::span<const T> values, Use use) {
    if constexpr (std::is_same_v<Stored, T>) {
        use(values);
    } else {
        const std::vector<Stored> copy(values.begin(), values.end());
        use(std::span<const Stored>(copy));
    }
}

class NpyWriter final : public MatrixWriter {
public:
    NpyWriter(const std::string& path, MatrixPlan plan) : MatrixWriter(std::move(plan), path), file_(path) {
        constexpr std::size_t alignment = 64;
        constexpr std::size_t prefix_bytes = 10;
        std::string text = fmt::format("{{'descr': '{}f{}', 'fortran_order': False, 'shape': ({}, {}), }}",
                                       std::endian::native == std::endian::little ? '<' : '>',
                                       stored_type_bytes(this->plan().type), rows(), cols());
        text.append(alignment - (prefix_bytes + text.size() + 1) % alignment, ' ').append("\n");
        file_.write(std::string_view("\x93NUMPY\x01\x00", 8));
        const std::array<char, 2> length{static_cast<char>(text.size() & 0xffU), static_cast<char>(text.size() >> 8U)};
        file_.write({length.data(), length.size()});
        file_.write(text);
    }

private:
    void write(std::span<const float> rows) override { write_as_stored(rows); }
    void write(std::span<const double> rows) override { write_as_stored(rows); }
    void finish() override { file_.commit(); }

    template <class T>
    void write_as_stored(std::span<const T> rows) {
        const auto use = [this](auto values) {
            file_.write({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
        };
        if (plan().type == StoredType::float32) {
            converted<float>(rows, use);
        } else {
            converted<double>(rows, use);
        }
    }

    OutputFile file_;
};

class CsvWriter final : public MatrixWriter {
public:
    CsvWriter(const std::string& path, MatrixPlan plan) : MatrixWriter(std::move(plan), path), file_(path) {
        const MatrixPlan& written = this->plan();
        if (written.col_labels.empty()) return;
        std::string header = written.row_labels.empty() ? "" : "\"\",";
        for (const std::string& label : written.col_labels) header += csv_name(label) + ",";
        header.back() = '\n';
        file_.write(header);
    }

private:
    void write(std::span<const float> rows) override { write_lines(rows); }
    void write(std::span<const double> rows) override { write_lines(rows); }
    void finish() override { file_.commit(); }

    template <class T>
    void write_lines(std::span<const T> values) {
        const auto width = static_cast<std::size_t>(cols());
        fmt::memory_buffer line;
        auto row = static_cast<std::size_t>(rows_written());
        for (std::size_t begin = 0; begin < values.size(); begin += width, ++row) {
            line.clear();
            if (!plan().row_labels.empty()) line.append(csv_name(plan().row_labels[row]) + ",");
            for (const T value : values.subspan(begin, width)) append_number(line, value);
            line.data()[line.size() - 1] = '\n';
            file_.write({line.data(), line.size()});
        }
    }

    void append_number(fmt::memory_buffer& line, auto value) const {
        if (plan().type == StoredType::float32) {
            fmt::format_to(std::back_inserter(line), FMT_COMPILE("{},"), static_cast<float>(value));
        } else {
            fmt::format_to(std::back_inserter(line), FMT_COMPILE("{},"), static_cast<double>(value));
        }
    }

    OutputFile file_;
};

}  // namespace

MatrixWriter::MatrixWriter(MatrixPlan plan, std::string name) : plan_(std::move(plan)), name_(std::move(name)) {
    check_plan(plan_, name_);
}

template <class T>
void MatrixWriter::append_rows(std::span<const T> rows) {
    const auto count = static_cast<Index>(rows.size());
    if (count % cols() != 0 || count / cols() > plan_.rows - rows_written_)
        throw Error("cannot write {}: {} values are not a number of the {} rows of {} that are left", in_quotes(name_),
                    count, plan_.rows - rows_written_, cols());
    if (count == 0) return;
    write(rows);
    rows_written_ += count / cols();
}

void MatrixWriter::append(std::span<const float> rows) { append_rows(rows); }
void MatrixWriter::append(std::span<const double> rows) { append_rows(rows); }

void MatrixWriter::commit() {
    if (rows_written_ != plan_.rows)
        throw Error("cannot write {}: it has {} of {} rows", in_quotes(name_), rows_written_, plan_.rows);
    finish();
}

std::unique_ptr<MatrixWriter> write_npy_matrix(const std::string& path, MatrixPlan plan) {
    return std::make_unique<NpyWriter>(path, std::move(plan));
}

std::unique_ptr<MatrixWriter> write_csv_matrix(const std::string& path, MatrixPlan plan) {
    return std::make_unique<CsvWriter>(path, std::move(plan));
}

}  // namespace tesela
