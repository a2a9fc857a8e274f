#pragma once

#include "tesela/kernels/kernel.hpp"
#include "tesela/kernels/tile_span.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

namespace tesela {
namespace detail {

/// Bytes of the tiles' elements, each once: the cost of a kernel that says nothing of its own.
template <class... Elements>
KernelCost bytes_of_tiles(std::span<const TileShape> shapes, const void*) noexcept {
    constexpr std::size_t sizes[]{element_bytes(element_type<std::remove_const_t<Elements>>)..., 0};
    KernelCost cost;
    for (std::size_t k = 0; k < shapes.size(); ++k)
        cost.bytes += static_cast<double>(shapes[k].rows * shapes[k].cols) * static_cast<double>(sizes[k]);
    return cost;
}

template <class... Tiles>
constexpr TileUse use_of_tiles() {
    unsigned compressed = 0;
    unsigned viewed = 0;
    unsigned bit = 1;
    ((compressed |= TileParameter<Tiles>::compressed ? bit : 0U, viewed |= TileParameter<Tiles>::viewed ? bit : 0U,
      bit <<= 1U),
     ...);
    return {.compressed = static_cast<std::uint8_t>(compressed),
            .viewed = static_cast<std::uint8_t>(viewed),
            .whole = static_cast<std::uint8_t>(~viewed & (bit - 1))};
}

template <auto Function, class Arguments, class... Tiles>
struct CallWithTiles {
    using Kernel = KernelOf<Arguments, typename Tiles::Element...>;
    static constexpr TileUse use = use_of_tiles<Tiles...>();
    static constexpr tesela::Kernel::Cost cost = bytes_of_tiles<typename Tiles::Element...>;

    static KernelResult run(const KernelCall& call) noexcept { return run(call, std::index_sequence_for<Tiles...>{}); }
    template <std::size_t... K>
    static KernelResult run(const KernelCall& call, std::index_sequence<K...>) noexcept {
        const KernelResult result = Function(call.args<Arguments>(), Tiles(call.tiles[K], static_cast<int>(K))...);
        return is_outside ? KernelResult{Failure::outside, 0, take_outside()} : result;
    }
};

/// What is wrong with a function of which a kernel is to be made, one thing at a time.
struct FunctionChecks {
    bool function = false;
    bool result = false;
    bool does_not_throw = false;
    bool arguments = false;
    bool tiles = false;
};
template <class Anything>
struct Signature {
    static constexpr FunctionChecks checks{};
};
template <bool Noexcept, class Result, class First, class... Rest>
struct Decomposed {
    using Arguments = std::remove_cvref_t<First>;
    static constexpr FunctionChecks checks{
        .function = true,
        .result = std::is_same_v<Result, KernelResult>,
        .does_not_throw = Noexcept,
        .arguments = std::is_same_v<First, const Arguments&> && !TileParameter<Arguments>::is_tile,
        .tiles = (TileParameter<Rest>::is_tile && ...)};
    template <auto Function>
    using CallOf = CallWithTiles<Function, Arguments, Rest...>;
};
template <class Result, class First, class... Rest>
struct Signature<Result (*)(First, Rest...)> : Decomposed<false, Result, First, Rest...> {};
template <class Result, class First, class... Rest>
struct Signature<Result (*)(First, Rest...) noexcept> : Decomposed<true, Result, First, Rest...> {};
template <class Result>
struct Signature<Result (*)()> : Decomposed<true, Result, void*> {};
template <class Result>
struct Signature<Result (*)() noexcept> : Decomposed<true, Result, void*> {};

template <auto Function>
constexpr FunctionChecks checks_of = Signature<decltype(Function)>::checks;

/// Says what is wrong with it, if anything is.
template <FunctionChecks Are>
constexpr bool check_function() {
    static_assert(Are.function,
                  "make_kernel<f> makes a kernel of a function: KernelResult f(const Arguments&, "
                  "TileSpan<const double>, TileSpan<double>, …) noexcept");
    if constexpr (Are.function) {
        static_assert(Are.result,
                      "a kernel returns a KernelResult: `return {};` where it went well, `return "
                      "fail(\"why\", where);` where it did not");
        static_assert(Are.does_not_throw,
                      "a kernel is noexcept: write it behind the parameters, and return "
                      "fail(\"why\", where) where you would throw");
        static_assert(Are.arguments,
                      "a kernel's first parameter is what it is told, by reference: const Arguments&, "
                      "or const NoArguments& where there is nothing");
        static_assert(Are.tiles,
                      "after its arguments a kernel takes its tiles, each by value: TileSpan<const double> "
                      "where it only reads, TileSpan<double> where it writes, or StoredTile of them");
    }
    return Are.function && Are.result && Are.does_not_throw && Are.arguments && Are.tiles;
}

/// The kernel of a function; what is not one has said so, and is a kernel of nothing here.
template <auto Function>
constexpr auto call_of() {
    if constexpr (check_function<checks_of<Function>>())
        return typename Signature<decltype(Function)>::template CallOf<Function>{};
    else
        return CallWithTiles<[](const NoArguments&) noexcept { return KernelResult{}; }, NoArguments>{};
}
template <auto Function>
using CallOf = decltype(call_of<Function>());

}  // namespace detail

/// A kernel of one's own from a function on the cores:
///     KernelResult axpy(const double& a, TileSpan<const double> x, TileSpan<double> y) noexcept;
///     const auto axpy_kernel = make_kernel<axpy>("axpy");
/// `cost`: floating-point operations and bytes from shapes and arguments, for predictions; otherwise the bytes of the
/// tiles.
template <auto Function>
[[nodiscard]] constexpr auto make_kernel(const char* name, Kernel::Cost cost = detail::CallOf<Function>::cost) {
    using Call = detail::CallOf<Function>;
    return typename Call::Kernel(name, cost, Call::run, Call::use);
}

}  // namespace tesela
