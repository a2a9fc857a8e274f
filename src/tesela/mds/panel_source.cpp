#include "tesela/mds/internal/panel_source.hpp"

#include "tesela/base/random.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <vector>

namespace tesela::mds {

template <class T>
KernelResult read_panel(const KernelCall& call) noexcept {
    const auto& args = call.args<ReadArguments>();
    // The one thing that tasks change: what they find.
    auto& source =
        *static_cast<PanelSource*>(const_cast<void*>(args.source));  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    const StoredTile<T> panel(call.tiles[0]);
    MatrixBlock block{.row = args.first.i, .col = args.first.j, .rows = panel.cols(), .cols = panel.rows()};
    if (source.wanted_ == PanelSource::Wanted::half)
        block.cols = std::clamp<Index>(block.row + block.rows - block.col, 0, block.cols);
    if (block.cols == 0) return {};
    const RowMajor<T> to{panel.data(), panel.ld()};
    if (!source.read(block, to)) return tesela::fail("a file could not be read", block.row);
    if (!source.looks_good(block, to)) return tesela::fail("a file has a value that cannot be analysed", block.row);
    return {};
}

namespace {

const PanelKernel<float> read_single{"dread", read_without_file.cost, read_panel<float>};
const PanelKernel<double> read_double{"dread", read_without_file.cost, read_panel<double>};

}  // namespace

const Kernel& PanelSource::kernel(ElementType type) {
    return type == ElementType::f32 ? static_cast<const Kernel&>(read_single) : read_double;
}

template <class T>
bool PanelSource::read(const MatrixBlock& block, RowMajor<T> to) noexcept {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    const ReadOutcome outcome = file_.read(block, to);
    nanoseconds_ += std::chrono::nanoseconds(Clock::now() - start).count();
    if (!outcome.ok()) fail(outcome.reason());
    return outcome.ok();
}

/// Row by row, in pieces: the rule is for double precision.
template <class T>
bool PanelSource::looks_good(const MatrixBlock& block, RowMajor<T> values) noexcept {
    constexpr Index at_once = 512;
    std::array<double, at_once> piece;
    for (Index i = 0; i < block.rows; ++i)
        for (Index j = 0; j < block.cols; j += at_once) {
            const Index cols = std::min(at_once, block.cols - j);
            const T* from = &values(i, j);
            std::copy(from, from + cols, piece.begin());
            const MatrixBlock part{.row = block.row + i, .col = block.col + j, .rows = 1, .cols = cols};
            const InputFlaw flaw = find_flaw(analysis_, part, {piece.data(), 1});
            if (!flaw) continue;
            flaws_.add(flaw);
            return false;
        }
    return true;
}

void PanelSource::fail(const std::string& reason) noexcept {
    try {
        const std::lock_guard lock(mutex_);
        if (reason_.empty()) reason_ = reason;
    } catch (const std::exception&) {
        return;  // the stream fails all the same, with less to say
    }
}

void PanelSource::require_ok(Engine& engine, const Status& status) const {
    if (status.ok()) return;
    InputFlaw found{};
    for (const InputFlaw& flaw : engine.gather(flaws_.worst())) found = worse(found, flaw);
    std::string reason;
    {
        const std::lock_guard lock(mutex_);
        reason = reason_;
    }
    const std::vector<std::string> reasons = engine.gather(reason);
    if (found) throw input_error(file_, found);
    for (const std::string& text : reasons)
        if (!text.empty()) throw Error("{}", text);
    throw Error("{}", status.describe());
}

double PanelSource::seconds(Engine& engine) const {
    double all = 0;
    for (const double mine : engine.gather(static_cast<double>(nanoseconds_.load()) * 1e-9)) all += mine;
    return all;
}

// --- symmetry --------------------------------------------------------------------------------------------------------

namespace {

/// A block, and the one at its mirrored place, in the order of the file.
struct MirroredBlocks {
    std::vector<double> values;
    std::vector<double> mirrored;
    ReadOutcome outcome;

    MirroredBlocks(const MatrixFile& file, const MatrixBlock& block)
        : values(static_cast<std::size_t>(block.rows * block.cols)),
          mirrored(values.size()) {
        outcome = file.read(block, ColumnMajor<double>{values.data(), block.rows});
        if (outcome.ok())
            outcome = file.read({.row = block.col, .col = block.row, .rows = block.cols, .cols = block.rows},
                                ColumnMajor<double>{mirrored.data(), block.cols});
    }
};

class SymmetrisedMatrix final : public MatrixFile {
public:
    explicit SymmetrisedMatrix(const MatrixFile& file) : MatrixFile(file.header()), file_(file) {}
    void forget_cached() const override { file_.forget_cached(); }

private:
    [[nodiscard]] ReadOutcome read_block(const MatrixBlock& block, const Target& to) const override {
        const MirroredBlocks both(file_, block);
        if (!both.outcome.ok()) return both.outcome;
        std::visit([&](const auto& target) { average(block, both, target); }, to);
        return {};
    }
    template <class To>
    static void average(const MatrixBlock& block, const MirroredBlocks& both, const To& to) {
        for (Index j = 0; j < block.cols; ++j)
            for (Index i = 0; i < block.rows; ++i)
                to(i, j) = static_cast<typename To::Element>(
                    0.5 * (both.values[static_cast<std::size_t>(i + j * block.rows)] +
                           both.mirrored[static_cast<std::size_t>(j + i * block.cols)]));
    }

    const MatrixFile& file_;
};

constexpr Index compared_block = 256;

/// The blocks at and below the diagonal that are compared with those above.
std::vector<MatrixBlock> blocks_to_compare(Index n, Symmetry symmetry, std::uint64_t seed) {
    const Index blocks = (n + compared_block - 1) / compared_block;
    std::vector<MatrixBlock> chosen;
    const auto add = [&](Index i, Index j) {
        const Index row = i * compared_block;
        const Index col = j * compared_block;
        chosen.push_back({row, col, std::min(compared_block, n - row), std::min(compared_block, n - col)});
    };
    if (symmetry == Symmetry::checked) {
        for (Index i = 0; i < blocks; ++i)
            for (Index j = 0; j <= i; ++j) add(i, j);
        return chosen;
    }
    // So that it is some percent of reading half of the file, and not more than a few dozen blocks.
    const Index count = std::clamp<Index>(blocks * blocks / 100, 4, 48);
    const Random random(seed);
    for (Index k = 0; k < count; ++k) {
        const auto draw = [&](std::uint64_t which) {
            return static_cast<Index>(
                random.below(static_cast<std::uint64_t>(blocks), {static_cast<std::uint64_t>(k), which}));
        };
        const Index a = draw(0);
        const Index b = k % 4 == 0 ? a : draw(1);
        add(std::max(a, b), std::min(a, b));
    }
    return chosen;
}

/// The worst flaw; throws Error where the file cannot be read.
InputFlaw asymmetry_of(const MatrixFile& file, Symmetry symmetry, std::uint64_t seed) {
    InputFlaw worst{};
    for (const MatrixBlock& block : blocks_to_compare(file.rows(), symmetry, seed)) {
        const MirroredBlocks both(file, block);
        if (!both.outcome.ok()) throw Error("{}", both.outcome.reason());
        worst =
            worse(worst, find_asymmetry(block, {both.values.data(), block.rows}, {both.mirrored.data(), block.cols}));
    }
    return worst;
}

}  // namespace

std::unique_ptr<MatrixFile> symmetrised(const MatrixFile& file) { return std::make_unique<SymmetrisedMatrix>(file); }

void require_symmetry(Engine& engine, const MatrixFile& file, Symmetry symmetry, std::uint64_t seed) {
    if (symmetry == Symmetry::unchecked || symmetry == Symmetry::averaged) return;
    InputFlaw found{};
    std::string failure;
    if (engine.is_first()) {
        try {
            found = asymmetry_of(file, symmetry, seed);
        } catch (const Error& error) {
            failure = error.what();
        }
    }
    failure = engine.broadcast(failure);
    if (!failure.empty()) throw Error(failure);
    found = engine.broadcast(found);
    if (found) throw input_error(file, found);
}

}  // namespace tesela::mds
