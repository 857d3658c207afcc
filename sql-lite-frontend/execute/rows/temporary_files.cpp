#include "sql-lite-frontend/execute/rows/temporary_files.h"

#include <string>

namespace swizzle::sql {

TemporaryFile::~TemporaryFile() {
  file_.reset();
  // What cannot be removed now is removed at the next start.
  static_cast<void>(of_.files_.remove(path_));
}

Result<> TemporaryFiles::empty_folder() {
  ASSIGN_OR_RETURN(const bool exists, files_.exists(folder_));
  if (!exists) return files_.create_directory(folder_);
  ASSIGN_OR_RETURN(const std::vector<std::string> names, files_.list(folder_));
  for (const std::string& name : names) RETURN_IF_ERROR(files_.remove(folder_ / name));
  return {};
}

Result<std::unique_ptr<TemporaryFiles>> TemporaryFiles::open(FileSystem& files,
                                                             std::filesystem::path folder) {
  std::unique_ptr<TemporaryFiles> opened{new TemporaryFiles{files, std::move(folder)}};
  RETURN_IF_ERROR(opened->empty_folder());
  return opened;
}

Result<std::unique_ptr<TemporaryFile>> TemporaryFiles::create() {
  const std::uint64_t number = next_.fetch_add(1, std::memory_order_relaxed);
  std::filesystem::path path = folder_ / std::to_string(number);
  ASSIGN_OR_RETURN(std::unique_ptr<File> file, files_.open(path, OpenMode::create_new, {}));
  return std::make_unique<TemporaryFile>(*this, std::move(path), std::move(file));
}

}  // namespace swizzle::sql
