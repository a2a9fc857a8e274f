#pragma once

#include <cstring>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

namespace tesela::bench {

/// The bytes that each of some functions returns, each in a process of its own, as many at a time as this machine has
/// cores: SimGrid allows one simulation in a process, and memory that an earlier one has given back would hide what
/// another needs. The caller has started no threads. Throws Error for one that failed, whose own message is on standard
/// error.
[[nodiscard]] std::vector<std::string> bytes_of_children(const std::vector<std::function<std::string()>>& work);

/// The same for values that are plain bytes.
template <class T>
requires std::is_trivially_copyable_v<T>
[[nodiscard]] std::vector<T> in_children(const std::vector<std::function<T()>>& work) {
    std::vector<std::function<std::string()>> as_bytes;
    for (const auto& function : work)
        as_bytes.emplace_back([&function] {
            const T value = function();
            return std::string(reinterpret_cast<const char*>(&value), sizeof(T));
        });
    std::vector<T> values;
    for (const std::string& bytes : bytes_of_children(as_bytes))
        std::memcpy(&values.emplace_back(), bytes.data(), sizeof(T));
    return values;
}

}  // namespace tesela::bench
