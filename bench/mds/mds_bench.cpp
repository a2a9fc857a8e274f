#include "mds/mds_bench.hpp"

#include "checks.hpp"
#include "mds/own_distances.hpp"
#include "tesela/apps/mds/decomposition.hpp"
#include "tesela/base/large_array.hpp"
#include "tesela/io/hdf5/open_matrix.hpp"
#include "tesela/io/memory_matrix.hpp"
#include "timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <type_traits>
#include <variant>
#include <vector>

namespace tesela::bench {
namespace {

using Json = nlohmann::ordered_json;

/// Seconds in which so many threads read the lower triangle by panels of rows, and do nothing else.
double read_alone(const MatrixFile& matrix, int readers) {
    constexpr Index panel = 512;
    std::atomic<Index> next = 0;
    std::atomic<bool> failed = false;
    std::vector<LargeArray<float>> memory(static_cast<std::size_t>(readers),
                                          LargeArray<float>(static_cast<std::size_t>(panel * matrix.cols()), 1.0F));
    const double seconds = seconds_of([&] {
        std::vector<std::jthread> crew;
        for (LargeArray<float>& own : memory)
            crew.emplace_back([&] {
                for (Index row = panel * next++; row < matrix.rows(); row = panel * next++) {
                    const Index rows = std::min(panel, matrix.rows() - row);
                    const MatrixBlock block{.row = row, .rows = rows, .cols = row + rows};
                    if (!matrix.read(block, RowMajor<float>{own.data(), matrix.cols()}).ok()) failed = true;
                }
            });
    });
    if (failed) throw Error("{} cannot be read", matrix.name());
    return seconds;
}

/// A matrix whose reads take next to no time, for what computing takes alone: all rows are the first, which stays in a
/// cache.
class RowAgain final : public MatrixFile {
public:
    explicit RowAgain(const MatrixFile& matrix)
        : MatrixFile(matrix.header()),
          row_(static_cast<std::size_t>(matrix.cols())) {
        const ReadOutcome read =
            matrix.read({.rows = 1, .cols = matrix.cols()}, RowMajor<float>{row_.data(), matrix.cols()});
        if (!read) throw Error("{}", read.reason());
    }

private:
    [[nodiscard]] ReadOutcome read_block(const MatrixBlock& block, const Target& to) const override {
        std::visit([&](const auto& target) { fill(block, target); }, to);
        return {};
    }

    template <class To>
    void fill(const MatrixBlock& block, const To& to) const {
        using Element = typename To::Element;
        for (Index j = 0; j < block.cols; ++j)
            if constexpr (std::is_same_v<To, ColumnMajor<Element>>)
                std::fill_n(&to(0, j), block.rows, static_cast<Element>(row_[static_cast<std::size_t>(block.col + j)]));
        for (Index i = 0; i < block.rows; ++i) {
            if constexpr (std::is_same_v<To, RowMajor<Element>>)
                std::copy_n(row_.data() + block.col, block.cols, &to(i, 0));
            // The distance of a point from itself.
            if (const Index j = block.row + i - block.col; j >= 0 && j < block.cols) to(i, j) = 0;
        }
    }

    std::vector<float> row_;
};

/// One way to read: alone, and as part of a scaling.
struct Way {
    std::string name;
    const MatrixFile& matrix;
    bool forget = false;
    Best reading{};
    Best total{};

    void measure(Engine& engine, const mds::DecompositionOptions& wanted) {
        if (forget) matrix.forget_cached();
        reading.add(read_alone(matrix, wanted.readers));
        if (forget) matrix.forget_cached();
        total.add(mds::decompose_randomly(engine, matrix, mds::Analysis::scaling, wanted).seconds);
    }
};

}  // namespace

Json mds_benchmark(Engine& engine, const MdsOptions& options) {
    std::unique_ptr<OwnDistances> own;
    if (options.file.empty()) own = std::make_unique<OwnDistances>(engine, options.folder, options.n);
    const std::string name = own ? own->path() : options.file;
    const auto matrix = open_matrix(name);
    const auto slow = limit_rate(open_matrix(name), options.rate);
    const mds::DecompositionOptions wanted{
        .dimensions = options.dimensions, .readers = options.readers, .symmetry = mds::Symmetry::unchecked};
    const RowAgain at_once(*matrix);
    Best compute;
    Best later;
    Way cold{.name = "cold", .matrix = *matrix, .forget = true};
    Way limited{.name = "limited", .matrix = *slow};
    mds::Decomposition last;
    for (Index r = 0; r < options.repetitions; ++r) {
        compute.add(mds::decompose_randomly(engine, at_once, mds::Analysis::scaling, wanted).first_seconds);
        last = mds::decompose_randomly(engine, *matrix, mds::Analysis::scaling, wanted);
        later.add(last.seconds - last.first_seconds);
        cold.measure(engine, wanted);
        limited.measure(engine, wanted);
    }
    Json result{{"n", matrix->rows()},
                {"eigenvalues", std::vector<double>(last.values.begin(), last.values.begin() + last.wanted)},
                {"passes", last.passes},
                {"products", last.products},
                {"error_estimate", last.error_estimate},
                {"first_pass_seconds", compute.seconds()},
                {"later_passes_seconds", later.seconds()}};
    Json checks = Json::array();
    for (const Way* way : {&cold, &limited}) {
        const double alone = std::max(way->reading.seconds(), compute.seconds()) + later.seconds();
        result[way->name + "_read_seconds"] = way->reading.seconds();
        result[way->name + "_seconds"] = way->total.seconds();
        checks.push_back(at_most(fmt::format("{}: time over max(reading, first pass) + later passes", way->name),
                                 way->total.seconds() / alone, 1.1));
    }
    result["checks"] = std::move(checks);
    return result;
}

Json eigenvalues_benchmark(Engine& engine, const EigenvaluesOptions& options) {
    const auto file = open_matrix(options.file);
    if (file->rows() != file->cols()) throw Error("{} is not square", file->description());
    const MatrixValues matrix = read_all(*file);
    const mds::DecompositionOptions wanted{.dimensions = options.dimensions, .tolerance = options.tolerance};
    std::vector<double> seconds;
    mds::Decomposition last;
    for (Index r = 0; r <= options.repetitions; ++r) {  // the first is not counted: memory is new to it
        last = mds::decompose_symmetric(engine, matrix.values.data(), matrix.rows, wanted);
        if (r > 0) seconds.push_back(last.seconds);
    }
    return {{"n", matrix.rows},
            {"eigenvalues", std::vector<double>(last.values.begin(), last.values.begin() + last.wanted)},
            {"passes", last.passes},
            {"products", last.products},
            {"error_estimate", last.error_estimate},
            {"seconds", *std::min_element(seconds.begin(), seconds.end())},
            {"all_seconds", seconds},
            {"checks", Json::array()}};
}

}  // namespace tesela::bench
