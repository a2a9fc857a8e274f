#include "tesela/io/hdf5/matrix_hdf5.hpp"

#include "tesela/base/error.hpp"
#include "tesela/io/hdf5/internal/chunks.hpp"
#include "tesela/io/hdf5/internal/handle.hpp"
#include "tesela/io/input_file.hpp"
#include "tesela/io/internal/stored_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace tesela {
namespace {

/// A name out of a file, on one line.
std::string shown(const std::string& name) {
    const std::string quoted = in_quotes(name);
    return quoted.substr(1, quoted.size() - 2);
}

/// What HDF5 itself says was wrong: the innermost of its messages.
std::string hdf5_reason() {
    std::string reason = "HDF5 cannot read it";
    const auto take = [](unsigned level, const H5E_error2_t* error, void* to) -> herr_t {
        if (level == 0 && error->desc != nullptr) *static_cast<std::string*>(to) = error->desc;
        return 0;
    };
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take, &reason);
    return shown(reason);
}

/// Data sets of a file: names and numbers of dimensions.
struct DataSetName {
    std::string name;
    int dimensions = 0;
};

int dimensions_of(hid_t dataset) {
    const Handle space(H5Dget_space(dataset), H5Sclose, "the space of a data set");
    return H5Sget_simple_extent_ndims(space);
}

/// Data sets that external links lead to. Those behind soft links are in the file under names of their own.
void add_external_data_sets(hid_t file, std::vector<DataSetName>& names) {
    const auto visit = [](hid_t at, const char* name, const auto* info, void* to) -> herr_t {
        if (info->type != H5L_TYPE_EXTERNAL) return 0;
        const hid_t dataset = H5Dopen2(at, name, H5P_DEFAULT);
        if (dataset < 0) return 0;
        static_cast<std::vector<DataSetName>*>(to)->push_back({std::string("/") + name, dimensions_of(dataset)});
        H5Dclose(dataset);
        return 0;
    };
    H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, visit, &names);
}

std::vector<DataSetName> list_data_sets(hid_t file) {
    std::vector<DataSetName> names;
    const auto visit = [](hid_t at, const char* name, const auto* info, void* to) -> herr_t {
        if (info->type != H5O_TYPE_DATASET) return 0;
        const hid_t dataset = H5Dopen2(at, name, H5P_DEFAULT);
        if (dataset < 0) return 0;
        static_cast<std::vector<DataSetName>*>(to)->push_back({std::string("/") + name, dimensions_of(dataset)});
        H5Dclose(dataset);
        return 0;
    };
#if H5_VERSION_GE(1, 12, 0)
    H5Ovisit3(file, H5_INDEX_NAME, H5_ITER_INC, visit, &names, H5O_INFO_BASIC);
#else
    H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, visit, &names, H5O_INFO_BASIC);
#endif
    add_external_data_sets(file, names);
    return names;
}

std::string listed(const std::vector<DataSetName>& names) {
    constexpr std::size_t most = 20;
    if (names.empty()) return "it has none";
    std::string list = "it has ";
    for (std::size_t k = 0; k < std::min(most, names.size()); ++k)
        list += fmt::format("{}{} ({}-D)", k == 0 ? "" : ", ", shown(names[k].name), names[k].dimensions);
    if (names.size() > most) list += fmt::format(" and {} more", names.size() - most);
    return list;
}

std::string only_matrix(hid_t file, const std::string& path) {
    const std::vector<DataSetName> all = list_data_sets(file);
    std::vector<DataSetName> matrices;
    std::copy_if(all.begin(), all.end(), std::back_inserter(matrices),
                 [](const DataSetName& set) { return set.dimensions == 2; });
    if (matrices.empty()) throw Error("{} has no data set of 2 dimensions: {}", in_quotes(path), listed(all));
    if (matrices.size() > 1)
        throw Error("{} has several matrices; choose one as in {}:{}: {}", in_quotes(path), path,
                    shown(matrices.front().name), listed(matrices));
    return matrices.front().name;
}

Handle open_file(const std::string& path) {
    if (H5Fis_hdf5(path.c_str()) <= 0) throw Error("{} is not an HDF5 file", in_quotes(path));
    const hid_t id = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    if (id < 0) {
        const std::string reason = hdf5_reason();
        throw Error("{} {}: {}", in_quotes(path),
                    reason.find("truncated") == std::string::npos ? "cannot be opened by HDF5" : "is cut short",
                    reason);
    }
    return {id, H5Fclose, path};
}

/// Where a link leads.
struct Link {
    std::string object;
    std::string file;  ///< empty: this one
    [[nodiscard]] std::string words() const {
        return file.empty() ? in_quotes(object) : fmt::format("{} in {}", in_quotes(object), in_quotes(file));
    }
};

/// The link of this name; nothing if it is a name as any other.
std::optional<Link> link_at(hid_t file, const std::string& name) {
    H5L_info_t info;
    if (H5Lget_info(file, name.c_str(), &info, H5P_DEFAULT) < 0) return {};
    if (info.type != H5L_TYPE_SOFT && info.type != H5L_TYPE_EXTERNAL) return {};
    std::vector<char> value(info.u.val_size + 1);
    if (H5Lget_val(file, name.c_str(), value.data(), value.size(), H5P_DEFAULT) < 0) return {};
    if (info.type == H5L_TYPE_SOFT) return Link{.object = value.data(), .file = {}};
    unsigned flags = 0;
    const char* other = nullptr;
    const char* object = nullptr;
    if (H5Lunpack_elink_val(value.data(), info.u.val_size, &flags, &other, &object) < 0) return {};
    return Link{.object = object, .file = other};
}

/// Throws Error if a part of a name is a link that leads nowhere.
void require_whole_links(hid_t file, const std::string& path, const std::string& name) {
    for (std::size_t end = name.find('/', 1); !name.empty(); end = name.find('/', end + 1)) {
        const std::string part = name.substr(0, end);
        if (H5Lexists(file, part.c_str(), H5P_DEFAULT) <= 0) return;
        if (H5Oexists_by_name(file, part.c_str(), H5P_DEFAULT) <= 0)
            if (const std::optional<Link> link = link_at(file, part))
                throw Error("{} in {} is a link to {}, which cannot be found", in_quotes(part), in_quotes(path),
                            link->words());
        if (end == std::string::npos) return;
    }
}

Handle open_dataset(hid_t file, const std::string& path, const std::string& name, hid_t access) {
    const hid_t id = H5Dopen2(file, name.c_str(), access);
    if (id >= 0) return {id, H5Dclose, name};
    require_whole_links(file, path, name);
    throw Error("{} has no data set {}: {}", in_quotes(path), in_quotes(name), listed(list_data_sets(file)));
}

std::string folder_of(const std::string& name) { return name.substr(0, name.rfind('/') + 1); }

/// Where the elements of a data set are, which links may lead to: an external one to another file.
struct Home {
    Handle file;
    std::string path;
    std::string name;  ///< of the data set, there
};

std::string path_of(hid_t file) {
    const ssize_t length = H5Fget_name(file, nullptr, 0);
    check(length, "the name of a file");
    std::string path(static_cast<std::size_t>(length), '\0');
    H5Fget_name(file, path.data(), path.size() + 1);
    return path;
}

Home home_of(hid_t file, hid_t dataset, const std::string& name) {
    constexpr int most_links = 16;  // as HDF5 follows
    Home home{.file = {H5Iget_file_id(dataset), H5Fclose, name}, .path = {}, .name = name};
    home.path = path_of(home.file);
    hid_t at = file;
    for (int k = 0; k < most_links; ++k) {
        const std::optional<Link> link = link_at(at, home.name);
        if (!link) break;
        const bool leaves = !link->file.empty();
        if (leaves) at = home.file;
        home.name = (link->object.starts_with('/') ? "" : leaves ? "/" : folder_of(home.name)) + link->object;
    }
    return home;
}

/// The elements as they are stored, if they are of a type that is read without HDF5.
std::optional<StoredElements> stored_elements(hid_t type) {
    struct Known {
        hid_t type;
        StoredElements elements;
    };
    using enum StoredType;
    constexpr std::endian little = std::endian::little;
    constexpr std::endian big = std::endian::big;
    const std::array known{Known{H5T_IEEE_F32LE, {float32, little}}, Known{H5T_IEEE_F32BE, {float32, big}},
                           Known{H5T_IEEE_F64LE, {float64, little}}, Known{H5T_IEEE_F64BE, {float64, big}},
                           Known{H5T_STD_I8LE, {int8, little}},      Known{H5T_STD_I8BE, {int8, little}},
                           Known{H5T_STD_I16LE, {int16, little}},    Known{H5T_STD_I16BE, {int16, big}},
                           Known{H5T_STD_I32LE, {int32, little}},    Known{H5T_STD_I32BE, {int32, big}},
                           Known{H5T_STD_I64LE, {int64, little}},    Known{H5T_STD_I64BE, {int64, big}},
                           Known{H5T_STD_U8LE, {uint8, little}},     Known{H5T_STD_U8BE, {uint8, little}},
                           Known{H5T_STD_U16LE, {uint16, little}},   Known{H5T_STD_U16BE, {uint16, big}},
                           Known{H5T_STD_U32LE, {uint32, little}},   Known{H5T_STD_U32BE, {uint32, big}},
                           Known{H5T_STD_U64LE, {uint64, little}},   Known{H5T_STD_U64BE, {uint64, big}}};
    for (const Known& candidate : known)
        if (H5Tequal(type, candidate.type) > 0) return candidate.elements;
    return {};
}

hid_t native_type(StoredType type) {
    switch (type) {
        case StoredType::float32: return H5T_NATIVE_FLOAT;
        case StoredType::float64: return H5T_NATIVE_DOUBLE;
        case StoredType::int8: return H5T_NATIVE_INT8;
        case StoredType::int16: return H5T_NATIVE_INT16;
        case StoredType::int32: return H5T_NATIVE_INT32;
        case StoredType::int64: return H5T_NATIVE_INT64;
        case StoredType::uint8: return H5T_NATIVE_UINT8;
        case StoredType::uint16: return H5T_NATIVE_UINT16;
        case StoredType::uint32: return H5T_NATIVE_UINT32;
        case StoredType::uint64: return H5T_NATIVE_UINT64;
    }
    return H5T_NATIVE_DOUBLE;
}

/// Whether a file can hold so many elements of so many bytes: deflate leaves a thousandth of them. More are what was
/// never written, or damage, and there may be no memory for them.
bool can_hold(hid_t file, Index count, std::size_t width) {
    constexpr hsize_t most_compression = 1032;
    hsize_t bytes = 0;
    return width > 0 && H5Fget_filesize(file, &bytes) >= 0 &&
           static_cast<hsize_t>(count) <= bytes * most_compression / width;
}

/// Strings of a one-dimensional data set of so many; none if there is no such data set.
std::vector<std::string> read_strings(hid_t file, const std::string& name, Index count) {
    const hid_t id = H5Lexists(file, name.c_str(), H5P_DEFAULT) > 0 ? H5Dopen2(file, name.c_str(), H5P_DEFAULT) : -1;
    if (id < 0) return {};
    const Handle dataset(id, H5Dclose, name);
    const Handle type(H5Dget_type(dataset), H5Tclose, name);
    const Handle space(H5Dget_space(dataset), H5Sclose, name);
    if (H5Tget_class(type) != H5T_STRING || H5Sget_simple_extent_ndims(space) != 1 ||
        H5Sget_simple_extent_npoints(space) != count || !can_hold(file, count, H5Tget_size(type)))
        return {};
    const auto n = static_cast<std::size_t>(count);
    std::vector<std::string> strings;
    if (H5Tis_variable_str(type) > 0) {
        const Handle memory(H5Tcopy(type), H5Tclose, name);
        std::vector<char*> texts(n, nullptr);
        if (H5Dread(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts.data()) < 0) return {};
        for (const char* text : texts) strings.emplace_back(text == nullptr ? "" : text);
        H5Dvlen_reclaim(memory, space, H5P_DEFAULT, texts.data());
        return strings;
    }
    const std::size_t width = H5Tget_size(type);
    std::string texts(n * width, '\0');
    if (H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts.data()) < 0) return {};
    const bool padded_by_blanks = H5Tget_strpad(type) == H5T_STR_SPACEPAD;
    for (std::size_t k = 0; k < n; ++k) {
        std::string text(texts.data() + k * width, strnlen(texts.data() + k * width, width));
        if (padded_by_blanks) text.erase(text.find_last_not_of(' ') + 1);
        strings.push_back(std::move(text));
    }
    return strings;
}

/// Labels stand beside the data set under one of these names.
std::vector<std::string> labels(hid_t file, const std::string& dataset, std::initializer_list<const char*> names,
                                Index count) {
    const std::string folder = folder_of(dataset);
    for (const char* name : names)
        if (auto found = read_strings(file, folder + name, count); !found.empty()) return found;
    return {};
}

/// What a data set is, as far as HDF5 has to be asked.
struct DataSet {
    MatrixHeader header;
    bool known_type = false;   ///< elements.stored is how they are stored
    ChunkedElements elements;  ///< a contiguous data set is one chunk
    std::string why_hdf5;      ///< why HDF5 has to read it; empty if it has not
};

std::string filter_name(H5Z_filter_t filter, const char* given) {
    if (filter == H5Z_FILTER_SZIP) return "szip";
    if (filter == H5Z_FILTER_SCALEOFFSET) return "scale-offset";
    if (filter == H5Z_FILTER_NBIT) return "n-bit";
    if (filter == H5Z_FILTER_FLETCHER32) return "fletcher32";
    return fmt::format("{}{}{}", filter, *given == '\0' ? "" : " ", shown(given));
}

/// The filters of a data set in the order in which they were applied; one that only HDF5 can undo is a reason.
void read_filters(hid_t properties, DataSet& set) {
    for (int k = 0; k < H5Pget_nfilters(properties); ++k) {
        unsigned flags = 0;
        std::size_t values_count = 8;
        std::array<unsigned, 8> values{};
        std::array<char, 64> name{};
        const H5Z_filter_t filter = H5Pget_filter2(properties, static_cast<unsigned>(k), &flags, &values_count,
                                                   values.data(), name.size() - 1, name.data(), nullptr);
        if (filter == H5Z_FILTER_DEFLATE) {
            set.elements.filters.push_back({.kind = ChunkFilter::Kind::deflate});
            set.header.layout += ", deflate";
        } else if (filter == H5Z_FILTER_SHUFFLE && values[0] > 0) {
            set.elements.filters.push_back(
                {.kind = ChunkFilter::Kind::shuffle, .width = static_cast<Index>(values[0])});
            set.header.layout += ", shuffle";
        } else if (H5Zfilter_avail(filter) <= 0) {
            throw Error("{} is compressed by a filter that this HDF5 lacks: {}", set.header.name,
                        filter_name(filter, name.data()));
        } else {
            set.why_hdf5 = "filter " + filter_name(filter, name.data());
        }
    }
}

/// Finding a chunk by its number is a walk over all before it in HDF5 1.10: seconds for so many.
constexpr hsize_t most_chunks = 30000;
/// Of these most may not be in the file; memory is for all.
constexpr Index most_places = Index{1} << 22U;

/// Below 0 where nothing is stored. What is beyond an Index is beyond the end of every file.
Index offset_at(haddr_t address) {
    constexpr Index most = std::numeric_limits<Index>::max();
    return address == HADDR_UNDEF ? -1 : static_cast<Index>(std::min(address, static_cast<haddr_t>(most)));
}

void find_chunks(hid_t dataset, hid_t space, hsize_t count, DataSet& set) {
    ChunkedElements& elements = set.elements;
    const GridSize grid = elements.grid();
    elements.places.resize(static_cast<std::size_t>(grid.count()));
    for (hsize_t k = 0; k < count; ++k) {
        std::array<hsize_t, 2> at{};
        unsigned mask = 0;
        haddr_t address = 0;
        hsize_t bytes = 0;
        check(H5Dget_chunk_info(dataset, space, k, at.data(), &mask, &address, &bytes),
              "finding the chunks of " + set.header.name);
        if (at[0] >= static_cast<hsize_t>(elements.size.rows) || at[1] >= static_cast<hsize_t>(elements.size.cols))
            continue;  // of a data set that was made smaller
        const Index i = static_cast<Index>(at[0]) / elements.chunk.rows;
        const Index j = static_cast<Index>(at[1]) / elements.chunk.cols;
        ChunkPlace& place = elements.places[static_cast<std::size_t>(i * grid.cols + j)];
        if (place.offset >= 0)
            throw Error("{} is damaged: its chunk at row {} and column {} is in the file twice", set.header.name, at[0],
                        at[1]);
        place = {.offset = offset_at(address), .bytes = static_cast<Index>(bytes), .skipped_filters = mask};
    }
}

void look_at_chunks(hid_t dataset, hid_t space, hid_t properties, DataSet& set) {
    std::array<hsize_t, 2> size{};
    H5Pget_chunk(properties, 2, size.data());
    set.header.chunk = set.elements.chunk = {static_cast<Index>(size[0]), static_cast<Index>(size[1])};
    set.header.layout = fmt::format("chunks of {} x {}", size[0], size[1]);
    read_filters(properties, set);
    unsigned options = 0;
    H5Pget_chunk_opts(properties, &options);
    if (options != 0) set.why_hdf5 = "partial chunks without filters";
    hsize_t count = 0;
    check(H5Dget_num_chunks(dataset, space, &count), "counting the chunks of " + set.header.name);
    if (count > most_chunks) set.why_hdf5 = fmt::format("{} chunks", count);
    const GridSize grid = set.elements.grid();
    if (grid.rows > most_places / grid.cols) set.why_hdf5 = fmt::format("{} x {} chunks", grid.rows, grid.cols);
    if (set.why_hdf5.empty()) find_chunks(dataset, space, count, set);
}

void look_at_contiguous(hid_t dataset, hid_t properties, DataSet& set) {
    set.header.layout = "contiguous";
    if (H5Pget_external_count(properties) > 0) {
        set.why_hdf5 = "external files";
        return;
    }
    set.elements.chunk = set.elements.size;
    set.elements.places = {{.offset = offset_at(H5Dget_offset(dataset)), .bytes = set.elements.chunk_bytes()}};
}

/// Else HDF5 would read beyond the memory that it has of the elements.
void require_all_elements(hid_t dataset, const DataSet& set) {
    const Handle type(H5Dget_type(dataset), H5Tclose, set.header.name);
    const hsize_t bytes = H5Dget_storage_size(dataset);
    if (bytes / H5Tget_size(type) < static_cast<hsize_t>(set.elements.size.count()))
        throw Error("{} is damaged: {} x {} elements do not fit its {} bytes", set.header.name, set.header.rows,
                    set.header.cols, bytes);
}

void look_at_layout(hid_t dataset, hid_t space, hid_t properties, DataSet& set) {
    const H5D_layout_t layout = H5Pget_layout(properties);
    if (layout == H5D_CONTIGUOUS) {
        look_at_contiguous(dataset, properties, set);
    } else if (layout == H5D_CHUNKED) {
        look_at_chunks(dataset, space, properties, set);
    } else {
        set.header.layout = layout == H5D_COMPACT ? "compact" : "virtual";
        set.why_hdf5 = set.header.layout + " layout";
        if (layout == H5D_COMPACT) require_all_elements(dataset, set);
    }
}

hsize_t user_block(hid_t file) {
    const Handle creation(H5Fget_create_plist(file), H5Pclose, "properties");
    hsize_t size = 0;
    H5Pget_userblock(creation, &size);
    return size;
}

/// The type that the elements are read as where HDF5 converts them.
StoredType converted_type(hid_t type, const std::string& name) {
    constexpr std::size_t most_bytes = 16;  // damage makes numbers of 0 bytes, of which HDF5 dies, or of thousands
    const H5T_class_t kind = H5Tget_class(type);
    const std::size_t bytes = H5Tget_size(type);
    if ((kind == H5T_FLOAT || kind == H5T_INTEGER) && (bytes == 0 || bytes > most_bytes))
        throw Error("{} has numbers of {} bytes; they have 1 to {}", name, bytes, most_bytes);
    if (kind == H5T_FLOAT) return bytes <= 4 ? StoredType::float32 : StoredType::float64;
    if (kind == H5T_INTEGER) return StoredType::int64;
    throw Error("{} does not hold numbers: its elements are {}", name,
                kind == H5T_STRING     ? "strings"
                : kind == H5T_COMPOUND ? "records with fields"
                : kind == H5T_ENUM     ? "of an enumeration"
                                       : "neither floating-point numbers nor integers");
}

void read_size(hid_t space, DataSet& set) {
    const int dimensions = H5Sget_simple_extent_ndims(space);
    if (dimensions != 2)
        throw Error("{} has {} dimension{}; a matrix has 2", set.header.name, dimensions, dimensions == 1 ? "" : "s");
    std::array<hsize_t, 2> size{};
    H5Sget_simple_extent_dims(space, size.data(), nullptr);
    constexpr auto most = static_cast<hsize_t>(std::numeric_limits<Index>::max());
    if (size[0] > most || size[1] > most) throw Error("{} is too large: {} x {}", set.header.name, size[0], size[1]);
    set.header.rows = static_cast<Index>(size[0]);
    set.header.cols = static_cast<Index>(size[1]);
    set.elements.size = {set.header.rows, set.header.cols};
    if (size[0] == 0 || size[1] == 0)
        throw Error("{} has no elements: it is {} x {}", set.header.name, size[0], size[1]);
    if (set.header.rows > std::numeric_limits<Index>::max() / 8 / set.header.cols)
        throw Error("{} is too large: {} x {}", set.header.name, size[0], size[1]);
}

void read_type(hid_t dataset, DataSet& set) {
    const Handle type(H5Dget_type(dataset), H5Tclose, set.header.name);
    const std::optional<StoredElements> stored = stored_elements(type);
    set.known_type = stored.has_value();
    set.elements.stored = stored ? *stored : StoredElements{.type = converted_type(type, set.header.name)};
    set.header.type = set.elements.stored.type;
}

/// Zero where the data set has none.
void read_fill_value(hid_t properties, DataSet& set) {
    if (H5Pget_fill_value(properties, native_type(set.header.type), set.elements.fill.data()) < 0)
        set.elements.fill.fill(std::byte{0});
}

/// Names of rows or columns beside the name that the data set was asked for by, or else beside its own.
std::vector<std::string> labels(hid_t file, const std::string& name, const Home& home,
                                std::initializer_list<const char*> names, Index count) {
    auto found = labels(file, name, names, count);
    return found.empty() ? labels(home.file, home.name, names, count) : found;
}

DataSet look_at(hid_t file, hid_t dataset, const std::string& path, const std::string& name, const Home& home) {
    DataSet set;
    set.header.name = path + ":" + shown(name);
    const Handle space(H5Dget_space(dataset), H5Sclose, name);
    const Handle properties(H5Dget_create_plist(dataset), H5Pclose, name);
    read_type(dataset, set);
    read_size(space, set);
    read_fill_value(properties, set);
    look_at_layout(dataset, space, properties, set);
    if (!set.known_type) set.why_hdf5 = "elements of a rare type";
    if (home.path != path) set.header.layout += fmt::format(", in {}", in_quotes(home.path));
    if (user_block(home.file) > 0) set.why_hdf5 = "a user block before the data";
    if (!set.why_hdf5.empty())
        set.header.layout += fmt::format(", read by HDF5, one thread at a time ({})", set.why_hdf5);
    set.header.row_labels = labels(file, name, home, {"rownames", "row_labels", "axis1"}, set.header.rows);
    set.header.col_labels = labels(file, name, home, {"colnames", "col_labels", "block0_items"}, set.header.cols);
    return set;
}

/// A data set whose bytes are read without HDF5.
class StoredMatrix final : public MatrixFile {
public:
    StoredMatrix(const std::string& path, DataSet set)
        : MatrixFile(std::move(set.header)),
          elements_(std::move(set.elements)),
          file_(path) {
        check_places(elements_, file_, name());
    }

    void forget_cached() const override { file_.forget_cached(); }

private:
    [[nodiscard]] ReadOutcome read_block(const MatrixBlock& block, const Target& to) const override {
        return read_chunks(file_, elements_, block, to);
    }

    ChunkedElements elements_;
    StoredFile file_;
};

/// A data set that HDF5 reads.
class Hdf5Matrix final : public MatrixFile {
public:
    Hdf5Matrix(const std::string& path, MatrixHeader header, Handle file, Handle dataset)
        : MatrixFile(std::move(header)),
          bytes_(path),
          file_(std::move(file)),
          dataset_(std::move(dataset)) {}
    ~Hdf5Matrix() override {
        const Hdf5Lock lock;
        dataset_ = {};
        file_ = {};
    }
    Hdf5Matrix(const Hdf5Matrix&) = delete;
    Hdf5Matrix& operator=(const Hdf5Matrix&) = delete;

    void forget_cached() const override { bytes_.forget_cached(); }

private:
    /// So many rows at a time that what is read before it is transposed stays small, but whole chunks.
    [[nodiscard]] Index rows_at_a_time(const MatrixBlock& block) const {
        constexpr Index most_bytes = Index{1} << 24U;
        return std::max(header().chunk.rows, most_bytes / stored_type_bytes(type()) / block.cols);
    }

    [[nodiscard]] ReadOutcome read_block(const MatrixBlock& block, const Target& to) const override {
        const Index step = rows_at_a_time(block);
        for (Index i = 0; i < block.rows; i += step) {
            const MatrixBlock piece{block.row + i, block.col, std::min(step, block.rows - i), block.cols};
            std::byte* const memory = scratch(piece.rows * piece.cols * stored_type_bytes(type()));
            ReadOutcome outcome = read_piece(piece, memory);
            if (!outcome) return outcome;
            copy_rows(
                {.elements = memory, .type = type(), .stride = piece.cols, .rows = piece.rows, .cols = piece.cols},
                shifted(to, i, 0));
        }
        return {};
    }

    [[nodiscard]] ReadOutcome read_piece(const MatrixBlock& piece, std::byte* memory) const {
        const Hdf5Lock lock;
        const std::array<hsize_t, 2> first{static_cast<hsize_t>(piece.row), static_cast<hsize_t>(piece.col)};
        const std::array<hsize_t, 2> size{static_cast<hsize_t>(piece.rows), static_cast<hsize_t>(piece.cols)};
        const Handle in_memory(H5Screate_simple(2, size.data(), nullptr), H5Sclose, name());
        const Handle in_file(H5Dget_space(dataset_), H5Sclose, name());
        H5Sselect_hyperslab(in_file, H5S_SELECT_SET, first.data(), nullptr, size.data(), nullptr);
        if (H5Dread(dataset_, native_type(type()), in_memory, in_file, H5P_DEFAULT, memory) >= 0) return {};
        return ReadOutcome::failure(fmt::format("cannot read {}: {}", name(), hdf5_reason()));
    }

    StoredFile bytes_;
    Handle file_;
    Handle dataset_;
};

/// Room for one row of chunks, so that HDF5 undoes the filters of each only once for panels of their height.
Handle access_properties() {
    constexpr std::size_t slots = 12421;
    constexpr std::size_t cache_bytes = std::size_t{1} << 28U;
    Handle properties(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose, "properties");
    H5Pset_chunk_cache(properties, slots, cache_bytes, H5D_CHUNK_CACHE_W0_DEFAULT);
    return properties;
}

}  // namespace

std::unique_ptr<MatrixFile> open_hdf5_matrix(const std::string& path, const std::string& dataset,
                                             const Hdf5Options& options) {
    const StoredFile is_there(path);
    const Hdf5Lock lock;
    Handle file = open_file(path);
    const std::string chosen = dataset.empty() ? only_matrix(file, path) : dataset;
    const std::string name = chosen.starts_with('/') ? chosen : "/" + chosen;
    const Handle access = access_properties();
    Handle data = open_dataset(file, path, name, access);
    const Home home = home_of(file, data, name);
    DataSet set = look_at(file, data, path, name, home);
    if (options.reading == Hdf5Reading::fastest && set.why_hdf5.empty())
        return std::make_unique<StoredMatrix>(home.path, std::move(set));
    return std::make_unique<Hdf5Matrix>(home.path, std::move(set.header), std::move(file), std::move(data));
}

bool is_hdf5(const std::string& path) {
    const Hdf5Lock lock;
    return H5Fis_hdf5(path.c_str()) > 0;
}

}  // namespace tesela
