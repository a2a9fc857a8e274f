#include "experiments.hpp"
#include "harness/choice.hpp"
#include "harness/timing.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/large_array.hpp"
#include "tesela/io/hdf5/matrix_hdf5.hpp"
#include "tesela/io/hdf5/open_matrix.hpp"
#include "tesela/io/hdf5/write_matrix.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace tesela::bench {
namespace {

struct ReadersOptions {
    std::string file;  ///< a matrix in one file; empty: files of its own are made
    Index n = 10000;
    std::vector<Index> readers{1, 2, 5};
    Index panel = 500;
    Index repetitions = 5;
    std::string folder = ".";
    std::string table;
};

void add_readers_options(CLI::App& command, ReadersOptions& options) {
    command.add_option("--file", options.file, "A matrix of float32 in a file (default: files of its own)");
    command.add_option("--n", options.n, "Order of the matrices in files of its own")->capture_default_str();
    comma_separated(command.add_option("--readers", options.readers, "Numbers of threads"));
    command.add_option("--panel", options.panel, "Rows that are read at a time")->capture_default_str();
    command.add_option("--repetitions", options.repetitions, "Best of so many")->capture_default_str();
    command.add_option("--folder", options.folder, "Where files of its own are made")->capture_default_str();
    command.add_option("--table", options.table, "CSV file for the results");
}

/// A file that is removed again.
class OwnMatrixFile {
public:
    OwnMatrixFile(const ReadersOptions& options, GridSize chunk)
        : path_(fmt::format("{}/tesela-readers-{}-{}.h5", options.folder, ::getpid(), chunk.rows)) {
        const auto writer = write_matrix(
            path_ + ":/d", {.rows = options.n, .cols = options.n, .type = StoredType::float32, .chunk = chunk});
        std::vector<float> row(static_cast<std::size_t>(options.n));
        for (Index i = 0; i < options.n; ++i) {
            for (std::size_t j = 0; j < row.size(); ++j)
                row[j] = static_cast<float>((i + static_cast<Index>(j)) % 1000);
            writer->append(row);
        }
        writer->commit();
    }
    ~OwnMatrixFile() {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    OwnMatrixFile(const OwnMatrixFile&) = delete;
    OwnMatrixFile& operator=(const OwnMatrixFile&) = delete;
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
};

/// Threads take panels from a common count; each has memory of its own that is there before time is measured.
class PanelReaders {
public:
    PanelReaders(const MatrixFile& matrix, const ReadersOptions& options, Index threads)
        : matrix_(matrix),
          panel_(std::min(options.panel, matrix.rows())),
          memory_(static_cast<std::size_t>(threads),
                  LargeArray<float>(static_cast<std::size_t>(panel_ * matrix.cols()), 1.0F)) {}

    /// Seconds until read(memory, first row, rows) has been called for every panel.
    template <class Read>
    double seconds(const Read& read) {
        std::atomic<Index> next = 0;
        return seconds_of([&] {
            std::vector<std::jthread> crew;
            for (LargeArray<float>& memory : memory_)
                crew.emplace_back([&] {
                    for (Index row = panel_ * next++; row < matrix_.rows(); row = panel_ * next++)
                        read(memory.data(), row, std::min(panel_, matrix_.rows() - row));
                });
        });
    }

private:
    const MatrixFile& matrix_;
    Index panel_;
    std::vector<LargeArray<float>> memory_;
};

/// The first failure of several threads, thrown when they have ended.
class FirstFailure {
public:
    void note(const std::string& reason) {
        const std::lock_guard lock(mutex_);
        if (reason_.empty()) reason_ = reason;
    }
    void rethrow() const {
        if (!reason_.empty()) throw Error(reason_);
    }

private:
    std::mutex mutex_;
    std::string reason_;
};

/// Into memory by rows, as the stream of multidimensional scaling reads panels, or by columns.
enum class ReadInto { rows, columns };

double by_matrix_file(PanelReaders& readers, const MatrixFile& matrix, ReadInto order) {
    FirstFailure failure;
    const double seconds = readers.seconds([&](float* to, Index row, Index rows) {
        const MatrixBlock block{.row = row, .rows = rows, .cols = matrix.cols()};
        const ReadOutcome outcome = order == ReadInto::rows ? matrix.read(block, RowMajor<float>{to, matrix.cols()})
                                                            : matrix.read(block, ColumnMajor<float>{to, rows});
        if (!outcome) failure.note(outcome.reason());
    });
    failure.rethrow();
    return seconds;
}

/// As many bytes of the same file as the panels have, up to the end of it.
double by_pread(PanelReaders& readers, const MatrixFile& matrix, int descriptor) {
    struct stat status {};
    if (::fstat(descriptor, &status) != 0 || status.st_size < matrix.bytes())
        throw Error("{} has fewer bytes than elements: a file without compression is compared with", matrix.name());
    const Index first = status.st_size - matrix.bytes();
    const Index row_bytes = matrix.bytes() / matrix.rows();
    FirstFailure failure;
    const double seconds = readers.seconds([&](float* to, Index row, Index rows) {
        Index done = 0;
        while (done < rows * row_bytes) {
            const ssize_t got =
                ::pread(descriptor, reinterpret_cast<char*>(to) + done,
                        static_cast<std::size_t>(rows * row_bytes - done), first + row * row_bytes + done);
            if (got <= 0) return failure.note(matrix.name() + " cannot be read");
            done += got;
        }
    });
    failure.rethrow();
    return seconds;
}

enum class FileCache { warm, cold };

Row measure_readers(const MatrixFile& matrix, const MatrixFile* library, int descriptor, const ReadersOptions& options,
                    Index threads, FileCache cache) {
    PanelReaders readers(matrix, options, threads);
    const auto prepare = [&] {
        if (cache == FileCache::cold) matrix.forget_cached();
    };
    std::array<Best, 4> best;
    if (cache == FileCache::warm) (void)by_pread(readers, matrix, descriptor);
    for (Index r = 0; r < options.repetitions; ++r) {
        prepare();
        best[0].add(by_pread(readers, matrix, descriptor));
        prepare();
        best[1].add(by_matrix_file(readers, matrix, ReadInto::rows));
        prepare();
        best[2].add(by_matrix_file(readers, matrix, ReadInto::columns));
        if (library == nullptr) continue;
        prepare();
        best[3].add(by_matrix_file(readers, *library, ReadInto::rows));
    }
    const auto rate = [&](const Best& time) { return 1e-9 * static_cast<double>(matrix.bytes()) / time.seconds(); };
    Row row{{"layout", matrix.header().layout},
            {"cache", cache == FileCache::warm ? "warm" : "cold"},
            {"readers", threads}};
    row["pread_gb_per_s"] = rate(best[0]);
    row["rows_gb_per_s"] = rate(best[1]);
    row["columns_gb_per_s"] = rate(best[2]);
    row["hdf5_gb_per_s"] = library == nullptr ? Row() : Row(rate(best[3]));
    row["ratio"] = best[0].seconds() / best[1].seconds();
    return row;
}

void measure_file(const std::string& name, const ReadersOptions& options, std::vector<Row>& rows) {
    const auto matrix = open_matrix(name);
    if (matrix->type() != StoredType::float32)
        throw Error("{}: elements of float32 are read here", matrix->description());
    const MatrixName file = parse_matrix_name(name);
    std::unique_ptr<MatrixFile> library;
    if (is_hdf5(file.file)) library = open_hdf5_matrix(file.file, file.dataset, {.reading = Hdf5Reading::library});
    const int descriptor = ::open(file.file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) throw Error("cannot read {}", file.file);
    for (const FileCache cache : {FileCache::warm, FileCache::cold})
        for (const Index threads : options.readers)
            rows.push_back(measure_readers(*matrix, library.get(), descriptor, options, threads, cache));
    ::close(descriptor);
}

double least_ratio(const std::vector<Row>& rows, const char* cache) {
    double least = std::numeric_limits<double>::infinity();
    for (const Row& row : rows)
        if (row.at("cache") == cache) least = std::min(least, row.at("ratio").get<double>());
    return least;
}

/// So many threads read panels of rows through MatrixFile, into floats by rows and by columns, and as many read the
/// same bytes by pread alone, in turns, with the file in memory (warm) and not (cold); beside them HDF5's own reading
/// of an HDF5 file.
Report run_readers(const ReadersOptions& options) {
    if (options.n < 1 || options.panel < 1 || options.repetitions < 1 || options.readers.empty() ||
        std::ranges::min(options.readers) < 1)
        throw Error("the order, the panels, the repetitions and the readers must be at least 1");
    std::vector<Row> rows;
    if (!options.file.empty()) {
        measure_file(options.file, options, rows);
    } else {
        for (const GridSize chunk : {GridSize{}, GridSize{options.panel, options.n}}) {
            const OwnMatrixFile file(options, chunk);
            measure_file(file.path(), options, rows);
        }
    }
    if (!options.table.empty()) write_table(options.table, rows, Digits::measured);
    return {
        .figures = {{"n", options.n}, {"panel", options.panel}, {"repetitions", options.repetitions}},
        .rows = rows,
        .checks = {at_least("rate of cold reads by rows beside pread, least of all", least_ratio(rows, "cold"), 0.9),
                   at_least("rate of warm reads by rows beside pread, least of all", least_ratio(rows, "warm"), 0.9)}};
}

}  // namespace

Experiment readers() {
    return experiment(
        "readers",
        "Threads that read panels of a matrix in a file beside as many that only read its bytes; exit code "
        "1 below 0.9 of their rate",
        add_readers_options, run_readers);
}

}  // namespace tesela::bench
