#include "tesela/mds/specimens.hpp"

#include "tesela/mds/gram.hpp"

namespace tesela::mds {

std::vector<Specimen> specimens() {
    using enum Specimen::Origin;
    constexpr Index narrow = 4;  // columns of a product
    constexpr Index one = Specimen::one_element;
    return {Specimen::of(gram_rows_kernel, {ElementRule::half_squares}, Specimen::matrix_and_columns({1, 1})),
            Specimen::of(squares_kernel, {}, Specimen::matrix_and_columns({2, 1, 2, 1, one})),
            Specimen::of(both_products_kernel, {}, Specimen::matrix_and_columns({narrow, narrow, narrow, narrow})),
            Specimen::of(take_double_kernel, {.rule = ElementRule::half_squares}, Specimen::square({memory, memory})),
            Specimen::of(border_kernel, {}, Specimen::columns({1, one, 1, 2, 1})),
            Specimen::of(scale_rows_kernel, {}, Specimen::columns({1, narrow})),
            Specimen::of(centre_kernel, {Op::transpose}, [](Index n) {
                return std::vector<Specimen::Operand>{{{n, 2}, vector}, {{n, 2}, vector}, {{n, n}, memory}};
            })};
}

}  // namespace tesela::mds
