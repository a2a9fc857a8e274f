#pragma once

#include "tesela/base/environment.hpp"

#include <cstdlib>
#include <optional>
#include <string>

namespace tesela::starpu {

/// Hides an environment variable, or gives it another value, while it lives.
class Meanwhile {
public:
    explicit Meanwhile(const char* name) : name_(name), value_(environment(name)) { unsetenv(name); }
    Meanwhile(const char* name, const std::string& value) : Meanwhile(name) { setenv(name, value.c_str(), 1); }
    ~Meanwhile() {
        if (value_)
            setenv(name_, value_->c_str(), 1);
        else
            unsetenv(name_);
    }
    Meanwhile(const Meanwhile&) = delete;
    Meanwhile& operator=(const Meanwhile&) = delete;
    Meanwhile(Meanwhile&&) = delete;
    Meanwhile& operator=(Meanwhile&&) = delete;

private:
    const char* name_;
    std::optional<std::string> value_;
};

}  // namespace tesela::starpu
