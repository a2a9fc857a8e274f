#include "tesela/kernels/specimen.hpp"

#include "tesela/base/error.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace tesela {

void Specimen::require_tiles(const Kernel& kernel, const Operands& operands, std::size_t tiles) {
    constexpr Index any_size = 64;
    if (const std::size_t given = operands(any_size).size(); given != tiles)
        throw Error("{} works on {} tiles, and its specimen has {}", kernel.name, tiles, given);
}

Specimen::Operands Specimen::square(std::vector<Origin> origins) {
    return [origins = std::move(origins)](Index n) {
        std::vector<Operand> operands;
        for (const Origin origin : origins) operands.push_back({{n, n}, origin});
        return operands;
    };
}

Specimen::Operands Specimen::columns(std::vector<Index> widths) {
    return [widths = std::move(widths)](Index n) {
        std::vector<Operand> operands;
        for (const Index c : widths)
            operands.push_back({c == one_element ? TileShape{1, 1} : TileShape{n, c}, Origin::vector});
        return operands;
    };
}

Specimen::Operands Specimen::matrix_and_columns(std::vector<Index> widths) {
    return [others = columns(std::move(widths))](Index n) {
        std::vector<Operand> operands = others(n);
        operands.insert(operands.begin(), {{n, n}, Origin::memory});
        return operands;
    };
}

KernelCost cost_of(const Specimen& specimen, Index tile) {
    std::vector<TileShape> shapes;
    for (const Specimen::Operand& operand : specimen.operands(tile)) shapes.push_back(operand.shape);
    return specimen.kernel->cost(shapes, specimen.arguments.data());
}

std::vector<Specimen> joined(std::initializer_list<std::vector<Specimen>> lists) {
    std::vector<Specimen> all;
    for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
    return all;
}

std::vector<Specimen> of_type(std::vector<Specimen> list, ElementType type) {
    std::erase_if(list, [&](const Specimen& specimen) { return specimen.type != type; });
    return list;
}

std::vector<Specimen> of_kernels(const std::vector<Specimen>& list, const std::vector<std::string>& names) {
    std::vector<Specimen> chosen;
    for (const std::string& name : names) {
        const std::size_t before = chosen.size();
        std::ranges::copy_if(list, std::back_inserter(chosen),
                             [&](const Specimen& s) { return s.kernel->name == name; });
        if (chosen.size() == before)
            throw Error("there is no kernel \"{}\" to time; there are {}", name, fmt::join(kernel_names(list), ", "));
    }
    return chosen;
}

std::vector<std::string> kernel_names(const std::vector<Specimen>& list) {
    std::vector<std::string> names;
    for (const Specimen& specimen : list)
        if (std::ranges::find(names, specimen.kernel->name) == names.end()) names.emplace_back(specimen.kernel->name);
    return names;
}

}  // namespace tesela
