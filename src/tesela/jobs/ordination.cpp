#include "tesela/jobs/ordination.hpp"

#include "tesela/base/error.hpp"
#include "tesela/flow/stream.hpp"
#include "tesela/io/matrix_file.hpp"
#include "tesela/mds/placement.hpp"
#include "tesela/mds/point_distances.hpp"

#include <utility>

namespace tesela::jobs {
namespace {

void require_columns(const OrdinationRequest& request) {
    const MatrixFile& matrix = *request.matrix;
    if (!request.new_rows || request.new_rows->cols() == matrix.cols()) return;
    if (request.analysis == mds::Analysis::scaling)
        throw Error("{} has {} columns, where the distances of each new point from {} points are needed",
                    request.new_rows->name(), request.new_rows->cols(), matrix.rows());
    throw Error("{} has {} columns and {} has {}", request.new_rows->name(), request.new_rows->cols(), matrix.name(),
                matrix.cols());
}

decltype(Ordination::found) analyse(Stream& stream, const MatrixFile& matrix, const mds::Decision& decision) {
    if (decision.analysis == mds::Analysis::scaling) return mds::scale(stream, matrix, decision);
    if (decision.analysis == mds::Analysis::correspondence) return mds::correspondence(stream, matrix, decision);
    return mds::principal_components(stream, matrix, decision);
}

}  // namespace

OrdinationRequest scaling_of_points(OrdinationRequest points) {
    if (points.new_rows) points.new_rows = mds::point_distances(*points.new_rows, *points.matrix);
    points.matrix = mds::point_distances(*points.matrix);
    points.analysis = mds::Analysis::scaling;
    points.decomposition.distances = mds::DistanceKind::euclidean;
    return points;
}

void check(const OrdinationRequest& request) {
    require_columns(request);
    mds::validate(*request.matrix, request.analysis, request.decomposition);
}

mds::Decision resolve(const OrdinationRequest& request, const Machine& machine) {
    check(request);
    return mds::resolve(request.decomposition, mds::facts_of(*request.matrix, request.analysis), machine);
}

OrdinationDoubts doubts_of(const mds::Decomposition& found, const mds::Decision& decision) {
    const mds::DecompositionOptions& asked = decision.asked;
    OrdinationDoubts doubts{.stopped_early = found.algorithm != mds::Algorithm::exact && asked.tolerance &&
                                             found.error_estimate > *asked.tolerance};
    if (!asked.explained) return doubts;
    double sum = 0;
    for (Index k = 0; k < found.wanted; ++k) sum += mds::explained_part(found, decision.analysis, k).high;
    if (sum < *asked.explained * (1 - 1e-9)) doubts.explained = sum;
    return doubts;
}

Ordination run(Stream& stream, const OrdinationRequest& request, const mds::Decision& decision) {
    Ordination result{.found = analyse(stream, *request.matrix, decision)};
    std::visit(
        [&](const auto& found) {
            result.doubts = doubts_of(found.decomposition, decision);
            if (request.new_rows && stream.engine().is_first()) result.placed = mds::place(found, *request.new_rows);
        },
        result.found);
    if (const auto* scaling = std::get_if<mds::Scaling>(&result.found))
        result.doubts.fewer_dimensions = scaling->dimensions < scaling->decomposition.wanted;
    return result;
}

}  // namespace tesela::jobs
