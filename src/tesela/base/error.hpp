#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace tesela {

/// What every public function throws when it is asked for something it cannot do: the text says what was wrong and
/// what to do about it. Numerical failure is not an Error; it is a value (see flow/status.hpp).
class Error : public std::runtime_error {
public:
    explicit Error(const std::string& what) : std::runtime_error(what) {}

    template <class... Args>
    explicit Error(fmt::format_string<Args...> text, Args&&... args)
        : std::runtime_error(fmt::format(text, std::forward<Args>(args)...)) {}
};

}  // namespace tesela
