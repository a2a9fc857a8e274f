#pragma once

#include "tesela/kernels/kernel.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <vector>

namespace tesela {

/// Whether a call has square tiles, or the few columns of a right-hand side beside one.
enum class CallShape : std::uint8_t { square, narrow };

/// A call of a kernel as an algorithm makes it, for any tile size: what calibration times under the kernel's name.
struct Specimen {
    /// Where an operand comes from, as in a run: the diagonal tile that a whole column is solved with stays in the
    /// cache, the tiles of a panel are read many times, all others come from memory; vectors are small.
    enum class Origin : std::uint8_t { pivot, panel, memory, vector };
    struct Operand {
        TileShape shape{};
        Origin origin = Origin::memory;
    };
    /// Larger ones cannot be timed.
    static constexpr Index largest_tile = 8192;
    using Operands = std::function<std::vector<Operand>(Index tile)>;

    const Kernel* kernel = nullptr;
    ElementType type = ElementType::f64;
    CallShape shape = CallShape::square;
    Operands operands;
    std::vector<std::byte> arguments;  ///< what they point to must be there while they are timed

    /// Of a kernel that may be gone before it is timed. Throws Error where it has another number of tiles.
    template <class Arguments, class... Elements>
    [[nodiscard]] static Specimen of(const KernelOf<Arguments, Elements...>& kernel,
                                     const std::type_identity_t<Arguments>& arguments, Operands operands,
                                     CallShape shape = CallShape::square) {
        require_tiles(kernel, operands, sizeof...(Elements));
        Specimen specimen{&kept_kernel(kernel), first_type<Elements...>(), shape, std::move(operands), {}};
        if constexpr (!std::is_empty_v<Arguments>) specimen.arguments = bytes_of(arguments);
        return specimen;
    }

    /// Operands: square tiles from these places.
    [[nodiscard]] static Operands square(std::vector<Origin> origins);
    /// Vectors: tiles of so many columns, 8 at most, or of a single element.
    [[nodiscard]] static Operands columns(std::vector<Index> widths);
    static constexpr Index one_element = -1;
    /// A square tile from memory, then vectors.
    [[nodiscard]] static Operands matrix_and_columns(std::vector<Index> widths);

private:
    static void require_tiles(const Kernel& kernel, const Operands& operands, std::size_t tiles);
    template <class Arguments>
    static std::vector<std::byte> bytes_of(const Arguments& arguments) {
        std::vector<std::byte> bytes(sizeof(Arguments));
        std::memcpy(bytes.data(), &arguments, sizeof(Arguments));
        return bytes;
    }
    template <class... Elements>
    static constexpr ElementType first_type() {
        for (const ElementType type : {element_type<std::remove_const_t<Elements>>...})
            if (type != ElementType::none) return type;
        return ElementType::f64;
    }
};

/// What calls of the specimen do at a tile size.
[[nodiscard]] KernelCost cost_of(const Specimen& specimen, Index tile);

/// Several lists as one.
[[nodiscard]] std::vector<Specimen> joined(std::initializer_list<std::vector<Specimen>> lists);
/// Those on elements of this type.
[[nodiscard]] std::vector<Specimen> of_type(std::vector<Specimen> list, ElementType type);
/// Those of the kernels that are named. Throws Error, which lists all, for one that is not there.
[[nodiscard]] std::vector<Specimen> of_kernels(const std::vector<Specimen>& list,
                                               const std::vector<std::string>& names);
/// Each kernel once.
[[nodiscard]] std::vector<std::string> kernel_names(const std::vector<Specimen>& list);

}  // namespace tesela
