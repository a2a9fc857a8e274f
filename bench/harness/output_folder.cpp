#include "harness/output_folder.hpp"

#include "tesela/io/output_file.hpp"

namespace tesela::bench {

void OutputFolder::picture(const std::string& name, std::string_view svg) { write_file(file(name), svg); }

const std::string& OutputFolder::file(const std::string& name) { return files_.emplace_back(path_ + "/" + name); }

}  // namespace tesela::bench
