#include "tesela/base/error.hpp"
#include "tesela/io/hdf5/internal/handle.hpp"
#include "tesela/io/hdf5/write_matrix.hpp"
#include "tesela/io/input_file.hpp"
#include "tesela/io/output_file.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

namespace tesela {
namespace {

constexpr unsigned deflate_level = 1;  // higher ones take much longer, and distances are hardly smaller for it

Handle creation_properties(const MatrixPlan& plan) {
    Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "properties");
    H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER);  // all is written
    if (plan.chunk == GridSize{}) return properties;
    const std::array<hsize_t, 2> chunk{static_cast<hsize_t>(std::min(plan.chunk.rows, plan.rows)),
                                       static_cast<hsize_t>(std::min(plan.chunk.cols, plan.cols))};
    H5Pset_chunk(properties, 2, chunk.data());
    if (plan.compression == MatrixCompression::deflate) {
        H5Pset_shuffle(properties);
        H5Pset_deflate(properties, deflate_level);
    }
    return properties;
}

/// Groups on the way to a data set are made.
Handle link_properties() {
    Handle properties(H5Pcreate(H5P_LINK_CREATE), H5Pclose, "properties");
    H5Pset_create_intermediate_group(properties, 1);
    return properties;
}

/// HDF5 keeps the chunks of a row of them until they are full.
Handle access_properties(const MatrixPlan& plan) {
    constexpr std::size_t slots = 12421;
    const Index row_of_chunks = plan.chunk.rows * (plan.cols + plan.chunk.cols) * stored_type_bytes(plan.type);
    const std::size_t bytes =
        std::clamp<std::size_t>(static_cast<std::size_t>(row_of_chunks), std::size_t{1} << 20U, std::size_t{1} << 30U);
    Handle properties(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose, "properties");
    H5Pset_chunk_cache(properties, slots, bytes, 1.0);
    return properties;
}

class Hdf5Writer final : public MatrixWriter {
public:
    Hdf5Writer(const std::string& path, const std::string& dataset, MatrixPlan plan)
        : MatrixWriter(std::move(plan), path),
          output_(path) {
        const Hdf5Lock lock;
        file_ = Handle(H5Fcreate(output_.name_to_write().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose,
                       "creating a file beside " + path);
        const std::array<hsize_t, 2> size{static_cast<hsize_t>(rows()), static_cast<hsize_t>(cols())};
        const Handle space(H5Screate_simple(2, size.data(), nullptr), H5Sclose, dataset);
        const hid_t type = this->plan().type == StoredType::float32 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE;
        dataset_ = Handle(H5Dcreate2(file_, dataset.c_str(), type, space, link_properties(),
                                     creation_properties(this->plan()), access_properties(this->plan())),
                          H5Dclose, "creating data set " + dataset);
        const std::string folder = dataset.substr(0, dataset.rfind('/') + 1);
        write_labels(folder + "rownames", this->plan().row_labels);
        write_labels(folder + "colnames", this->plan().col_labels);
    }
    ~Hdf5Writer() override { close(); }
    Hdf5Writer(const Hdf5Writer&) = delete;
    Hdf5Writer& operator=(const Hdf5Writer&) = delete;

private:
    void write_labels(const std::string& name, const std::vector<std::string>& labels) {
        if (labels.empty()) return;
        std::vector<const char*> texts;
        for (const std::string& label : labels) texts.push_back(label.c_str());
        const Handle type(H5Tcopy(H5T_C_S1), H5Tclose, name);
        H5Tset_size(type, H5T_VARIABLE);
        H5Tset_cset(type, H5T_CSET_UTF8);
        const hsize_t count = labels.size();
        const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose, name);
        const Handle data(H5Dcreate2(file_, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose,
                          "creating data set " + name);
        check(H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts.data()), "writing data set " + name);
    }

    void write(std::span<const float> rows) override { write_rows(H5T_NATIVE_FLOAT, rows.data(), rows.size()); }
    void write(std::span<const double> rows) override { write_rows(H5T_NATIVE_DOUBLE, rows.data(), rows.size()); }

    void write_rows(hid_t type, const void* values, std::size_t count) {
        const Hdf5Lock lock;
        const auto width = static_cast<hsize_t>(cols());
        const std::array<hsize_t, 2> first{static_cast<hsize_t>(rows_written()), 0};
        const std::array<hsize_t, 2> size{count / width, width};
        const Handle in_memory(H5Screate_simple(2, size.data(), nullptr), H5Sclose, name());
        const Handle in_file(H5Dget_space(dataset_), H5Sclose, name());
        H5Sselect_hyperslab(in_file, H5S_SELECT_SET, first.data(), nullptr, size.data(), nullptr);
        if (H5Dwrite(dataset_, type, in_memory, in_file, H5P_DEFAULT, values) < 0) fail();
    }

    void finish() override {
        {
            const Hdf5Lock lock;
            if (H5Fflush(file_, H5F_SCOPE_GLOBAL) < 0) fail();
        }
        close();
        output_.commit();
    }

    void close() {
        const Hdf5Lock lock;
        dataset_ = {};
        file_ = {};
    }

    [[noreturn]] void fail() const {
        throw OutputError(fmt::format("cannot write {}: HDF5 failed, the disk may be full", in_quotes(name())));
    }

    OutputFile output_;
    Handle file_;
    Handle dataset_;
};

}  // namespace

std::unique_ptr<MatrixWriter> write_hdf5_matrix(const std::string& path, const std::string& dataset, MatrixPlan plan) {
    return std::make_unique<Hdf5Writer>(path, dataset.starts_with('/') ? dataset : "/" + dataset, std::move(plan));
}

}  // namespace tesela
