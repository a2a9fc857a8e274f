#include "tesela/io/otf2/trace_otf2.hpp"

#include "tesela/base/error.hpp"

#include <otf2/otf2.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <vector>

namespace tesela {
namespace {

using namespace trace;  // NOLINT(google-build-using-namespace): all of this file is about traces

void check(OTF2_ErrorCode code, const char* what) {
    if (code != OTF2_SUCCESS) throw Error("OTF2: {}: {}", what, OTF2_Error_GetDescription(code));
}

OTF2_FlushType flush_always(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) { return OTF2_FLUSH; }
OTF2_TimeStamp no_flush_time(void*, OTF2_FileType, OTF2_LocationRef) { return 0; }
const OTF2_FlushCallbacks flush_callbacks{flush_always, no_flush_time};

/// Numbers strings as OTF2 wants them: each once, before its use.
class Strings {
public:
    explicit Strings(OTF2_GlobalDefWriter* writer) : writer_(writer) {}
    OTF2_StringRef operator()(const std::string& text) {
        const auto [entry, is_new] = numbers_.try_emplace(text, static_cast<OTF2_StringRef>(numbers_.size()));
        if (is_new) check(OTF2_GlobalDefWriter_WriteString(writer_, entry->second, text.c_str()), "a string");
        return entry->second;
    }

private:
    OTF2_GlobalDefWriter* writer_;
    std::map<std::string, OTF2_StringRef> numbers_;
};

std::vector<std::vector<std::uint32_t>> tasks_by_worker(const Trace& trace) {
    std::vector<std::vector<std::uint32_t>> lists(trace.workers.size());
    for (std::uint32_t t = 0; t < trace.tasks.size(); ++t)
        if (trace.tasks[t].ran() && trace.tasks[t].worker >= 0 && trace.tasks[t].kernel >= 0)
            lists[static_cast<std::size_t>(trace.tasks[t].worker)].push_back(t);
    for (auto& list : lists)
        std::sort(list.begin(), list.end(),
                  [&](std::uint32_t a, std::uint32_t b) { return trace.tasks[a].start < trace.tasks[b].start; });
    return lists;
}

void write_events(OTF2_Archive* archive, const Trace& trace, const std::vector<std::vector<std::uint32_t>>& lists) {
    check(OTF2_Archive_OpenEvtFiles(archive), "opening event files");
    for (std::size_t w = 0; w < lists.size(); ++w) {
        OTF2_EvtWriter* writer = OTF2_Archive_GetEvtWriter(archive, w);
        for (const std::uint32_t t : lists[w]) {
            const TaskRow& task = trace.tasks[t];
            const auto region = static_cast<OTF2_RegionRef>(task.kernel);
            check(OTF2_EvtWriter_Enter(writer, nullptr, static_cast<OTF2_TimeStamp>(task.start), region), "an event");
            check(OTF2_EvtWriter_Leave(writer, nullptr, static_cast<OTF2_TimeStamp>(task.end), region), "an event");
        }
        check(OTF2_Archive_CloseEvtWriter(archive, writer), "closing events");
    }
    check(OTF2_Archive_CloseEvtFiles(archive), "closing event files");
    check(OTF2_Archive_OpenDefFiles(archive), "opening definitions");
    for (std::size_t w = 0; w < lists.size(); ++w)
        check(OTF2_Archive_CloseDefWriter(archive, OTF2_Archive_GetDefWriter(archive, w)), "closing definitions");
    check(OTF2_Archive_CloseDefFiles(archive), "closing definitions");
}

void write_definitions(OTF2_Archive* archive, const Trace& trace,
                       const std::vector<std::vector<std::uint32_t>>& lists) {
    OTF2_GlobalDefWriter* writer = OTF2_Archive_GetGlobalDefWriter(archive);
    Time end = 0;
    for (const NodeRow& node : trace.nodes) end = std::max(end, node.end);
    check(OTF2_GlobalDefWriter_WriteClockProperties(writer, 1'000'000'000, 0, static_cast<std::uint64_t>(end) + 1, 0),
          "the clock");
    Strings strings(writer);
    const OTF2_StringRef empty = strings("");
    for (std::size_t k = 0; k < trace.kernels.size(); ++k) {
        const OTF2_StringRef name = strings(trace.kernels[k]);
        check(OTF2_GlobalDefWriter_WriteRegion(writer, static_cast<OTF2_RegionRef>(k), name, name, empty,
                                               OTF2_REGION_ROLE_TASK, OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE, empty,
                                               0, 0),
              "a region");
    }
    check(OTF2_GlobalDefWriter_WriteSystemTreeNode(writer, 0, strings("run"), strings("machine"),
                                                   OTF2_UNDEFINED_SYSTEM_TREE_NODE),
          "a node");
    for (std::size_t n = 0; n < trace.nodes.size(); ++n)
        check(OTF2_GlobalDefWriter_WriteLocationGroup(
                  writer, static_cast<OTF2_LocationGroupRef>(n), strings(fmt::format("node {}", n)),
                  OTF2_LOCATION_GROUP_TYPE_PROCESS, 0, OTF2_UNDEFINED_LOCATION_GROUP),
              "a process");
    for (std::size_t w = 0; w < trace.workers.size(); ++w) {
        const WorkerRow& worker = trace.workers[w];
        check(OTF2_GlobalDefWriter_WriteLocation(writer, w, strings(fmt::format("{} {}", worker.kind, worker.number)),
                                                 OTF2_LOCATION_TYPE_CPU_THREAD, 2 * lists[w].size(),
                                                 static_cast<OTF2_LocationGroupRef>(worker.node)),
              "a worker");
    }
    check(OTF2_Archive_CloseGlobalDefWriter(archive, writer), "closing definitions");
}

}  // namespace

void export_otf2(const Trace& trace, const std::string& path) {
    if (std::filesystem::exists(path)) throw Error("{} exists already; an OTF2 archive is a folder of its own", path);
    constexpr std::uint64_t event_chunk = 1U << 20U;
    constexpr std::uint64_t definition_chunk = 4U << 20U;
    OTF2_Archive* archive = OTF2_Archive_Open(path.c_str(), "traces", OTF2_FILEMODE_WRITE, event_chunk,
                                              definition_chunk, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (archive == nullptr) throw Error("cannot create the OTF2 archive {}", path);
    check(OTF2_Archive_SetFlushCallbacks(archive, &flush_callbacks, nullptr), "callbacks");
    check(OTF2_Archive_SetSerialCollectiveCallbacks(archive), "callbacks");
    const auto lists = tasks_by_worker(trace);
    write_events(archive, trace, lists);
    write_definitions(archive, trace, lists);
    check(OTF2_Archive_Close(archive), "closing the archive");
}

}  // namespace tesela
