#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <unordered_map>

namespace tesela::sim {

/// Which copies have room in the memory of a GPU. Those that tasks use are pinned; of the others the one that was not
/// used for longest goes first. A copy that must be written back keeps its room until it has left.
class GpuMemory {
public:
    explicit GpuMemory(double bytes) : size_(bytes), free_(bytes) {}

    [[nodiscard]] double size() const { return size_; }
    [[nodiscard]] double free() const { return free_; }
    /// Whether so much is free, or will be when all that leaves has left.
    [[nodiscard]] bool has_room(double bytes) const { return free_ >= bytes; }
    [[nodiscard]] bool will_have_room(double bytes) const { return has_room(bytes) || free_ + leaving_ >= bytes; }

    /// One more task uses a copy; it does not leave after all. False if it has no room here.
    [[nodiscard]] bool pin(std::uint32_t copy);
    /// Gives room to a copy that a task uses.
    void add(std::uint32_t copy, double bytes);
    /// One task less uses a copy, if it still has room here.
    void unpin(std::uint32_t copy);

    /// What was not used for longest and no task uses, if there is anything.
    [[nodiscard]] std::optional<std::uint32_t> oldest() const;
    /// A copy that no task uses is on its way out.
    void leave(std::uint32_t copy);
    [[nodiscard]] bool leaves(std::uint32_t copy) const;
    /// A copy has no room here any more; returns its bytes.
    double drop(std::uint32_t copy);

private:
    struct Resident {
        double bytes = 0;
        std::int32_t pins = 0;
        bool leaves = false;
        std::list<std::uint32_t>::iterator in_line{};  // while nothing pins it and it does not leave
    };
    void stop_waiting(const Resident& resident);

    double size_;
    double free_;
    double leaving_ = 0;
    std::unordered_map<std::uint32_t, Resident> residents_;
    std::list<std::uint32_t> unused_;  // the one that was not used for longest first
};

}  // namespace tesela::sim
