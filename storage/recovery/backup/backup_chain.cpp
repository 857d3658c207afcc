#include "storage/recovery/backup/backup_chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <ranges>
#include <utility>

#include "base/memory/aligned_buffer.h"
#include "storage/page/page.h"
#include "storage/recovery/backup/unfinished.h"
#include "storage/space/double_write.h"
#include "storage/space/given_up_pages.h"
#include "storage/space/space_map.h"
#include "storage/space/untidy_pages.h"
#include "storage/space/volume.h"

namespace swizzle {
namespace {

/// Called with the offset and the bytes of each portion that was copied.
using Look = std::function<void(std::uint64_t at, Bytes portion)>;

Result<> copy_file(FileSystem& files, const std::filesystem::path& from,
                   const std::filesystem::path& to, const Look& look) {
  constexpr std::size_t kPortion = std::size_t{1} << 20U;
  ASSIGN_OR_RETURN(auto source, files.open(from, OpenMode::read_only, {}));
  ASSIGN_OR_RETURN(auto copy, files.open(to, OpenMode::create_new, {}));
  ASSIGN_OR_RETURN(const std::uint64_t size, source->size());
  AlignedBuffer buffer(kPortion);
  for (std::uint64_t at = 0; at < size; at += kPortion) {
    const auto portion = static_cast<std::size_t>(std::min<std::uint64_t>(kPortion, size - at));
    RETURN_IF_ERROR(source->read_at(at, buffer.bytes(0, portion)));
    RETURN_IF_ERROR(copy->write_at(at, buffer.bytes(0, portion)));
    if (look) look(at, buffer.bytes(0, portion));
  }
  return copy->sync();
}

using Pages = std::set<PageId>;

void note_if_damaged(Pages& doubted, PageId page, const std::byte* bytes) {
  if (check_page(bytes, page))
    doubted.erase(page);
  else
    doubted.insert(page);
}

Result<> copy_data_file(FileSystem& files, const std::filesystem::path& from,
                        const std::filesystem::path& to, Pages& doubted) {
  const auto look = [&doubted](std::uint64_t at, Bytes portion) {
    for (std::size_t i = 0; i + kPageBytes <= portion.size(); i += kPageBytes) {
      const PageId page{(at + i) / kPageBytes};
      if (raw(page) >= SpaceMap::kFirstPage) note_if_damaged(doubted, page, portion.data() + i);
    }
  };
  return copy_file(files, from, to, look);
}

/// Writes the pages of an incremental backup over those of the backups before it.
Result<> copy_changed_pages(ChangedPagesReader& changed, File& data, Pages& doubted) {
  while (true) {
    ASSIGN_OR_RETURN(const ChangedPagesReader::Batch batch, changed.next());
    if (batch.pages.empty()) break;
    for (std::size_t i = 0; i < batch.pages.size(); ++i) {
      const PageId page = batch.pages[i];
      const std::byte* const bytes = batch.images + i * kPageBytes;
      note_if_damaged(doubted, page, bytes);
      RETURN_IF_ERROR(data.write_at(raw(page) * kPageBytes, {bytes, kPageBytes}));
    }
  }
  return data.truncate(changed.page_count() * kPageBytes);
}

}  // namespace

Result<> copy_whole_file(FileSystem& files, const std::filesystem::path& from,
                         const std::filesystem::path& to) {
  return copy_file(files, from, to, {});
}

Result<> remove_with_content(FileSystem& files, const std::filesystem::path& directory) {
  ASSIGN_OR_RETURN(const auto names, files.list(directory));
  for (const std::string& name : names) RETURN_IF_ERROR(files.remove(directory / name));
  // Otherwise a crash may leave files of a directory that is gone.
  RETURN_IF_ERROR(files.sync_directory(directory));
  return files.remove(directory);
}

Result<BackupChain> BackupChain::open(FileSystem& files,
                                      std::span<const std::filesystem::path> directories) {
  BackupChain chain;
  for (const auto& directory : directories) RETURN_IF_ERROR(chain.add(files, directory));
  return chain;
}

Result<> BackupChain::add(FileSystem& files, const std::filesystem::path& directory) {
  ASSIGN_OR_RETURN(const BackupLabel label, read_backup_label(files, directory));
  ASSIGN_OR_RETURN(const auto control, ControlFile::open(files, directory));
  RETURN_IF_ERROR(require_finished(files, directory));
  const Control& current = control->current();
  if (full_.empty()) {
    RETURN_IF_ERROR(require_all_pages(files, directory));
    full_ = directory;
    ASSIGN_OR_RETURN(data_, files.open(full_ / Volume::kFileName, OpenMode::read_only, {}));
    ASSIGN_OR_RETURN(const std::uint64_t bytes, data_->size());
    full_pages_ = bytes / kPageBytes;
  } else {
    RETURN_IF_ERROR(require_follows(directory, label, current));
    ASSIGN_OR_RETURN(auto changed, ChangedPagesReader::open(files, directory, current.database_id));
    changed_.push_back(std::move(changed));
  }
  newest_ = directory;
  label_ = label;
  control_ = current;
  return {};
}

Result<> BackupChain::require_follows(const std::filesystem::path& directory,
                                      const BackupLabel& label, const Control& control) const {
  const auto refuse = [&](std::string_view why) {
    return fail(Error{sqlstate::object_not_in_prerequisite_state,
                      fmt::format("\"{}\" {}", directory.native(), why)}
                    .with_hint("Name a full backup, and each incremental one after the backup "
                               "since which it was taken."));
  };
  if (!label.is_incremental()) return refuse("is a full backup, and can only be the first");
  if (label.since_id != label_.id || label.since_begin != control_.checkpoint.begin ||
      control.database_id != control_.database_id || control.log_id != control_.log_id)
    return refuse(fmt::format("was not taken since the backup \"{}\"", newest_.native()));
  return {};
}

Result<> BackupChain::copy_files(FileSystem& files, const std::filesystem::path& target,
                                 Pages& doubted) {
  const auto data_file = target / Volume::kFileName;
  RETURN_IF_ERROR(copy_data_file(files, full_ / Volume::kFileName, data_file, doubted));
  RETURN_IF_ERROR(
      copy_whole_file(files, full_ / DoubleWrite::kFileName, target / DoubleWrite::kFileName));
  if (!changed_.empty()) {
    ASSIGN_OR_RETURN(const auto data, files.open(data_file, OpenMode::read_write, {}));
    for (ChangedPagesReader& changed : changed_)
      RETURN_IF_ERROR(copy_changed_pages(changed, *data, doubted));
    RETURN_IF_ERROR(data->sync());
  }
  return copy_lists(files, target);
}

Result<> BackupChain::copy_lists(FileSystem& files, const std::filesystem::path& target) const {
  ASSIGN_OR_RETURN(const auto names, files.list(newest_));
  for (const std::string& name : names) {
    if (name == GivenUpPages::kFileName || name == UntidyPages::kFileName ||
        std::ranges::find(SpaceMap::kFileNames, name) != std::end(SpaceMap::kFileNames))
      RETURN_IF_ERROR(copy_whole_file(files, newest_ / name, target / name));
  }
  return {};
}

std::uint64_t BackupChain::page_count() const noexcept {
  return changed_.empty() ? full_pages_ : changed_.back().page_count();
}

/// Returns false if no backup has the page: it lay behind the data file's end in one of them, and
/// no later one has it.
Result<bool> BackupChain::copy_to(PageId page, std::byte* into) const {
  for (const ChangedPagesReader& changed : std::views::reverse(changed_)) {
    if (changed.contains(page)) {
      RETURN_IF_ERROR(changed.read(page, into));
      return true;
    }
    if (raw(page) >= changed.page_count()) return false;
  }
  if (raw(page) >= full_pages_) return false;
  RETURN_IF_ERROR(data_->read_at(raw(page) * kPageBytes, {into, kPageBytes}));
  return true;
}

Result<> BackupChain::read_page(PageId page, std::byte* into) const {
  const auto damaged = [&](std::string_view why) {
    return fail(Error{sqlstate::data_corrupted,
                      fmt::format("page {} {} in the backup \"{}\", or the ones before it",
                                  raw(page), why, newest_.native())});
  };
  ASSIGN_OR_RETURN(const bool is_there, copy_to(page, into));
  if (!is_there) return damaged("is not");
  if (!check_page(into, page)) return damaged("is damaged");
  if (load<PageHeader>(into).lsn >= end()) return damaged("was changed");
  return {};
}

}  // namespace swizzle
