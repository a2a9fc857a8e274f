#include "tesela/io/trace_export.hpp"

#include "tesela/io/output_file.hpp"
#include "tesela/trace/analysis.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace tesela {
namespace {

using namespace trace;  // NOLINT(google-build-using-namespace): all of this file is about traces

std::string json_text(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

/// Microseconds, as Chrome's format counts, to the nanosecond.
std::string microseconds(Time time) { return fmt::format("{}.{:03}", time / 1000, time % 1000); }

/// Collects text and hands it to a file in large pieces.
class Lines {
public:
    explicit Lines(const std::string& path) : file_(path) {}
    template <class... Args>
    void add(fmt::format_string<Args...> text, Args&&... args) {
        fmt::format_to(std::back_inserter(buffer_), text, std::forward<Args>(args)...);
        if (buffer_.size() >= piece) flush();
    }
    void commit() {
        flush();
        file_.commit();
    }

private:
    static constexpr std::size_t piece = 1U << 20U;
    void flush() {
        file_.write(buffer_);
        buffer_.clear();
    }
    OutputFile file_;
    std::string buffer_;
};

class Perfetto {
public:
    Perfetto(const Trace& trace, const std::string& path) : trace_(trace), out_(path) {}
    void write() {
        out_.add("{{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
        name_lanes();
        for (const TaskRow& task : trace_.tasks)
            if (task.ran()) add(task);
        for (std::size_t m = 0; m < trace_.messages.size(); ++m) add(trace_.messages[m], m);
        add_memory();
        for (const WaitRow& wait : trace_.waits)
            event("{{\"ph\":\"X\",\"name\":\"wait: {}\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{}}}",
                  wait.reason == WaitReason::throttle ? "throttle" : "completion", wait.node,
                  submission_lane + wait.stream, microseconds(wait.start),
                  microseconds(std::max<Time>(0, wait.end - wait.start)));
        for (const EventTable& events : trace_.events) add(events);
        out_.add("\n]}}\n");
        out_.commit();
    }

private:
    static constexpr int submission_lane = 100'000;

    template <class... Args>
    void event(fmt::format_string<Args...> text, Args&&... args) {
        if (!first_) out_.add(",\n");
        first_ = false;
        out_.add(text, std::forward<Args>(args)...);
    }

    void name_lanes() {
        for (std::size_t n = 0; n < trace_.nodes.size(); ++n)
            event("{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{},\"args\":{{\"name\":{}}}}}", n,
                  json_text(fmt::format("node {} {}", n, trace_.nodes[n].host)));
        for (const WorkerRow& worker : trace_.workers)
            event("{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":{}}}}}",
                  worker.node, worker.number, json_text(fmt::format("{} {}", worker.kind, worker.number)));
    }

    void add(const TaskRow& task) {
        const int lane = task.worker < 0 ? -1 : trace_.workers[static_cast<std::size_t>(task.worker)].number;
        event(
            "{{\"ph\":\"X\",\"name\":{},\"cat\":{},\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},\"args\":{{\"task\":{},"
            "\"i\":{},"
            "\"j\":{},\"step\":{},\"priority\":{},\"rank\":{},\"flops\":{}}}}}",
            quoted(trace_.kernels, task.kernel), quoted(trace_.phases, task.phase), task.node, lane,
            microseconds(task.start), microseconds(task.duration()), task.id, task.i, task.j, task.step, task.priority,
            task.rank, task.flops);
    }

    void add(const MessageRow& m, std::size_t id) {
        const bool sends = m.direction == Direction::send;
        const std::string name = fmt::format("{} {}", sends ? "send to" : "receive from", m.peer);
        event(
            "{{\"ph\":\"b\",\"cat\":\"comms\",\"name\":{},\"id\":{},\"pid\":{},\"ts\":{},\"args\":{{\"i\":{},\"j\":{},"
            "\"bytes\":{}}}}}",
            json_text(name), id, m.node, microseconds(m.start), m.i, m.j, m.bytes);
        event("{{\"ph\":\"e\",\"cat\":\"comms\",\"name\":{},\"id\":{},\"pid\":{},\"ts\":{}}}", json_text(name), id,
              m.node, microseconds(std::max(m.start, m.end)));
    }

    void add_memory() {
        std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> in_use;
        for (const MemoryRow& row : trace_.memory) {
            std::int64_t& now = in_use[{row.node, row.memory}];
            now = std::max<std::int64_t>(0, now + row.bytes);
            event("{{\"ph\":\"C\",\"name\":\"memory {}\",\"pid\":{},\"ts\":{},\"args\":{{\"bytes\":{}}}}}", row.memory,
                  row.node, microseconds(row.time), now);
        }
    }

    void add(const EventTable& events) {
        const std::size_t width = events.fields.size();
        for (std::size_t row = 0; row < events.time.size(); ++row) {
            nlohmann::ordered_json args = nlohmann::ordered_json::object();
            for (std::size_t k = 0; k < width; ++k) {
                const std::uint64_t bits = events.values[row * width + k];
                if (events.fields[k].type == FieldType::real)
                    args[events.fields[k].name] = std::bit_cast<double>(bits);
                else
                    args[events.fields[k].name] = static_cast<std::int64_t>(bits);
            }
            event("{{\"ph\":\"i\",\"s\":\"p\",\"name\":{},\"cat\":\"app\",\"pid\":{},\"tid\":0,\"ts\":{},\"args\":{}}}",
                  json_text(events.name), events.node[row], microseconds(events.time[row]), args.dump());
        }
    }

    /// Names are few and tasks are many.
    const std::string& quoted(const std::vector<std::string>& names, Code code) {
        std::string& text = quoted_[{&names, code}];
        if (text.empty()) text = json_text(trace::name_of(names, code));
        return text;
    }

    const Trace& trace_;
    Lines out_;
    bool first_ = true;
    std::map<std::pair<const void*, Code>, std::string> quoted_;
};

/// Paje's own header: the events that follow and their fields. Numbers of the events are used below.
constexpr std::string_view paje_header = R"(%EventDef PajeDefineContainerType 0
%	Alias string
%	Type string
%	Name string
%EndEventDef
%EventDef PajeDefineStateType 1
%	Alias string
%	Type string
%	Name string
%EndEventDef
%EventDef PajeDefineVariableType 2
%	Alias string
%	Type string
%	Name string
%	Color color
%EndEventDef
%EventDef PajeDefineLinkType 3
%	Alias string
%	Type string
%	StartContainerType string
%	EndContainerType string
%	Name string
%EndEventDef
%EventDef PajeDefineEntityValue 4
%	Alias string
%	Type string
%	Name string
%	Color color
%EndEventDef
%EventDef PajeCreateContainer 5
%	Time date
%	Alias string
%	Type string
%	Container string
%	Name string
%EndEventDef
%EventDef PajeDestroyContainer 6
%	Time date
%	Type string
%	Name string
%EndEventDef
%EventDef PajeSetState 7
%	Time date
%	Type string
%	Container string
%	Value string
%EndEventDef
%EventDef PajeSetVariable 8
%	Time date
%	Type string
%	Container string
%	Value double
%EndEventDef
%EventDef PajeStartLink 9
%	Time date
%	Type string
%	Container string
%	Value string
%	StartContainer string
%	Key string
%EndEventDef
%EventDef PajeEndLink 10
%	Time date
%	Type string
%	Container string
%	Value string
%	EndContainer string
%	Key string
%EndEventDef
)";

constexpr std::array<std::string_view, 7> paje_colours{"0.90 0.62 0.00", "0.34 0.71 0.91", "0.00 0.62 0.45",
                                                       "0.94 0.89 0.26", "0.00 0.45 0.70", "0.84 0.37 0.00",
                                                       "0.80 0.47 0.65"};
constexpr std::array<std::string_view, 7> dot_colours{"#e69f00", "#56b4e9", "#009e73", "#f0e442",
                                                      "#0072b2", "#d55e00", "#cc79a7"};

std::string paje_text(std::string text) {
    std::replace(text.begin(), text.end(), '"', '\'');
    std::replace(text.begin(), text.end(), '\n', ' ');
    return '"' + text + '"';
}

class Paje {
public:
    Paje(const Trace& trace, const std::string& path) : trace_(trace), out_(path) {}
    void write() {
        out_.add("{}", paje_header);
        define();
        collect();
        for (const Moment& moment : moments_) add(moment);
        for (std::size_t w = 0; w < trace_.workers.size(); ++w) out_.add("6 {} W w{}\n", at(end_), w);
        for (std::size_t n = 0; n < trace_.nodes.size(); ++n) out_.add("6 {} N n{}\n", at(end_), n);
        out_.commit();
    }

private:
    /// Paje's readers want events in order of time; at one moment what ends comes before what begins.
    struct Moment {
        enum class What : std::uint8_t { task_end, memory, task_start, send, receive };
        Time time = 0;
        What what = What::task_end;
        std::size_t row = 0;
        std::size_t key = 0;
    };

    [[nodiscard]] static std::string at(Time time) {
        return fmt::format("{}.{:09}", time / 1'000'000'000, time % 1'000'000'000);
    }

    void define() {
        out_.add(
            "0 N 0 \"Node\"\n0 W N \"Worker\"\n1 S W \"State\"\n2 M N \"Memory\" \"0.4 0.4 0.8\"\n3 L 0 N N "
            "\"Message\"\n");
        out_.add("4 idle S \"idle\" \"0.95 0.95 0.95\"\n");
        for (std::size_t k = 0; k < trace_.kernels.size(); ++k)
            out_.add("4 k{} S {} \"{}\"\n", k, paje_text(trace_.kernels[k]), paje_colours[k % paje_colours.size()]);
        out_.add("4 message L \"message\" \"0 0 0\"\n");
        for (std::size_t n = 0; n < trace_.nodes.size(); ++n)
            out_.add("5 {} n{} N 0 {}\n", at(0), n, paje_text(fmt::format("node {}", n)));
        for (std::size_t w = 0; w < trace_.workers.size(); ++w) {
            const WorkerRow& worker = trace_.workers[w];
            out_.add("5 {} w{} W n{} {}\n", at(0), w, worker.node,
                     paje_text(fmt::format("node {} {} {}", worker.node, worker.kind, worker.number)));
            out_.add("7 {} S w{} idle\n", at(0), w);
        }
    }

    void collect() {
        using What = Moment::What;
        for (std::size_t t = 0; t < trace_.tasks.size(); ++t) {
            const TaskRow& task = trace_.tasks[t];
            if (!task.ran() || task.worker < 0) continue;
            moments_.push_back({task.start, What::task_start, t, 0});
            moments_.push_back({task.end, What::task_end, t, 0});
        }
        const auto matched = match_messages(trace_);
        for (std::size_t key = 0; key < matched.size(); ++key) {
            const Time start = trace_.messages[matched[key].send].start;
            moments_.push_back({start, What::send, matched[key].send, key});
            moments_.push_back(
                {std::max(start, trace_.messages[matched[key].receive].end), What::receive, matched[key].receive, key});
        }
        for (std::size_t m = 0; m < trace_.memory.size(); ++m)
            if (trace_.memory[m].memory == 0) moments_.push_back({trace_.memory[m].time, What::memory, m, 0});
        std::stable_sort(moments_.begin(), moments_.end(), [](const Moment& a, const Moment& b) {
            return std::pair{a.time, a.what} < std::pair{b.time, b.what};
        });
        if (!moments_.empty()) end_ = moments_.back().time;
    }

    void add(const Moment& moment) {
        using What = Moment::What;
        const std::string time = at(moment.time);
        if (moment.what == What::task_start) {
            const TaskRow& task = trace_.tasks[moment.row];
            if (task.kernel >= 0) out_.add("7 {} S w{} k{}\n", time, task.worker, task.kernel);
        } else if (moment.what == What::task_end) {
            out_.add("7 {} S w{} idle\n", time, trace_.tasks[moment.row].worker);
        } else if (moment.what == What::memory) {
            const MemoryRow& row = trace_.memory[moment.row];
            std::int64_t& now = in_use_[row.node];
            now = std::max<std::int64_t>(0, now + row.bytes);
            out_.add("8 {} M n{} {}\n", time, row.node, now);
        } else if (moment.what == What::send) {
            out_.add("9 {} L 0 message n{} m{}\n", time, trace_.messages[moment.row].node, moment.key);
        } else {
            out_.add("10 {} L 0 message n{} m{}\n", time, trace_.messages[moment.row].node, moment.key);
        }
    }

    const Trace& trace_;
    Lines out_;
    std::vector<Moment> moments_;
    std::map<std::int32_t, std::int64_t> in_use_;
    Time end_ = 0;
};

std::string dot_text(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out;
}

}  // namespace

void export_perfetto(const Trace& trace, const std::string& path) { Perfetto(trace, path).write(); }

void export_paje(const Trace& trace, const std::string& path) { Paje(trace, path).write(); }

void export_dot(const Trace& trace, const std::string& path) {
    const Graph graph = dependency_graph(trace);
    Lines out(path);
    out.add("digraph run {{\n  node [shape=box, style=filled, fontname=\"sans-serif\"];\n");
    for (std::size_t v = 0; v < trace.tasks.size(); ++v) {
        const TaskRow& task = trace.tasks[v];
        const std::size_t colour = static_cast<std::size_t>(std::max<Code>(0, task.kernel)) % dot_colours.size();
        out.add("  t{} [label=\"{}\\n({},{}) step {}\", tooltip=\"task {} on node {}, {:.9f} s\", fillcolor=\"{}\"];\n",
                v, dot_text(name_of(trace.kernels, task.kernel)), task.i, task.j, task.step, task.id, task.node,
                1e-9 * static_cast<double>(task.duration()), dot_colours[colour]);
    }
    for (std::size_t v = 0; v < graph.size(); ++v)
        for (const std::uint32_t u : graph.predecessors_of(v)) out.add("  t{} -> t{};\n", u, v);
    out.add("}}\n");
    out.commit();
}

}  // namespace tesela
