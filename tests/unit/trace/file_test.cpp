#include "support.hpp"

#include "tesela/base/error.hpp"
#include "tesela/trace/app_events.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <set>
#include <thread>

namespace tesela::trace::file_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using testing::read_bytes;
using testing::TemporaryFolder;
using testing::write_bytes;

/// One task with three accesses through a collector, as an engine does it.
void put_task(Collector& collector, std::uint64_t id, std::uint16_t worker = 0) {
    const std::int64_t now = Collector::now();
    const std::array<Record, 2> created{
        to_record(TaskCreated{.access_count = 3,
                              .kernel = collector.number_of("kernel", "gemm"),
                              .step = 7,
                              .time = now,
                              .id = id,
                              .priority = -3,
                              .i = 4,
                              .j = 2,
                              .phase = collector.number_of("phase", "factorization"),
                              .matrix = 0,
                              .first_access = pack_access(1, Use::read)}),
        to_record(TaskAccesses{
            .count = 2, .id = id, .access = {pack_access(2, Use::read), pack_access(3, Use::read_write)}})};
    collector.put(created);
    collector.put(TaskRan{.worker = worker,
                          .rank = 12,
                          .id = id,
                          .ready = now + 10,
                          .start = now + 20,
                          .end = now + 120,
                          .flops = 1000,
                          .bytes = 64});
}

void define_run(Collector& collector) {
    collector.define({{"type", "node"}, {"host", "here"}});
    for (int w = 0; w < 4; ++w) collector.define({{"type", "worker"}, {"id", w}, {"kind", "cpu"}, {"name", "core"}});
    collector.define({{"type", "matrix"}, {"id", 0}, {"name", "A"}, {"first", 0}, {"rows", 5}, {"cols", 5}});
}

void write_small_trace(const std::string& path, const NodeOfRun& node = {}) {
    Collector collector({.path = path}, node);
    define_run(collector);
    for (std::uint64_t id = 0; id < 3; ++id) put_task(collector, id);
    collector.put(Message{.kind = RecordKind::send,
                          .peer = 1,
                          .tag = 7,
                          .start = Collector::now(),
                          .end = Collector::now(),
                          .bytes = 80});
    collector.close();
}

TEST(TraceFile, GivesBackWhatWasRecorded) {
    const TemporaryFolder folder;
    write_small_trace(folder.file("run.trace"));
    const Trace trace = read_trace(folder.file("run.trace"));
    ASSERT_EQ(trace.tasks.size(), 3U);
    EXPECT_TRUE(trace.warnings.empty());
    EXPECT_TRUE(trace.nodes[0].complete);
    EXPECT_EQ(trace.nodes[0].host, "here");
    EXPECT_EQ(trace.workers.size(), 4U);
    const TaskRow& task = trace.tasks[2];
    EXPECT_EQ(task.id, 2U);
    EXPECT_EQ(name_of(trace.kernels, task.kernel), "gemm");
    EXPECT_EQ(name_of(trace.phases, task.phase), "factorization");
    EXPECT_EQ(trace.matrices[static_cast<std::size_t>(task.matrix)].name, "A");
    EXPECT_EQ(task.step, 7);
    EXPECT_EQ(task.priority, -3);
    EXPECT_EQ(task.i, 4);
    EXPECT_EQ(task.j, 2);
    EXPECT_EQ(task.rank, 12);
    EXPECT_EQ(task.ready - task.created, 10);
    EXPECT_EQ(task.start - task.created, 20);
    EXPECT_EQ(task.duration(), 100);
    EXPECT_EQ(task.flops, 1000);
    const auto accesses = trace.accesses_of(task);
    ASSERT_EQ(accesses.size(), 3U);
    EXPECT_EQ(datum_of(accesses[0]), 1U);
    EXPECT_EQ(datum_of(accesses[2]), 3U);
    EXPECT_EQ(use_of(accesses[2]), Use::read_write);
    ASSERT_EQ(trace.messages.size(), 1U);
    EXPECT_EQ(trace.messages[0].i, 1);
    EXPECT_EQ(trace.messages[0].j, 2);
}

TEST(TraceFile, KeepsEveryRecordOfManyThreadsInSmallBuffers) {
    const TemporaryFolder folder;
    constexpr std::uint64_t per_thread = 20'000;
    {
        Collector collector({.path = folder.file("t")}, {}, {.records = 64, .flush_milliseconds = 1});
        define_run(collector);
        std::vector<std::thread> threads;
        for (std::uint16_t t = 0; t < 4; ++t)
            threads.emplace_back([&collector, t] {
                for (std::uint64_t k = 0; k < per_thread; ++k)
                    collector.put(TaskRan{.worker = t, .id = t * per_thread + k, .start = 10, .end = 20});
            });
        for (std::thread& thread : threads) thread.join();
        collector.close();
        EXPECT_EQ(collector.lost(), 0U);
    }
    const Trace trace = read_trace(folder.file("t"));
    ASSERT_EQ(trace.tasks.size(), 4 * per_thread);
    for (std::uint64_t id = 0; id < trace.tasks.size(); ++id) {
        ASSERT_EQ(trace.tasks[id].id, id);
        ASSERT_EQ(trace.workers[static_cast<std::size_t>(trace.tasks[id].worker)].number,
                  static_cast<std::int32_t>(id / per_thread));
    }
}

TEST(TraceFile, ThreadsThatEndLeaveTheirBufferToTheNext) {
    const TemporaryFolder folder;
    Collector collector({.path = folder.file("t")});
    for (std::uint64_t k = 0; k < 200; ++k)
        std::thread([&] { collector.put(TaskRan{.id = k, .start = 1, .end = 2}); }).join();
    collector.close();
    const Trace trace = read_trace(folder.file("t"));
    EXPECT_EQ(trace.tasks.size(), 200U);
    // All chunks of records are of the one thread number that was ever needed.
    const auto bytes = read_bytes(folder.file("t"));
    std::set<std::uint16_t> numbers;
    for (std::size_t at = sizeof(FileHeader); at + sizeof(ChunkHeader) <= bytes.size();) {
        ChunkHeader chunk;
        std::memcpy(&chunk, bytes.data() + at, sizeof chunk);
        if (chunk.kind == ChunkKind::records) numbers.insert(chunk.thread);
        at += sizeof chunk + chunk.bytes;
    }
    EXPECT_EQ(numbers.size(), 1U);
}

TEST(TraceFile, CutAtAnyByteIsReadUpToThatOrRefused) {
    const TemporaryFolder folder;
    write_small_trace(folder.file("t"));
    const auto whole = read_bytes(folder.file("t"));
    std::size_t most = 0;
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const auto part = std::span{whole}.first(size);
        if (size < sizeof(FileHeader)) {
            EXPECT_THROW((void)parse_trace(part, "cut"), Error) << size;
            continue;
        }
        const Trace trace = parse_trace(part, "cut");
        EXPECT_EQ(trace.warnings.size(), 1U) << size;
        EXPECT_FALSE(trace.nodes[0].complete);
        EXPECT_GE(trace.tasks.size(), most);
        most = std::max(most, trace.tasks.size());
    }
    EXPECT_EQ(most, 3U);
}

TEST(TraceFile, DamageInAnyByteIsNoticed) {
    const TemporaryFolder folder;
    write_small_trace(folder.file("t"));
    const auto whole = read_bytes(folder.file("t"));
    for (std::size_t at = 0; at < whole.size(); ++at) {
        auto damaged = whole;
        damaged[at] ^= std::byte{0x10};
        try {
            // A length that reaches beyond the end looks like a run that was killed there.
            EXPECT_EQ(parse_trace(damaged, "damaged").warnings.size(), 1U) << "byte " << at;
        } catch (const Error& error) {
            EXPECT_THAT(error.what(), HasSubstr("damaged")) << "byte " << at;
        }
    }
}

std::string message_for(const std::vector<std::byte>& content) {
    try {
        (void)parse_trace(content, "x.trace");
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

std::vector<std::byte> to_bytes(const std::string& text) {
    const auto* begin = reinterpret_cast<const std::byte*>(text.data());
    return {begin, begin + text.size()};
}

TEST(TraceFile, EmptyForeignAndUnknownVersionsAreToldApart) {
    EXPECT_THAT(message_for({}), HasSubstr("empty"));
    EXPECT_THAT(message_for(to_bytes("\x89HDF\r\n\x1a\n and more")), HasSubstr("not a trace"));
    EXPECT_THAT(message_for(to_bytes("TESELATR")), HasSubstr("within its header"));
    FileHeader header{.version = schema_version + 1};
    const auto bytes = std::as_bytes(std::span{&header, 1});
    EXPECT_THAT(message_for({bytes.begin(), bytes.end()}), HasSubstr("version 3"));
    header = {.byte_order = 0x04030201};
    EXPECT_THAT(message_for({bytes.begin(), bytes.end()}), HasSubstr("byte order"));
    EXPECT_THROW((void)read_trace("/nonexistent/file"), Error);
    EXPECT_THROW((void)read_trace("/tmp"), Error);
}

TEST(TraceFile, ThatCannotBeWrittenIsAnError) {
    EXPECT_THROW(Collector({.path = "/nonexistent/run.trace"}), Error);
    // Every write to this device says that there is no space left.
    EXPECT_THROW(Collector({.path = "/dev/full"}), Error);
}

TEST(TraceFile, ThatAnotherRunWritesIsLeftToIt) {
    const TemporaryFolder folder;
    const std::string path = folder.file("t");
    Collector first({.path = path});
    put_task(first, 1);
    EXPECT_THROW(Collector({.path = path}), Error);
    first.close();
    EXPECT_EQ(read_trace(path).tasks.size(), 1U);
    EXPECT_NO_THROW(Collector({.path = path}).close());
}

TEST(TraceFile, OfSeveralNodesIsReadAsOneRun) {
    const TemporaryFolder folder;
    const std::string path = folder.file("run");
    for (std::uint32_t node = 0; node < 3; ++node) write_small_trace(path, {.node = node, .nodes = 3, .run = 5});
    const Trace trace = read_trace(path);
    EXPECT_EQ(trace.nodes.size(), 3U);
    EXPECT_EQ(trace.tasks.size(), 9U);
    EXPECT_EQ(trace.kernels.size(), 1U);
    EXPECT_EQ(trace.matrices.size(), 1U);
    EXPECT_THAT([&] { (void)read_trace(path + ".1"); }, ::testing::ThrowsMessage<Error>(HasSubstr("node 1 of 3")));

    std::filesystem::remove(path + ".2");
    EXPECT_THAT(read_trace(path).warnings, Contains(HasSubstr("node 2 is missing")));
    write_small_trace(path, {.node = 2, .nodes = 3, .run = 6});
    EXPECT_THAT([&] { (void)read_trace(path); }, ::testing::ThrowsMessage<Error>(HasSubstr("another run")));
}

TEST(TraceFile, ClocksOfNodesAreAligned) {
    const TemporaryFolder folder;
    const std::string path = folder.file("run");
    const std::int64_t now = Collector::now();
    const auto write = [&](std::uint32_t node, std::int64_t late, std::int64_t drift) {
        Collector collector({.path = path}, {.node = node, .nodes = 2});
        collector.define({{"type", "worker"}, {"id", 0}, {"kind", "cpu"}, {"name", ""}});
        collector.define({{"type", "clock"}, {"at", now + late}, {"offset", -late}});
        collector.define({{"type", "clock"}, {"at", now + late + 1'000'000 + drift}, {"offset", -late - drift}});
        // Both clocks show the same moments: a half and the whole of the time between the two measurements.
        collector.put(
            TaskRan{.id = 1, .start = now + late + 500'000 + drift / 2, .end = now + late + 1'000'000 + drift});
        collector.close();
    };
    write(0, 0, 0);
    write(1, 3'000'000'000, 200);
    const Trace trace = read_trace(path);
    ASSERT_EQ(trace.tasks.size(), 2U);
    EXPECT_NEAR(static_cast<double>(trace.tasks[0].start), static_cast<double>(trace.tasks[1].start), 1);
    EXPECT_NEAR(static_cast<double>(trace.tasks[0].end), static_cast<double>(trace.tasks[1].end), 1);
}

/// Whether a trace that is still being written says what runs.
bool says_what_runs(const std::string& path) {
    try {
        const Trace trace = read_trace(path);
        return trace.tasks.size() == 102 && trace.tasks.back().start != unknown_time;
    } catch (const Error&) {
        return false;
    }
}

TEST(TraceFile, OfAKilledRunIsReadable) {
    const TemporaryFolder folder;
    const std::string path = folder.file("killed");
    const pid_t child = fork();
    if (child == 0) {
        Collector collector({.path = path}, {}, {.flush_milliseconds = 5});
        define_run(collector);
        for (std::uint64_t id = 0; id < 100; ++id) put_task(collector, id);
        put_task(collector, 200);
        collector.started(3, 201, Collector::now());
        collector.put(TaskCreated{.kernel = 0, .time = Collector::now(), .id = 201});
        while (true) std::this_thread::sleep_for(std::chrono::seconds(1));
    }
    ASSERT_GT(child, 0);
    for (int look = 0; look < 500 && !says_what_runs(path); ++look)
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const Trace trace = read_trace(path);
    ASSERT_EQ(trace.tasks.size(), 102U);
    EXPECT_THAT(trace.warnings, Contains(HasSubstr("did not end properly")));
    // What was running is known, though it never ended.
    const TaskRow& last = trace.tasks.back();
    EXPECT_EQ(last.id, 201U);
    EXPECT_FALSE(last.ran());
    ASSERT_NE(last.start, unknown_time);
    EXPECT_EQ(trace.workers[static_cast<std::size_t>(last.worker)].number, 3);
}

TEST(Modules, AreParsedFromTheirNames) {
    EXPECT_EQ(parse_modules("tasks,comms"), (Modules{Module::tasks, Module::comms}));
    EXPECT_EQ(parse_modules("all"), Modules::usual());
    EXPECT_FALSE(parse_modules("all").has(Module::papi));
    EXPECT_TRUE(parse_modules("all,papi").has(Module::papi));
    EXPECT_THROW((void)parse_modules("task"), Error);
    EXPECT_THROW((void)parse_modules(""), Error);
}

TEST(AppEvents, KeepTheirFieldsWhateverTheirNumber) {
    const TemporaryFolder folder;
    const EventType before = register_event("rank_seen", {{"i"}, {"j"}, {"error", FieldType::real}});
    Collector collector({.path = folder.file("t")});
    emit(before, {9, 9, 9.0});  // not traced yet
    set_active(&collector);
    std::vector<Field> many;
    for (int k = 0; k < 11; ++k)
        many.push_back({fmt::format("f{}", k), k % 2 == 0 ? FieldType::integer : FieldType::real});
    const EventType wide = register_event("wide", many);
    emit(before, {1, 2, 0.5});
    emit(wide, {0, 1.5, 2, 3.5, 4, 5.5, 6, 7.5, 8, 9.5, 10});
    emit(before, {3, 4, 1});
    set_active(nullptr);
    collector.close();
    const Trace trace = read_trace(folder.file("t"));
    ASSERT_EQ(trace.events.size(), 2U);
    const EventTable& ranks = trace.events[0];
    EXPECT_EQ(ranks.name, "rank_seen");
    ASSERT_EQ(ranks.time.size(), 2U);
    EXPECT_EQ(ranks.values[0], 1U);
    EXPECT_EQ(std::bit_cast<double>(ranks.values[2]), 0.5);
    EXPECT_EQ(std::bit_cast<double>(ranks.values[5]), 1.0);
    const EventTable& others = trace.events[1];
    ASSERT_EQ(others.values.size(), 11U);
    for (std::size_t k = 0; k < 11; ++k) {
        if (k % 2 == 0)
            EXPECT_EQ(others.values[k], k);
        else
            EXPECT_EQ(std::bit_cast<double>(others.values[k]), static_cast<double>(k) + 0.5);
    }
    EXPECT_THROW((void)register_event("wide", {{"other"}}), Error);
    EXPECT_THROW((void)register_event("too wide", std::vector<Field>(17)), Error);
}

TEST(AppEvents, AreLeftOutWhenTheirModuleIsOff) {
    const TemporaryFolder folder;
    const EventType type = register_event("unwanted", {{"x"}});
    Collector collector({.path = folder.file("t"), .modules = {Module::tasks}});
    set_active(&collector);
    emit(type, {1});
    set_active(nullptr);
    collector.close();
    for (const EventTable& table : read_trace(folder.file("t")).events) EXPECT_TRUE(table.time.empty());
}

}  // namespace
}  // namespace tesela::trace::file_test
