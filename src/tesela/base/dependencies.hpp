#pragma once

#include <cstdint>
#include <vector>

namespace tesela {

/// How a task uses a datum, as far as the order of tasks is concerned; a read-write is a write.
enum class Touch : std::uint8_t { read, write, commute };

/// Who touched one datum last, while a stream of tasks is walked in order: yields the dependencies that
/// read-after-write, write-after-read and write-after-write imply. Commuting touches do not depend on each other.
class LastTouch {
public:
    /// Appends to `needs` the tasks that this one must wait for because of the datum; they may repeat.
    void touch(Touch how, std::uint32_t task, std::vector<std::uint32_t>& needs);
    /// Commuting touches from here on wait for those before.
    void end_commuting() { commuting_ = false; }
    /// The last write, or a group of commuting ones: who made the value that a read would see.
    [[nodiscard]] const std::vector<std::uint32_t>& writers() const { return writers_; }

private:
    std::vector<std::uint32_t> writers_;  // the last write, or a group of commuting ones
    std::vector<std::uint32_t> before_;   // what the commuting group itself had to wait for
    std::vector<std::uint32_t> readers_;  // reads since then
    bool commuting_ = false;
};

/// Sorts the tasks that one waits for, each once, without itself.
void tidy_dependencies(std::uint32_t task, std::vector<std::uint32_t>& needs);

}  // namespace tesela
