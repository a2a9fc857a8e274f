#pragma once

#include "tesela/flow/attachment.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>

namespace tesela::starpu {

class StarpuAttachment;

/// What the matrices of a stream and their tiles are called, by the numbers of their tiles (see
/// StarpuAttachment::datum): for a while also when a matrix is gone. Safe for calls from several threads.
class TileNames {
public:
    void add(const StarpuAttachment& matrix);
    void gone(const StarpuAttachment& matrix);

    /// "A(3, 2)"
    [[nodiscard]] std::string tile(std::uint64_t datum) const;
    /// "A", of a tile of it.
    [[nodiscard]] std::string matrix(std::uint64_t datum) const;
    /// "A of 2000 x 2000 doubles in 4 x 4 tiles", of a tile of it.
    [[nodiscard]] std::string description(std::uint64_t datum) const;

private:
    struct Named {
        std::string name;
        ElementIndex size;
        GridSize tiles;
        ElementType type;
        Stored stored;
    };
    [[nodiscard]] const std::pair<const std::uint64_t, Named>* find(std::uint64_t datum) const;

    static constexpr std::size_t most_gone = 256;
    mutable std::mutex mutex_;
    std::map<std::uint64_t, Named> named_;  // by their first tile
    std::deque<std::uint64_t> gone_;
};

}  // namespace tesela::starpu
