#pragma once

#include "tesela/mds/components.hpp"
#include "tesela/mds/correspondence.hpp"
#include "tesela/mds/resolve.hpp"
#include "tesela/mds/scaling.hpp"

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tesela::jobs {

/// Points that are asked for: of which matrix, by which analysis, and which new ones are to be placed among them.
struct OrdinationRequest {
    std::shared_ptr<const MatrixFile> matrix;
    mds::Analysis analysis = mds::Analysis::scaling;
    mds::DecompositionOptions decomposition{};
    std::shared_ptr<const MatrixFile> new_rows{};  ///< or none
    std::vector<std::string> notes{};              ///< of the files
};

/// Scaling of points, whose distances are computed where they are needed: rows of `matrix` and of `new_rows`.
[[nodiscard]] OrdinationRequest scaling_of_points(OrdinationRequest points);

/// Throws Error where a request makes no sense, whatever the nodes: see mds::validate; new rows have other columns.
void check(const OrdinationRequest& request);

/// What is done, on such nodes. Throws as check().
[[nodiscard]] mds::Decision resolve(const OrdinationRequest& request, const Machine& machine);

/// What the results lack of what was asked for.
struct OrdinationDoubts {
    bool stopped_early = false;         ///< values are not known to the tolerance
    std::optional<double> explained{};  ///< as many dimensions as were allowed explain only so much
    bool fewer_dimensions = false;      ///< of scaling: not all wanted eigenvalues are above 0
};

/// What an analysis finds.
struct Ordination {
    std::variant<mds::Scaling, mds::Components, mds::Correspondence> found;
    std::vector<double> placed{};  ///< new rows x dimensions, columns one after the other
    OrdinationDoubts doubts{};

    [[nodiscard]] const mds::Decomposition& decomposition() const {
        return std::visit([](const auto& of) -> const mds::Decomposition& { return of.decomposition; }, found);
    }
};

/// Runs what was resolved; every node calls it. New rows are placed on the first node.
[[nodiscard]] Ordination run(Stream& stream, const OrdinationRequest& request, const mds::Decision& decision);

/// What there is to doubt of a decomposition.
[[nodiscard]] OrdinationDoubts doubts_of(const mds::Decomposition& found, const mds::Decision& decision);

}  // namespace tesela::jobs
