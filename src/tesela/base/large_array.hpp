#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace tesela {

/// Asks for large pages where an array has many of them. Who reads such an array here and there misses the table of
/// pages at almost every step otherwise, and each small page costs a fault when it is first touched.
template <class T>
class LargePages {
public:
    using value_type = T;
    LargePages() = default;
    template <class U>
    LargePages(const LargePages<U>&) {}  // NOLINT(google-explicit-constructor): as allocators are converted

    [[nodiscard]] T* allocate(std::size_t count) {
        if (!is_large(count)) return std::allocator<T>().allocate(count);
        const std::size_t bytes = (count * sizeof(T) + page - 1) / page * page;
        void* memory = std::aligned_alloc(page, bytes);
        if (memory == nullptr) throw std::bad_alloc();
#ifdef __linux__
        (void)madvise(memory, bytes, MADV_HUGEPAGE);  // without them it is only slower
#endif
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t count) {
        if (is_large(count))
            std::free(memory);
        else
            std::allocator<T>().deallocate(memory, count);
    }
    friend bool operator==(const LargePages&, const LargePages&) { return true; }

private:
    static constexpr std::size_t page = std::size_t{2} << 20U;
    [[nodiscard]] static bool is_large(std::size_t count) { return count * sizeof(T) >= 2 * page; }
};

/// An array of millions of entries that are not read in order.
template <class T>
using LargeArray = std::vector<T, LargePages<T>>;

}  // namespace tesela
