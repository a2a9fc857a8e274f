// Feeds bytes to the trace reader and to everything that is computed from what it accepts. Only tesela::Error may come
// out. Checksums are made right first, since otherwise hardly any input would get past them.

#include "tesela/base/error.hpp"
#include "tesela/trace/analysis.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

namespace {

using namespace tesela::trace;  // NOLINT(google-build-using-namespace): a program

void mend_header(std::vector<std::byte>& content) {
    if (content.size() < sizeof(FileHeader)) return;
    FileHeader header;
    std::memcpy(&header, content.data(), sizeof header);
    header.checksum = checksum(std::span{content}.first(offsetof(FileHeader, checksum)), 0);
    std::memcpy(content.data(), &header, sizeof header);
}

void mend_chunks(std::vector<std::byte>& content) {
    std::uint32_t sequence = 0;
    std::size_t at = sizeof(FileHeader);
    while (at + sizeof(ChunkHeader) <= content.size()) {
        ChunkHeader chunk;
        std::memcpy(&chunk, content.data() + at, sizeof chunk);
        const std::size_t begin = at + sizeof chunk;
        if (chunk.bytes > content.size() - begin) return;
        chunk.sequence = sequence++;
        chunk.checksum = chunk_checksum(chunk, std::span{content}.subspan(begin, chunk.bytes));
        std::memcpy(content.data() + at, &chunk, sizeof chunk);
        at = begin + chunk.bytes;
    }
}

void read_all(const std::vector<std::byte>& content) {
    try {
        const Trace trace = parse_trace(content, "fuzz");
        const Graph graph = dependency_graph(trace);
        // A header may name the last of 65536 nodes: rows for each of them say nothing new, and take half a second.
        if (trace.nodes.size() > 64) return;
        for (const TableName& table : table_names(trace)) (void)to_csv(make_table(trace, graph, table.name));
        nlohmann::ordered_json json;
        to_json(json, summarise(trace, graph));
        (void)json.dump();
        (void)match_messages(trace);
        (void)difference(trace, trace);
    } catch (const tesela::Error&) {
        // What a damaged file must end in.
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto* bytes = reinterpret_cast<const std::byte*>(data);
    std::vector<std::byte> content(bytes, bytes + size);
    read_all(content);
    mend_header(content);
    mend_chunks(content);
    read_all(content);
    return 0;
}
