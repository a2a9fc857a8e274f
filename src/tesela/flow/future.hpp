#pragma once

#include "tesela/flow/engine.hpp"

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace tesela {

/// The value that a 1×1 tile has at one point of a stream, available later and on every node. On engines without data
/// it is the value that the caller gave for that case. Throws Error if the work failed that was to make it.
template <class T>
class Future {
public:
    Future(std::shared_ptr<Fetched> fetched, T otherwise) : fetched_(std::move(fetched)), otherwise_(otherwise) {}

    /// Waits for this value only.
    [[nodiscard]] T get() const {
        fetched_->wait();
        if (!fetched_->has_value()) return otherwise_;
        T value;
        std::memcpy(&value, fetched_->bytes().data(), sizeof(T));
        return value;
    }

private:
    std::shared_ptr<Fetched> fetched_;
    T otherwise_;
};

}  // namespace tesela
