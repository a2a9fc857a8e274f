#pragma once

#include "tesela/flow/task.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstring>

namespace tesela {

/// What nodes compare of a task's arguments.
inline std::uint64_t compared(const Task& task) {
    Digest digest;
    if (task.add_arguments != nullptr) task.add_arguments(digest, task.arguments.data());
    return digest.value();
}

/// Turns a bit of each byte of arguments over: nodes see it unless the byte is between the fields or of one of so many
/// pointers.
template <class Arguments>
void see_all_but_pointers(std::size_t pointers) {
    static const Kernel kernel{"kernel"};
    const Task before = Task::unchecked(kernel, {}, Arguments{});
    alignas(Arguments) std::array<std::byte, sizeof(Arguments)> fields;
    fields.fill(std::byte{0xff});
    __builtin_clear_padding(reinterpret_cast<Arguments*>(fields.data()));
    std::size_t unseen = 0;
    for (std::size_t k = 0; k < sizeof(Arguments); ++k) {
        if (fields[k] == std::byte{0}) continue;
        Task task = before;
        task.arguments[k] ^= std::byte{1};
        if (compared(task) != compared(before)) continue;
        ++unseen;
        const std::size_t first = k / sizeof(void*) * sizeof(void*);
        void* pointer = nullptr;
        ASSERT_LE(first + sizeof pointer, sizeof(Arguments)) << "byte " << k << " is not seen";
    }
    EXPECT_EQ(unseen, pointers * sizeof(void*));
}

}  // namespace tesela
