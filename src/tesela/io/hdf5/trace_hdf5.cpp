#include "tesela/io/hdf5/trace_hdf5.hpp"

#include "tesela/base/error.hpp"
#include "tesela/io/hdf5/internal/handle.hpp"
#include "tesela/io/output_file.hpp"
#include "tesela/trace/analysis.hpp"

#include <hdf5.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <vector>

namespace tesela {
namespace {

using namespace trace;  // NOLINT(google-build-using-namespace): all of this file is about traces

void add_attribute(hid_t to, const std::string& name, const std::string& value) {
    const Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "a string type");
    H5Tset_size(type, std::max<std::size_t>(1, value.size()));
    const Handle space(H5Screate(H5S_SCALAR), H5Sclose, "a space");
    const Handle attribute(H5Acreate2(to, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose, name);
    check(H5Awrite(attribute, type, value.empty() ? "\0" : value.c_str()), name);
}

/// Width of a column's cells in a row.
struct CellBytes {
    std::size_t operator()(const Integers&) const { return 8; }
    std::size_t operator()(const Reals&) const { return 8; }
    std::size_t operator()(const trace::Names& names) const {
        std::size_t longest = 1;
        for (const std::string& name : names.names) longest = std::max(longest, name.size());
        return longest;
    }
};

/// Copies cell `row` of a column to where it belongs.
void copy_cell(const Column& column, std::size_t row, std::byte* to) {
    if (const auto* integers = std::get_if<Integers>(&column.values)) {
        std::memcpy(to, &(*integers)[row], 8);
    } else if (const auto* reals = std::get_if<Reals>(&column.values)) {
        std::memcpy(to, &(*reals)[row], 8);
    } else {
        const std::string& name = std::get<trace::Names>(column.values).at(row);
        std::memcpy(to, name.data(), name.size());
    }
}

/// A table as a chunked one-dimensional data set of compound rows, which is what PyTables, and so pandas, calls a
/// table.
class TableWriter {
public:
    explicit TableWriter(const Table& table) : table_(table) {
        for (const Column& column : table.columns) {
            offsets_.push_back(row_bytes_);
            widths_.push_back(std::visit(CellBytes{}, column.values));
            row_bytes_ += widths_.back();
        }
    }

    void write(hid_t location, const std::string& name) const {
        constexpr hsize_t chunk_rows = 8192;
        const Handle type(H5Tcreate(H5T_COMPOUND, row_bytes_), H5Tclose, name);
        for (std::size_t c = 0; c < table_.columns.size(); ++c) insert_column(type, c);
        const hsize_t rows = table_.rows();
        const hsize_t unlimited = H5S_UNLIMITED;
        const Handle space(H5Screate_simple(1, &rows, &unlimited), H5Sclose, name);
        const Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, name);
        H5Pset_chunk(properties, 1, &chunk_rows);
        H5Pset_shuffle(properties);
        H5Pset_deflate(properties, 1);
        const Handle data(H5Dcreate2(location, name.c_str(), type, space, H5P_DEFAULT, properties, H5P_DEFAULT),
                          H5Dclose, name);
        write_rows(data, type, chunk_rows);
        add_attribute(data, "CLASS", "TABLE");
        add_attribute(data, "VERSION", "2.7");
        add_attribute(data, "TITLE", name);
        for (std::size_t c = 0; c < table_.columns.size(); ++c)
            add_attribute(data, fmt::format("FIELD_{}_NAME", c), table_.columns[c].name);
    }

private:
    void insert_column(hid_t type, std::size_t c) const {
        const Column& column = table_.columns[c];
        if (std::holds_alternative<trace::Names>(column.values)) {
            const Handle text(H5Tcopy(H5T_C_S1), H5Tclose, column.name);
            H5Tset_size(text, widths_[c]);
            check(H5Tinsert(type, column.name.c_str(), offsets_[c], text), column.name);
        } else {
            const hid_t number = std::holds_alternative<Reals>(column.values) ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64;
            check(H5Tinsert(type, column.name.c_str(), offsets_[c], number), column.name);
        }
    }

    void write_rows(hid_t data, hid_t type, hsize_t at_once) const {
        const hsize_t rows = table_.rows();
        std::vector<std::byte> buffer;
        for (hsize_t begin = 0; begin < rows; begin += at_once) {
            const hsize_t count = std::min(at_once, rows - begin);
            buffer.assign(count * row_bytes_, std::byte{0});
            for (std::size_t c = 0; c < table_.columns.size(); ++c)
                for (hsize_t r = 0; r < count; ++r)
                    copy_cell(table_.columns[c], begin + r, buffer.data() + r * row_bytes_ + offsets_[c]);
            const Handle in_memory(H5Screate_simple(1, &count, nullptr), H5Sclose, table_.name);
            const Handle in_file(H5Dget_space(data), H5Sclose, table_.name);
            H5Sselect_hyperslab(in_file, H5S_SELECT_SET, &begin, nullptr, &count, nullptr);
            check(H5Dwrite(data, type, in_memory, in_file, H5P_DEFAULT, buffer.data()), "writing table " + table_.name);
        }
    }

    const Table& table_;
    std::vector<std::size_t> offsets_;
    std::vector<std::size_t> widths_;
    std::size_t row_bytes_ = 0;
};

void write_tables(const Trace& trace, hid_t file) {
    add_attribute(file, "CLASS", "GROUP");
    add_attribute(file, "PYTABLES_FORMAT_VERSION", "2.1");
    add_attribute(file, "TITLE", "trace of Tesela");
    add_attribute(file, "VERSION", "1.0");
    const Graph graph = dependency_graph(trace);
    for (const char* name : {"tasks", "comms", "memory", "waits", "workers", "edges", "counters"})
        TableWriter(make_table(trace, graph, name)).write(file, name);
    const Handle events(H5Gcreate2(file, "events", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose, "group events");
    add_attribute(events, "CLASS", "GROUP");
    add_attribute(events, "TITLE", "events of the application");
    add_attribute(events, "VERSION", "1.0");
    for (const EventTable& table : trace.events) {
        std::string name = table.name;
        std::replace(name.begin(), name.end(), '/', '_');
        TableWriter(make_table(trace, graph, table.name)).write(events, name);
    }
}

}  // namespace

void export_hdf5(const Trace& trace, const std::string& path) {
    OutputFile output(path);
    {
        const Hdf5Lock lock;
        const Handle file(H5Fcreate(output.name_to_write().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose,
                          "creating a file beside " + path);
        write_tables(trace, file);
        check(H5Fflush(file, H5F_SCOPE_GLOBAL), "writing " + path);
    }
    output.commit();
}

}  // namespace tesela
