#include "tesela/distribution/families.hpp"

#include <cstdio>

int main() {
    const tesela::Distribution owners = tesela::squarest_block_cyclic({6, 6}, 4);
    std::printf("tile (1, 2) is on node %d\n", static_cast<int>(owners.owner({1, 2}).number()));
    return owners.nodes() == 4 ? 0 : 1;
}
