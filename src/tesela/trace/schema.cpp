#include "tesela/trace/schema.hpp"

#include <cstring>

namespace tesela::trace {

std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed) {
    // Multiply and fold, a word at a time: each word changes the product, and the shift brings high bits down.
    constexpr std::uint64_t prime = 0x9e37'79b9'7f4a'7c15U;
    std::uint64_t hash = (seed + 1) * prime ^ bytes.size();
    const auto mix = [&hash](std::uint64_t word) {
        hash = (hash ^ word) * prime;
        hash ^= hash >> 29U;
    };
    std::size_t at = 0;
    for (; at + 8 <= bytes.size(); at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, 8);
        mix(word);
    }
    if (at < bytes.size()) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, bytes.size() - at);
        mix(word);
    }
    return hash;
}

std::uint64_t chunk_checksum(const ChunkHeader& header, std::span<const std::byte> payload) {
    const auto fields = std::as_bytes(std::span{&header, 1}).first(offsetof(ChunkHeader, checksum));
    return checksum(payload, checksum(fields, 0));
}

}  // namespace tesela::trace
