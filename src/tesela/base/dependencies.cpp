#include "tesela/base/dependencies.hpp"

#include <algorithm>
#include <utility>

namespace tesela {
namespace {

void append(std::vector<std::uint32_t>& to, const std::vector<std::uint32_t>& from) {
    to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

void LastTouch::touch(Touch how, std::uint32_t task, std::vector<std::uint32_t>& needs) {
    if (how == Touch::read) {
        append(needs, writers_);
        readers_.push_back(task);
        return;
    }
    const bool commutes = how == Touch::commute;
    if (commutes && commuting_ && readers_.empty()) {
        append(needs, before_);
        writers_.push_back(task);
        return;
    }
    // Whoever read the datum waited for its writers, so waiting for the readers is enough.
    std::vector<std::uint32_t>& waits = readers_.empty() ? writers_ : readers_;
    append(needs, waits);
    if (commutes)
        before_ = std::move(waits);
    else
        before_.clear();
    writers_.assign(1, task);
    readers_.clear();
    commuting_ = commutes;
}

void tidy_dependencies(std::uint32_t task, std::vector<std::uint32_t>& needs) {
    std::sort(needs.begin(), needs.end());
    needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
    needs.erase(std::remove(needs.begin(), needs.end(), task), needs.end());
}

}  // namespace tesela
