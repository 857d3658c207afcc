#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/io/file.h"
#include "base/result.h"

namespace swizzle {

/// Makes a standby's directory of one whose server has gone on from a place that another server has
/// left behind: an old primary, after a promotion. Pages that both have from before that place
/// stay, all else is copied from the other server, as in a base copy.
///
/// Nothing of the directory's own log or recovery is needed, so that it may be as a crash left it.
/// From prepare() on the directory cannot be opened, and a rewind can be begun again.
class Rewind {
 public:
  /// Locks the directory. 55006 while a server has it, 55000 for one that is no database.
  static Result<std::unique_ptr<Rewind>> open(FileSystem& files,
                                              const std::filesystem::path& directory);
  Rewind(const Rewind&) = delete;
  Rewind& operator=(const Rewind&) = delete;
  ~Rewind() = default;

  /// As Engine::log_id() of a server of this history.
  [[nodiscard]] std::uint64_t log_id() const noexcept { return log_id_; }
  /// Determines where the histories part: `timeline` is the other server's, `history` its file's
  /// text. 55000 if they have nothing in common, or if the other is not ahead.
  Result<> part_from(std::uint32_t timeline, std::string_view history);
  /// The log before it belongs to both.
  [[nodiscard]] Lsn fork() const noexcept { return fork_; }

  /// Removes what does not belong to both. Returns the LSN of each page that stays, none for the
  /// others.
  Result<std::vector<Lsn>> prepare(
      const std::function<void(std::uint64_t done, std::uint64_t total)>& told);
  /// Everything is copied, and durable: the directory may be opened.
  Result<> finish();

  /// Returns true if a rewind of the directory was interrupted.
  static Result<bool> is_begun(FileSystem& files, const std::filesystem::path& directory);

 private:
  Rewind(FileSystem& files, std::filesystem::path directory)
      : files_(files), directory_(std::move(directory)) {}
  Result<> read_state();
  Result<> write_marker();
  Result<> remove_others();
  Result<> clear(const std::filesystem::path& in);

  FileSystem& files_;
  const std::filesystem::path directory_;
  std::unique_ptr<FileLock> lock_;
  std::uint64_t log_id_ = 0;
  std::uint32_t timeline_ = 1;
  Lsn fork_ = Lsn::none;
  /// True if an earlier rewind has changed the directory: `fork_` is that one's at most.
  bool is_begun_ = false;
};

}  // namespace swizzle
