#include "experiments.hpp"
#include "harness/engine_options.hpp"
#include "harness/timing.hpp"
#include "shared/own_distances.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/large_array.hpp"
#include "tesela/io/hdf5/open_matrix.hpp"
#include "tesela/io/memory_matrix.hpp"
#include "tesela/mds/decomposition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <variant>
#include <vector>

namespace tesela::bench {
namespace {

struct MdsOptions {
    std::string file;  ///< empty: one of its own is made, of float32 by rows
    Index n = 20000;
    Index dimensions = 10;
    int readers = 5;
    double rate = 400e6;
    Index repetitions = 3;
    std::string folder = ".";
    EngineOptions engine;
};

void add_mds_options(CLI::App& command, MdsOptions& options) {
    command.add_option("--file", options.file, "A file of distances (default: one of its own)");
    command.add_option("--n", options.n, "Points of a file of its own")->capture_default_str();
    command.add_option("--dim", options.dimensions, "Dimensions")->check(CLI::PositiveNumber)->capture_default_str();
    command.add_option("--readers", options.readers, "Readers at a time")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command.add_option("--rate", options.rate, "Bytes per second of the slow disk")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command.add_option("--repetitions", options.repetitions, "Best of so many")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command.add_option("--folder", options.folder, "Where a file of its own is made")->capture_default_str();
    add_engine_options(command, options.engine);
}

struct EigenvaluesOptions {
    std::string file;
    Index dimensions = 10;
    double tolerance = 1e-10;
    Index repetitions = 5;
    EngineOptions engine;
};

void add_eigenvalues_options(CLI::App& command, EigenvaluesOptions& options) {
    command.add_option("--file", options.file, "The matrix: CSV, NumPy or HDF5")->required();
    command.add_option("--dim", options.dimensions, "How many")->check(CLI::PositiveNumber)->capture_default_str();
    command.add_option("--tolerance", options.tolerance, "Relative error of each")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command.add_option("--repetitions", options.repetitions, "Best of so many")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    add_engine_options(command, options.engine);
}

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
struct WayToRead {
    std::string name;
    const MatrixFile& matrix;
    bool forget = false;
    Best reading{};
    Best total{};

    void measure(Stream& stream, const mds::DecompositionOptions& wanted) {
        if (forget) matrix.forget_cached();
        reading.add(read_alone(matrix, wanted.readers));
        if (forget) matrix.forget_cached();
        total.add(mds::decompose(stream, matrix, mds::Analysis::scaling, wanted).seconds);
    }
};

/// What both experiments tell of a decomposition.
Row figures_of(const mds::Decomposition& found, Index n) {
    return {{"n", n},
            {"eigenvalues", std::vector<double>(found.values.begin(), found.values.begin() + found.wanted)},
            {"passes", found.passes},
            {"products", found.products},
            {"error_estimate", found.error_estimate}};
}

/// Multidimensional scaling from a file, beside what its parts take alone: the file in the cache of the system, after
/// the system has forgotten it, and through a reader of a given rate.
Report run_mds(const MdsOptions& options) {
    if (options.n < 100) throw Error("--n must be at least 100; it is {}", options.n);
    EngineOptions with_readers = options.engine;
    with_readers.resource_workers = options.readers;
    const auto engine = start_engine(with_readers);
    std::unique_ptr<OwnDistances> own;
    if (options.file.empty()) own = std::make_unique<OwnDistances>(*engine, options.folder, options.n);
    const std::string name = own ? own->path() : options.file;
    const auto matrix = open_matrix(name);
    const auto slow = limit_rate(open_matrix(name), options.rate);
    Stream stream(*engine, {.name = "mds", .sums = Sums::in_order});
    const mds::DecompositionOptions wanted{.dimensions = options.dimensions,
                                           .algorithm = mds::Algorithm::krylov,
                                           .readers = options.readers,
                                           .symmetry = mds::Symmetry::unchecked};
    const RowAgain at_once(*matrix);
    Best compute;
    Best later;
    WayToRead cold{.name = "cold", .matrix = *matrix, .forget = true};
    WayToRead limited{.name = "limited", .matrix = *slow};
    mds::Decomposition last;
    for (Index r = 0; r < options.repetitions; ++r) {
        compute.add(mds::decompose(stream, at_once, mds::Analysis::scaling, wanted).first_seconds);
        last = mds::decompose(stream, *matrix, mds::Analysis::scaling, wanted);
        later.add(last.seconds - last.first_seconds);
        cold.measure(stream, wanted);
        limited.measure(stream, wanted);
    }
    Report report{.figures = figures_of(last, matrix->rows())};
    report.figures["first_pass_seconds"] = compute.seconds();
    report.figures["later_passes_seconds"] = later.seconds();
    for (const WayToRead* way : {&cold, &limited}) {
        const double alone = std::max(way->reading.seconds(), compute.seconds()) + later.seconds();
        report.figures[way->name + "_read_seconds"] = way->reading.seconds();
        report.figures[way->name + "_seconds"] = way->total.seconds();
        report.checks.push_back(at_most(fmt::format("{}: time over max(reading, first pass) + later passes", way->name),
                                        engine->max(way->total.seconds() / alone), 1.1));  // of the slowest node
    }
    return report;
}

/// The largest eigenvalues of a symmetric matrix in memory: times of each repetition, without reading the file.
Report run_eigenvalues(const EigenvaluesOptions& options) {
    const auto engine = start_engine(options.engine);
    const auto file = open_matrix(options.file);
    if (file->rows() != file->cols()) throw Error("{} is not square", file->description());
    const MatrixValues matrix = read_all(*file);
    const mds::DecompositionOptions wanted{.dimensions = options.dimensions, .tolerance = options.tolerance};
    Stream stream(*engine, {.name = "eigenvalues", .sums = Sums::in_order});
    std::vector<double> seconds;
    mds::Decomposition last;
    for (Index r = 0; r <= options.repetitions; ++r) {  // the first is not counted: memory is new to it
        last = mds::decompose_symmetric(stream, matrix.values.data(), matrix.rows, wanted);
        if (r > 0) seconds.push_back(last.seconds);
    }
    Report report{.figures = figures_of(last, matrix.rows)};
    report.figures["seconds"] = std::ranges::min(seconds);
    report.figures["all_seconds"] = seconds;
    return report;
}

}  // namespace

Experiment mds() {
    return experiment("mds",
                      "Multidimensional scaling while its file is read, from a forgotten file and from a slow disk, "
                      "beside its parts alone; exit code 1 above 1.1 times what they take at least",
                      add_mds_options, run_mds);
}

Experiment eigenvalues() {
    return experiment("eigenvalues",
                      "The largest eigenvalues of a symmetric matrix in memory, by products with random numbers "
                      "(bench/mds/against_scikit_learn.py compares)",
                      add_eigenvalues_options, run_eigenvalues);
}

}  // namespace tesela::bench
