#pragma once

#include "tesela/net/internal/communicator.hpp"
#include "tesela/net/transport.hpp"

#include <array>
#include <cstddef>
#include <limits>

namespace tesela::net {

/// Where bytes go that nobody has room for.
inline std::array<std::byte, 1U << 16U> bin;
struct IntoBin {
    Index bytes = 0;
};

/// MPI's description of columns of bytes: MPI_BYTE while their number fits an int, a type of its own where there are
/// more or they are apart.
class SendType {
public:
    explicit SendType(const Columns& memory) : base_(memory.data) {
        constexpr Index most = std::numeric_limits<int>::max();
        if (memory.contiguous() && memory.bytes() <= most) {
            count_ = static_cast<int>(memory.bytes());
        } else {
            if (memory.contiguous())
                make_large(memory.bytes());
            else
                make_columns(memory);
            count_ = 1;
            own_ = true;
        }
        if (own_) check_or_end(MPI_Type_commit(&type_), "MPI_Type_commit");
    }
    /// One piece after the other over the last. MPI says that what is received should not overlap, so that nobody
    /// counts on what is there in the end; nobody looks at it here, and the only other way to get rid of a message
    /// would be to have room for it.
    explicit SendType(const IntoBin& what) : base_(bin.data()) {
        constexpr Index piece = bin.size();
        MPI_Datatype pieces = MPI_DATATYPE_NULL;
        check_or_end(MPI_Type_create_hvector(static_cast<int>(what.bytes / piece), static_cast<int>(piece), 0, MPI_BYTE,
                                             &pieces),
                     "MPI_Type_create_hvector");
        const int lengths[]{1, static_cast<int>(what.bytes % piece)};
        const MPI_Aint places[]{0, 0};
        const MPI_Datatype types[]{pieces, MPI_BYTE};
        check_or_end(MPI_Type_create_struct(2, lengths, places, types, &type_), "MPI_Type_create_struct");
        check_or_end(MPI_Type_free(&pieces), "MPI_Type_free");
        count_ = 1;
        own_ = true;
        check_or_end(MPI_Type_commit(&type_), "MPI_Type_commit");
    }
    ~SendType() {
        if (own_) check_or_end(MPI_Type_free(&type_), "MPI_Type_free");
    }
    SendType(const SendType&) = delete;
    SendType& operator=(const SendType&) = delete;
    SendType(SendType&&) = delete;
    SendType& operator=(SendType&&) = delete;

    [[nodiscard]] const void* base() const { return base_; }
    [[nodiscard]] void* writable_base() const { return const_cast<void*>(base_); }  // NOLINT(*-const-cast): a receive's
    [[nodiscard]] int count() const { return count_; }
    [[nodiscard]] MPI_Datatype get() const { return type_; }

private:
    /// Blocks of 1 MiB, and the rest.
    void make_large(Index bytes) {
        constexpr Index block = Index{1} << 20U;
        MPI_Datatype blocks = MPI_DATATYPE_NULL;
        MPI_Datatype one = MPI_DATATYPE_NULL;
        check_or_end(MPI_Type_contiguous(static_cast<int>(block), MPI_BYTE, &one), "MPI_Type_contiguous");
        check_or_end(MPI_Type_contiguous(static_cast<int>(bytes / block), one, &blocks), "MPI_Type_contiguous");
        const int lengths[]{1, static_cast<int>(bytes % block)};
        const MPI_Aint places[]{0, static_cast<MPI_Aint>(bytes / block * block)};
        const MPI_Datatype types[]{blocks, MPI_BYTE};
        check_or_end(MPI_Type_create_struct(2, lengths, places, types, &type_), "MPI_Type_create_struct");
        check_or_end(MPI_Type_free(&one), "MPI_Type_free");
        check_or_end(MPI_Type_free(&blocks), "MPI_Type_free");
    }
    void make_columns(const Columns& memory) {
        MPI_Datatype column = MPI_BYTE;
        const bool long_column = memory.column_bytes > std::numeric_limits<int>::max();
        if (long_column) {
            make_large(memory.column_bytes);
            column = type_;
        }
        check_or_end(MPI_Type_create_hvector(static_cast<int>(memory.columns),
                                             long_column ? 1 : static_cast<int>(memory.column_bytes),
                                             static_cast<MPI_Aint>(memory.stride), column, &type_),
                     "MPI_Type_create_hvector");
        if (long_column) check_or_end(MPI_Type_free(&column), "MPI_Type_free");
    }

    const void* base_;
    int count_ = 0;
    MPI_Datatype type_ = MPI_BYTE;
    bool own_ = false;
};

}  // namespace tesela::net
