#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/io/file.h"
#include "base/result.h"
#include "storage/options.h"

namespace swizzle {

/// A file system that sends its changes as messages to another machine, where ReceivedFiles applies
/// them: a backup that is written into it arrives there. Nothing can be read. Paths are relative.
///
/// A message is a letter, the number of the file (4 bytes, little-endian), a position or length (8
/// bytes), then a path or data. Letters: d directory, o open (position: 1 if it must be new, 2 if
/// each write is durable), w write, t truncate, a allocate, c close, s sync, y sync a directory, n
/// rename (both paths, a zero byte between them), r remove, p progress.
class SentFiles final : public FileSystem {
 public:
  /// Called for each message; may park.
  using Send = std::function<void(Bytes message)>;
  explicit SentFiles(Send send) : send_(std::move(send)) {}

  Result<std::unique_ptr<File>> open(const std::filesystem::path& path, OpenMode mode,
                                     FileOptions options) override;
  Result<> remove(const std::filesystem::path& path) override;
  Result<> rename(const std::filesystem::path& from, const std::filesystem::path& to) override;
  Result<std::vector<std::string>> list(const std::filesystem::path& directory) override;
  Result<bool> exists(const std::filesystem::path& path) override;
  Result<> create_directory(const std::filesystem::path& path) override;
  Result<> sync_directory(const std::filesystem::path& path) override;
  Result<std::unique_ptr<FileLock>> lock(const std::filesystem::path& path) override;
  Result<std::unique_ptr<ScratchMemory>> scratch(const std::filesystem::path& directory,
                                                 std::size_t bytes) override;
  void tell_progress(const RecoveryProgress& progress);
  /// Of that data file, pages that have this LSN are not sent: they are there already. `known` is
  /// by page number; Lsn::none: send it.
  void leave_out_pages(std::filesystem::path data_file, std::vector<Lsn> known) {
    data_file_ = std::move(data_file);
    known_ = std::move(known);
  }

 private:
  class SentFile;
  /// Sends a message. 57014 if the sender is asked to end.
  Result<> send(char kind, std::uint32_t file, std::uint64_t number, Bytes body);

  const Send send_;
  std::uint32_t last_file_ = 0;
  std::filesystem::path data_file_;
  std::vector<Lsn> known_;
};

/// Applies the changes that SentFiles has sent, below a directory.
class ReceivedFiles {
 public:
  /// How it goes into a directory that has files: those of the same names are replaced.
  struct Existing {
    std::filesystem::path only_in;    ///< changes elsewhere are passed over
    std::filesystem::path data_file;  ///< keeps its content
    std::filesystem::path kept;       ///< not removed
  };
  void go_into(Existing existing) { existing_ = std::move(existing); }
  /// `told` is called with the progress: the bytes done, and all bytes.
  ReceivedFiles(FileSystem& files, std::filesystem::path directory,
                std::function<void(std::uint64_t done, std::uint64_t total)> told)
      : files_(files), directory_(std::move(directory)), told_(std::move(told)) {}

  /// Applies a message. 08P01 if it is invalid, or if its path leaves the directory.
  Result<> apply(Bytes message);

 private:
  Result<std::filesystem::path> path_of(std::string_view relative) const;
  Result<> open(std::uint32_t number, std::uint64_t how, std::string_view relative);
  /// True if the change is made.
  [[nodiscard]] bool is_meant(std::string_view relative) const;
  Result<File*> file_of(std::uint32_t number) const;

  FileSystem& files_;
  const std::filesystem::path directory_;
  const std::function<void(std::uint64_t, std::uint64_t)> told_;
  struct Received {
    std::unique_ptr<File> file;
    /// True if it was opened for durable writes. Since a part of a copy is of no use, one sync at
    /// the end replaces all of them.
    bool syncs_at_end = false;
  };
  std::map<std::uint32_t, Received> open_;
  /// Files that are passed over.
  std::set<std::uint32_t> passed_over_;
  std::optional<Existing> existing_;
};

}  // namespace swizzle
