#pragma once

#include "tesela/trace/buffer.hpp"
#include "tesela/trace/modules.hpp"
#include "tesela/trace/schema.hpp"

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tesela::trace {

/// Which of several nodes a trace file is for.
struct NodeOfRun {
    std::uint32_t node = 0;
    std::uint32_t nodes = 1;
    std::uint64_t run = 0;
};

/// How much memory a thread's events may take before they are in the file, and how long they may stay there.
struct BufferOptions {
    std::size_t records = 16384;
    std::int64_t flush_milliseconds = 20;
};

/// Writes the trace of one node. Each thread puts its records into a buffer of its own without a lock; a helper thread
/// writes the buffers out. A thread whose buffer is full waits for the helper, so memory is bounded and nothing is
/// lost, unless the file cannot be written: then records are counted and dropped, and `close` says so.
class Collector {
public:
    /// Opens the file; throws Error if that fails.
    explicit Collector(const Options& options, const NodeOfRun& node = {}, const BufferOptions& buffers = {});
    /// Closes the file if `close` was not called.
    ~Collector();
    Collector(const Collector&) = delete;
    Collector& operator=(const Collector&) = delete;
    Collector(Collector&&) = delete;
    Collector& operator=(Collector&&) = delete;

    [[nodiscard]] bool wants(Module module) const { return modules_.has(module); }

    /// Nanoseconds of the clock that all records use.
    [[nodiscard]] static std::int64_t now() noexcept;

    template <AnyRecord T>
    void put(const T& record) noexcept {
        const Record raw = to_record(record);
        put(std::span{&raw, 1});
    }
    /// Records that stay together.
    void put(std::span<const Record> records) noexcept;

    /// The number of a name among those of its kind ("kernel", "phase"); defined when first asked for.
    [[nodiscard]] std::uint16_t number_of(const std::string& kind, const std::string& name);
    /// Writes a definition at once: {"type": …, …}; see docs/trace.md.
    void define(const nlohmann::json& definition);

    /// What a worker is doing, for the case that the run is killed before the task ends.
    void started(std::uint16_t worker, std::uint64_t task, std::int64_t start) noexcept;
    void ended(std::uint16_t worker) noexcept;

    /// Records that could not be written.
    [[nodiscard]] std::uint64_t lost() const { return lost_.load(); }

    /// Writes what is left and ends the file. No thread may put records any more. Throws Error if records were lost.
    void close();

private:
    static constexpr std::size_t max_workers = 256;
    struct Current {
        std::atomic<std::uint64_t> task{0};  // id + 1; 0 is none
        std::atomic<std::int64_t> start{0};
    };

    void run_helper();
    void drain_all();
    void drain(Buffer& buffer);
    void note_running();
    void write_chunk(ChunkKind kind, std::uint16_t thread, std::span<const std::byte> payload);
    [[nodiscard]] bool write_bytes(std::span<const std::byte> bytes);
    void give_up(int reason);
    [[nodiscard]] Buffer* mine();
    [[nodiscard]] std::shared_ptr<Buffer> adopt_buffer();

    std::string path_;
    Modules modules_;
    BufferOptions options_;
    std::uint64_t generation_;

    std::mutex buffers_mutex_;
    std::vector<std::shared_ptr<Buffer>> buffers_;

    std::mutex file_mutex_;
    int descriptor_ = -1;
    std::int64_t file_size_ = 0;
    std::uint32_t sequence_ = 0;
    std::vector<std::byte> scratch_;
    std::atomic<int> failure_{0};
    std::atomic<std::uint64_t> lost_{0};

    std::mutex names_mutex_;
    std::map<std::pair<std::string, std::string>, std::uint16_t> names_;
    std::map<std::string, std::uint16_t> name_counts_;

    std::array<Current, max_workers> current_;
    std::array<std::uint64_t, max_workers> seen_running_{};
    std::array<std::uint64_t, max_workers> told_running_{};

    std::mutex helper_mutex_;
    std::condition_variable helper_wakes_;
    bool stopping_ = false;
    std::atomic<bool> urgent_{false};
    std::atomic<bool> closed_{false};
    std::thread helper_;
};

}  // namespace tesela::trace
