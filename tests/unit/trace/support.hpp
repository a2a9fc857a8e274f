#pragma once

// Traces made by hand, and files that go away.

#include "tesela/trace/collector.hpp"
#include "tesela/trace/trace.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace tesela::trace::testing {

class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "tesela-trace-XXXXXX").string();
        path_ = mkdtemp(pattern.data());
    }
    ~TemporaryFolder() { std::filesystem::remove_all(path_); }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

private:
    std::string path_;
};

inline std::vector<std::byte> read_bytes(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    return {bytes, bytes + text.size()};
}

inline void write_bytes(const std::string& path, const std::vector<std::byte>& bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

/// Builds the tables of a run in memory; times in nanoseconds.
class TraceBuilder {
public:
    explicit TraceBuilder(int nodes = 1) {
        trace_.nodes.resize(static_cast<std::size_t>(nodes));
        for (NodeRow& node : trace_.nodes) node.complete = true;
    }
    Code worker(int node, int number, const std::string& kind = "cpu") {
        trace_.workers.push_back({node, number, kind, kind});
        return static_cast<Code>(trace_.workers.size() - 1);
    }
    /// A stream of a card.
    Code stream(int node, int number, int card) {
        const Code code = worker(node, number, "cuda");
        trace_.workers.back().card = card;
        return code;
    }
    struct Times {
        Time created = 0, ready = 0, start = 0, end = 0;
    };
    TaskRow& task(const std::string& kernel, Code worker, const Times& times,
                  std::vector<std::uint64_t> accesses = {}) {
        TaskRow row;
        row.id = trace_.tasks.size();
        row.kernel = code(trace_.kernels, kernel);
        row.phase = code(trace_.phases, "main");
        row.worker = worker;
        row.node = worker < 0 ? 0 : trace_.workers[static_cast<std::size_t>(worker)].node;
        row.created = times.created;
        row.ready = times.ready;
        row.start = times.start;
        row.end = times.end;
        row.first_access = trace_.accesses.size();
        row.access_count = static_cast<std::uint8_t>(accesses.size());
        trace_.accesses.insert(trace_.accesses.end(), accesses.begin(), accesses.end());
        trace_.tasks.push_back(row);
        return trace_.tasks.back();
    }
    Code phase(const std::string& name) { return code(trace_.phases, name); }
    [[nodiscard]] Trace& trace() { return trace_; }

private:
    static Code code(std::vector<std::string>& names, const std::string& name) {
        for (std::size_t k = 0; k < names.size(); ++k)
            if (names[k] == name) return static_cast<Code>(k);
        names.push_back(name);
        return static_cast<Code>(names.size() - 1);
    }
    Trace trace_;
};

}  // namespace tesela::trace::testing
