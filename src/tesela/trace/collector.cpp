#include "tesela/trace/collector.hpp"

#include "tesela/base/error.hpp"

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>

namespace tesela::trace {
namespace {

std::atomic<std::uint64_t> generations{0};

/// The buffer that this thread uses; given back when the thread ends.
struct ThreadBuffer {
    std::uint64_t generation = 0;
    std::shared_ptr<Buffer> buffer;
    ThreadBuffer() = default;
    ThreadBuffer(const ThreadBuffer&) = delete;
    ThreadBuffer& operator=(const ThreadBuffer&) = delete;
    ~ThreadBuffer() { leave(); }
    void leave() {
        if (buffer) buffer->owned.store(false, std::memory_order_release);
        buffer.reset();
    }
};

ThreadBuffer& thread_buffer() {
    thread_local ThreadBuffer mine;
    return mine;
}

std::int64_t time_of_day() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

void sleep_a_moment() {
    const timespec moment{.tv_sec = 0, .tv_nsec = 50'000};
    nanosleep(&moment, nullptr);
}

/// Opens and empties a trace file, unless another run is writing it. A file system without locks has to do without.
int open_alone(const std::string& path) {
    const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0) throw Error("cannot write trace file {}: {}", path, std::strerror(errno));
    struct stat status {};
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return descriptor;
    const bool taken = flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!taken && ftruncate(descriptor, 0) == 0) return descriptor;
    const int reason = errno;
    ::close(descriptor);
    if (taken) throw Error("another run is writing trace file {}: give each run a file of its own", path);
    throw Error("cannot write trace file {}: {}", path, std::strerror(reason));
}

}  // namespace

std::int64_t Collector::now() noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

Collector::Collector(const Options& options, const NodeOfRun& node, const BufferOptions& buffers)
    : path_(node_path(options.path, node.node)),
      modules_(options.modules),
      options_(buffers),
      generation_(++generations) {
    options_.records = std::bit_ceil(std::max<std::size_t>(options_.records, 16));
    descriptor_ = open_alone(path_);
    FileHeader header{
        .node = node.node, .nodes = node.nodes, .run = node.run, .opened = now(), .time_of_day = time_of_day()};
    const auto bytes = std::as_bytes(std::span{&header, 1});
    header.checksum = checksum(bytes.first(offsetof(FileHeader, checksum)), 0);
    if (!write_bytes(bytes)) {
        const int reason = errno;
        ::close(descriptor_);
        throw Error("cannot write trace file {}: {}", path_, std::strerror(reason));
    }
    file_size_ = sizeof header;
    helper_ = std::thread([this] { run_helper(); });
}

Collector::~Collector() {
    try {
        close();
    } catch (const std::exception&) {
        // Whoever wants to know calls close().
    }
}

Buffer* Collector::mine() {
    ThreadBuffer& slot = thread_buffer();
    if (slot.generation != generation_) {
        slot.leave();
        slot.buffer = adopt_buffer();
        slot.generation = generation_;
    }
    return slot.buffer.get();
}

/// A buffer that a thread left behind, or a new one. Not shared between live threads.
std::shared_ptr<Buffer> Collector::adopt_buffer() {
    const std::lock_guard lock(buffers_mutex_);
    for (const auto& buffer : buffers_) {
        bool owned = false;
        if (buffer->owned.compare_exchange_strong(owned, true, std::memory_order_acq_rel)) return buffer;
    }
    buffers_.push_back(std::make_shared<Buffer>(options_.records, static_cast<std::uint16_t>(buffers_.size())));
    return buffers_.back();
}

void Collector::put(std::span<const Record> records) noexcept {
    Buffer* buffer = nullptr;
    try {
        buffer = mine();
    } catch (const std::bad_alloc&) {
        lost_.fetch_add(records.size());
        return;
    }
    while (!buffer->put(records)) {
        if (failure_.load() != 0 || closed_.load()) {
            lost_.fetch_add(records.size());
            return;
        }
        if (!urgent_.exchange(true)) helper_wakes_.notify_one();
        sleep_a_moment();
    }
}

std::uint16_t Collector::number_of(const std::string& kind, const std::string& name) {
    const std::lock_guard lock(names_mutex_);
    const auto [entry, is_new] = names_.try_emplace({kind, name}, 0);
    if (is_new) {
        entry->second = name_counts_[kind]++;
        define({{"type", kind}, {"id", entry->second}, {"name", name}});
    }
    return entry->second;
}

void Collector::define(const nlohmann::json& definition) {
    const std::string text = definition.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    const std::lock_guard lock(file_mutex_);
    write_chunk(ChunkKind::definition, 0, std::as_bytes(std::span{text}));
}

void Collector::started(std::uint16_t worker, std::uint64_t task, std::int64_t start) noexcept {
    if (worker >= max_workers) return;
    current_[worker].start.store(start, std::memory_order_relaxed);
    current_[worker].task.store(task + 1, std::memory_order_release);
}

void Collector::ended(std::uint16_t worker) noexcept {
    if (worker < max_workers) current_[worker].task.store(0, std::memory_order_release);
}

void Collector::close() {
    if (closed_.exchange(true)) return;
    {
        const std::lock_guard lock(helper_mutex_);
        stopping_ = true;
    }
    helper_wakes_.notify_one();
    helper_.join();
    drain_all();
    define({{"type", "end"}, {"time", now()}, {"lost", lost_.load()}});
    if (::close(descriptor_) != 0 && failure_ == 0) failure_ = errno;
    if (failure_ != 0)
        throw Error("trace file {} is incomplete: {} ({} records lost)", path_, std::strerror(failure_), lost_.load());
}

void Collector::run_helper() {
    std::unique_lock lock(helper_mutex_);
    while (!stopping_) {
        helper_wakes_.wait_for(lock, std::chrono::milliseconds(options_.flush_milliseconds),
                               [this] { return stopping_ || urgent_.load(); });
        urgent_ = false;
        lock.unlock();
        drain_all();
        note_running();
        lock.lock();
    }
}

void Collector::drain_all() {
    std::vector<std::shared_ptr<Buffer>> buffers;
    {
        const std::lock_guard lock(buffers_mutex_);
        buffers = buffers_;
    }
    for (const auto& buffer : buffers) drain(*buffer);
}

void Collector::drain(Buffer& buffer) {
    const auto pieces = buffer.waiting();
    const std::size_t count = pieces[0].size() + pieces[1].size();
    if (count == 0) return;
    {
        const std::lock_guard lock(file_mutex_);
        for (const auto& piece : pieces)
            if (!piece.empty()) write_chunk(ChunkKind::records, buffer.thread(), std::as_bytes(piece));
    }
    if (failure_ != 0) lost_.fetch_add(count);
    buffer.taken(count);
}

/// A task that is seen running twice is long: it is noted once, lest it be unknown if the run is killed.
void Collector::note_running() {
    const std::int64_t seen = now();
    for (std::size_t w = 0; w < max_workers; ++w) {
        const std::uint64_t task = current_[w].task.load(std::memory_order_acquire);
        if (task != 0 && task == seen_running_[w] && task != told_running_[w]) {
            const Record record = to_record(TaskRunning{
                .worker = static_cast<std::uint16_t>(w), .id = task - 1, .start = current_[w].start, .seen = seen});
            const std::lock_guard lock(file_mutex_);
            write_chunk(ChunkKind::records, 0, std::as_bytes(std::span{record}));
            told_running_[w] = task;
        }
        seen_running_[w] = task;
    }
}

/// Appends one chunk in one write; the caller holds the file. After a failure nothing more is written.
void Collector::write_chunk(ChunkKind kind, std::uint16_t thread, std::span<const std::byte> payload) {
    if (failure_ != 0) return;
    ChunkHeader header{
        .kind = kind, .thread = thread, .bytes = static_cast<std::uint32_t>(payload.size()), .sequence = sequence_++};
    header.checksum = chunk_checksum(header, payload);
    const auto head = std::as_bytes(std::span{&header, 1});
    scratch_.assign(head.begin(), head.end());
    scratch_.insert(scratch_.end(), payload.begin(), payload.end());
    if (write_bytes(scratch_))
        file_size_ += static_cast<std::int64_t>(scratch_.size());
    else
        give_up(errno);
}

bool Collector::write_bytes(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t count = write(descriptor_, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return false;
        bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
    return true;
}

/// The file keeps the chunks that are whole.
void Collector::give_up(int reason) {
    failure_ = reason == 0 ? EIO : reason;
    if (ftruncate(descriptor_, static_cast<off_t>(file_size_)) != 0) return;  // the reader drops the cut chunk
}

}  // namespace tesela::trace
