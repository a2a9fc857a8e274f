#pragma once

namespace tesela::sim {

/// Base of what one part of the simulator knows another by: called through a reference, never copied.
class Interface {
public:
    Interface() = default;
    virtual ~Interface() = default;
    Interface(const Interface&) = delete;
    Interface& operator=(const Interface&) = delete;
    Interface(Interface&&) = delete;
    Interface& operator=(Interface&&) = delete;
};

}  // namespace tesela::sim
