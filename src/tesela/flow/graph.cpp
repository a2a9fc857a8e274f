#include "tesela/flow/graph.hpp"

#include "tesela/flow/access_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

namespace tesela {
namespace {

constexpr std::string_view colours[] = {"#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7"};

std::string label(const Recording& recording, const RecordedItem& item) {
    for (const RecordedAccess& access : recording.accesses_of(item)) {
        if (!writes(access.mode)) continue;
        const RecordedDatum& datum = recording.data[static_cast<std::size_t>(access.datum)];
        return fmt::format("{}\\n{}({},{})", item.kernel->name,
                           recording.matrices[static_cast<std::size_t>(datum.matrix)], datum.index.i, datum.index.j);
    }
    return item.kernel->name;
}

/// What only says where copies are, or are not needed, waits for nobody.
bool uses_values(RecordedItem::Kind kind) {
    using Kind = RecordedItem::Kind;
    return kind != Kind::retire && kind != Kind::discard && kind != Kind::share;
}

}  // namespace

TaskGraph dependency_graph(const Recording& recording) {
    TaskGraph graph;
    graph.first.push_back(0);
    std::vector<LastTouch> last(recording.data.size());
    std::vector<std::uint32_t> needs;
    for (std::uint32_t v = 0; v < recording.items.size(); ++v) {
        const RecordedItem& item = recording.items[v];
        needs.clear();
        if (uses_values(item.kind))
            for (const RecordedAccess& access : recording.accesses_of(item))
                last[static_cast<std::size_t>(access.datum)].touch(touch_of(access.mode), v, needs);
        tidy_dependencies(v, needs);
        graph.predecessors.insert(graph.predecessors.end(), needs.begin(), needs.end());
        graph.first.push_back(static_cast<std::uint32_t>(graph.predecessors.size()));
    }
    return graph;
}

std::string to_dot(const Recording& recording) {
    const TaskGraph graph = dependency_graph(recording);
    std::string out = "digraph stream {\n  node [shape=box, style=filled, fontname=\"sans-serif\"];\n";
    std::map<std::string_view, std::size_t> colour;
    for (std::size_t v = 0; v < recording.items.size(); ++v) {
        const RecordedItem& item = recording.items[v];
        if (item.kind != RecordedItem::Kind::task) continue;
        const std::size_t c = colour.try_emplace(item.kernel->name, colour.size()).first->second;
        fmt::format_to(std::back_inserter(out), "  t{} [label=\"{}\", fillcolor=\"{}\"];\n", v, label(recording, item),
                       colours[c % std::size(colours)]);
    }
    for (std::size_t v = 0; v < recording.items.size(); ++v) {
        if (recording.items[v].kind != RecordedItem::Kind::task) continue;
        for (const std::uint32_t u : graph.predecessors_of(v))
            if (recording.items[u].kind == RecordedItem::Kind::task)
                fmt::format_to(std::back_inserter(out), "  t{} -> t{};\n", u, v);
    }
    return out + "}\n";
}

}  // namespace tesela
