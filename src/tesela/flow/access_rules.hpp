#pragma once

#include "tesela/base/dependencies.hpp"
#include "tesela/kernels/kernel.hpp"

#include <cstdint>
#include <vector>

namespace tesela {

/// How an access counts for the order of tasks.
[[nodiscard]] constexpr Touch touch_of(AccessMode mode) {
    if (mode == AccessMode::read) return Touch::read;
    return mode == AccessMode::commute || mode == AccessMode::disjoint ? Touch::commute : Touch::write;
}

/// The access whose tile says where a task runs, unless a node is named: the first that writes; null if none does.
template <class Accesses>
[[nodiscard]] auto placing_access(const Accesses& accesses) -> decltype(&*accesses.begin()) {
    for (const auto& access : accesses)
        if (writes(access.mode)) return &access;
    return nullptr;
}

/// What a task on a node does to the directory: copies of what it reads come before it, and what it wrote is new after
/// it. `at(access)` gives {directory, datum, effects}; `run` is called in between.
template <class Accesses, class At, class Run>
void follow_task(const Accesses& accesses, std::int32_t node, At&& at, Run&& run) {
    for (const auto& access : accesses) {
        if (!reads(access.mode)) continue;
        auto&& place = at(access);
        place.directory.read(place.datum, node, place.effects);
    }
    run();
    for (const auto& access : accesses) {
        if (!writes(access.mode)) continue;
        auto&& place = at(access);
        place.directory.written(place.datum, node, place.effects);
    }
}

/// The nodes that a share is for: some that are named, then the owners of blocks of tiles; they may repeat.
template <class Blocks, class OwnerOf>
[[nodiscard]] std::vector<std::int32_t> list_readers(std::vector<std::int32_t> named, const Blocks& blocks,
                                                     const OwnerOf& owner_of) {
    for (const auto& block : blocks)
        for (Index i = block.first.i; i < block.last.i; ++i)
            for (Index j = block.first.j; j < block.last.j; ++j) {
                const std::int32_t owner = owner_of(block, TileIndex{i, j});
                if (named.empty() || named.back() != owner) named.push_back(owner);
            }
    return named;
}

}  // namespace tesela
