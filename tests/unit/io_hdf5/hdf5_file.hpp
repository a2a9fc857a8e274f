#pragma once

#include "tesela/base/index.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace tesela::testing {

/// Files of HDF5, written by HDF5 alone.
class Hdf5File {
public:
    explicit Hdf5File(const std::string& path, hid_t creation = H5P_DEFAULT)
        : id_(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, H5P_DEFAULT)) {
        EXPECT_GE(id_, 0) << path;
    }
    ~Hdf5File() { H5Fclose(id_); }
    Hdf5File(const Hdf5File&) = delete;
    Hdf5File& operator=(const Hdf5File&) = delete;
    [[nodiscard]] hid_t id() const { return id_; }

    struct Set {
        std::string name = "/d";
        std::vector<hsize_t> size;
        hid_t type = H5T_IEEE_F32LE;
        std::function<void(hid_t)> properties = [](hid_t) {};
    };

    /// Makes a data set and leaves it as it is.
    [[nodiscard]] hid_t make(const Set& set) const {
        const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
        const hid_t links = H5Pcreate(H5P_LINK_CREATE);
        H5Pset_create_intermediate_group(links, 1);
        set.properties(properties);
        const hid_t space = H5Screate_simple(static_cast<int>(set.size.size()), set.size.data(), nullptr);
        const hid_t data = H5Dcreate2(id_, set.name.c_str(), set.type, space, links, properties, H5P_DEFAULT);
        EXPECT_GE(data, 0) << set.name;
        H5Sclose(space);
        H5Pclose(links);
        H5Pclose(properties);
        return data;
    }

    /// Makes a data set with elements, row by row, as doubles that HDF5 converts.
    void write(const Set& set, const std::vector<double>& values) const {
        const hid_t data = make(set);
        EXPECT_GE(H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
        H5Dclose(data);
    }

private:
    hid_t id_;
};

/// Element (i, j) of the matrices here: fits any type.
inline double value_at(Index i, Index j) { return static_cast<double>((7 * i + 3 * j) % 100); }

inline std::vector<double> row_major_values(Index rows, Index cols) {
    std::vector<double> values;
    for (Index i = 0; i < rows; ++i)
        for (Index j = 0; j < cols; ++j) values.push_back(value_at(i, j));
    return values;
}

inline std::function<void(hid_t)> chunks_of(hsize_t rows, hsize_t cols) {
    return [=](hid_t properties) {
        const std::array<hsize_t, 2> size{rows, cols};
        H5Pset_chunk(properties, 2, size.data());
    };
}

}  // namespace tesela::testing
