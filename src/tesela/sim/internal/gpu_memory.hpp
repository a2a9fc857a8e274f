#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tesela::sim {

/// Which copies have room in the memory of a GPU, by their numbers on the node (Copy::on_node). Those that tasks use
/// are pinned; of the others the one that was not used for longest goes first. A copy that must be written back keeps
/// its room until it has left.
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
    static constexpr std::uint32_t nobody = ~std::uint32_t{0};
    /// Its neighbours in the line of those that no task uses, while nothing pins it and it does not leave.
    struct Resident {
        double bytes = 0;
        std::int32_t pins = 0;
        bool is_here = false;
        bool leaves = false;
        std::uint32_t older = nobody;
        std::uint32_t younger = nobody;
    };
    [[nodiscard]] bool is_here(std::uint32_t copy) const {
        return copy < residents_.size() && residents_[copy].is_here;
    }
    void stop_waiting(std::uint32_t copy);
    void join_line(std::uint32_t copy);
    void quit_line(std::uint32_t copy);

    double size_;
    double free_;
    double leaving_ = 0;
    // By number, which costs room for those that are not here, but no search: every task asks for all its copies.
    std::vector<Resident> residents_;
    std::uint32_t oldest_ = nobody;
    std::uint32_t youngest_ = nobody;
};

}  // namespace tesela::sim
