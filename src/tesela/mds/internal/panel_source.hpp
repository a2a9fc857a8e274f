#pragma once

#include "tesela/flow/engine.hpp"
#include "tesela/flow/status.hpp"
#include "tesela/mds/gram.hpp"
#include "tesela/mds/input_check.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

namespace tesela::mds {

/// What tasks that read panels of a file share on a node: the file, and what they find in it.
class PanelSource {
public:
    /// `half`: what lies right of the diagonal is not wanted, and panels are not read there.
    enum class Wanted : std::uint8_t { all, half };
    PanelSource(const MatrixFile& file, Analysis analysis, Wanted wanted)
        : file_(file),
          analysis_(analysis),
          wanted_(wanted) {}

    /// "dread", whose source is a PanelSource: a panel in single or double precision.
    [[nodiscard]] static const Kernel& kernel(ElementType type);

    /// Throws Error, on every node, of what any of them found wrong with the file, or of another failure.
    void require_ok(Engine& engine, const Status& status) const;
    /// Of all readers of all nodes together.
    [[nodiscard]] double seconds(Engine& engine) const;

private:
    template <class T>
    friend KernelResult read_panel(const KernelCall& call) noexcept;

    template <class T>
    bool read(const MatrixBlock& block, RowMajor<T> to) noexcept;
    template <class T>
    bool looks_good(const MatrixBlock& block, RowMajor<T> values) noexcept;
    void fail(const std::string& reason) noexcept;

    const MatrixFile& file_;
    Analysis analysis_;
    Wanted wanted_;
    FoundFlaws flaws_;
    mutable std::mutex mutex_;
    std::string reason_;  ///< of the first read that failed
    std::atomic<std::int64_t> nanoseconds_{0};
};

/// A file of distances whose value at (i, j) is the mean of those at (i, j) and (j, i).
[[nodiscard]] std::unique_ptr<MatrixFile> symmetrised(const MatrixFile& file);

/// Throws Error, on every node, where a matrix is not symmetric: compares all of it, or blocks along the diagonal and
/// pairs of others at places that the seed draws, some percent of it.
void require_symmetry(Engine& engine, const MatrixFile& file, Symmetry symmetry, std::uint64_t seed);

}  // namespace tesela::mds
