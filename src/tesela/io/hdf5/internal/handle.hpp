#pragma once

#include "tesela/base/error.hpp"

#include <hdf5.h>

#include <mutex>
#include <string>
#include <utility>

namespace tesela {

/// Held by who calls HDF5, which is not safe for threads. Its errors are thrown, not printed: it remembers that for
/// each thread.
class Hdf5Lock {
public:
    Hdf5Lock() : lock_(mutex()) { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

private:
    static std::mutex& mutex() {
        static std::mutex one;
        return one;
    }
    std::lock_guard<std::mutex> lock_;
};

inline hid_t check(hid_t id, const std::string& what) {
    if (id < 0) throw Error("HDF5: {} failed", what);
    return id;
}

/// An HDF5 object that is closed when it goes away.
class Handle {
public:
    using Close = herr_t (*)(hid_t);
    Handle() = default;
    Handle(hid_t id, Close close, const std::string& what) : id_(check(id, what)), close_(close) {}
    ~Handle() {
        if (id_ >= 0) close_(id_);
    }
    Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
    Handle& operator=(Handle&& other) noexcept {
        std::swap(id_, other.id_);
        std::swap(close_, other.close_);
        return *this;
    }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    operator hid_t() const { return id_; }  // NOLINT(google-explicit-constructor): as HDF5 takes it

private:
    hid_t id_ = -1;
    Close close_ = nullptr;
};

}  // namespace tesela
