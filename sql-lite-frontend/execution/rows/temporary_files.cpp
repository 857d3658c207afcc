#include "sql-lite-frontend/execution/rows/temporary_files.h"

#include <string>

#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

TemporaryFile::~TemporaryFile() {
  if (of_.usage_ != nullptr) {
    of_.usage_->add(Used::temporary_files);
    if (const auto size = file_->size()) of_.usage_->add(Used::temporary_bytes, *size);
  }
  file_.reset();
  of_.shrink(size_);
  // If this fails, the next start removes the file.
  static_cast<void>(of_.folder_->files.remove(path_));
}

void TemporaryFile::write_at(std::uint64_t offset, Bytes bytes) {
  const std::uint64_t end = offset + bytes.size();
  if (end > size_) {
    of_.grow(end - size_);
    size_ = end;
  }
  value_of(file_->write_at(offset, bytes));
}

void TemporaryFiles::grow(std::uint64_t bytes) {
  constexpr SqlState kConfigurationLimitExceeded{"53400"};
  if (bytes > limit_ || used_ > limit_ - bytes) {
    throw_error(kConfigurationLimitExceeded, "temporary file size exceeds temp_file_limit ({}kB)",
                limit_ >> 10U);
  }
  const std::uint64_t before = folder_->used.fetch_add(bytes, std::memory_order_relaxed);
  const std::uint64_t limit = folder_->limit.load(std::memory_order_relaxed);
  if (bytes > limit || before > limit - bytes) {
    folder_->used.fetch_sub(bytes, std::memory_order_relaxed);
    throw sql_error(kConfigurationLimitExceeded,
                    "temporary files of all sessions exceed server_temp_file_limit ({}kB)",
                    limit >> 10U)
        .with_hint("Raise work_mem or server_temp_file_limit.");
  }
  used_ += bytes;
}

void TemporaryFiles::shrink(std::uint64_t bytes) noexcept {
  used_ -= bytes;
  folder_->used.fetch_sub(bytes, std::memory_order_relaxed);
}

Result<> TemporaryFiles::empty_folder() {
  FileSystem& files = folder_->files;
  ASSIGN_OR_RETURN(const bool exists, files.exists(folder_->path));
  if (!exists) return files.create_directory(folder_->path);
  ASSIGN_OR_RETURN(const std::vector<std::string> names, files.list(folder_->path));
  for (const std::string& name : names) RETURN_IF_ERROR(files.remove(folder_->path / name));
  return {};
}

Result<std::unique_ptr<TemporaryFiles>> TemporaryFiles::open(FileSystem& files,
                                                             std::filesystem::path folder) {
  auto shared = std::make_shared<Folder>(files, std::move(folder));
  std::unique_ptr<TemporaryFiles> opened{new TemporaryFiles{std::move(shared), nullptr}};
  RETURN_IF_ERROR(opened->empty_folder());
  return opened;
}

Result<std::unique_ptr<TemporaryFile>> TemporaryFiles::create() {
  const std::uint64_t number = folder_->next.fetch_add(1, std::memory_order_relaxed);
  std::filesystem::path path = folder_->path / std::to_string(number);
  ASSIGN_OR_RETURN(std::unique_ptr<File> file, folder_->files.open(path, OpenMode::create_new, {}));
  return std::make_unique<TemporaryFile>(*this, std::move(path), std::move(file));
}

}  // namespace swizzle::sql
