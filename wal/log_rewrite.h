#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/io/file.h"
#include "base/result.h"
#include "wal/log_options.h"
#include "wal/record.h"

namespace swizzle::wal {

/// Writes the records of a log into another one, at the LSNs that they have, bound to another
/// database id: for a restored database, which goes on with a log of its own and still reads the
/// old records. The segments count as archived, except the one where the log goes on.
class LogRewriter {
 public:
  /// Uses directory, database_id and segment_bytes of `options`. The directory exists and holds no
  /// segment. Filling records of kind `filler` precede `from`, down to the start of its segment.
  static Result<LogRewriter> begin(FileSystem& files, const LogOptions& options, Lsn from,
                                   RecordKind filler);

  /// LSN of the next record.
  [[nodiscard]] Lsn position() const noexcept { return Lsn{position_}; }
  /// Appends a record. Pre: record.lsn is position().
  Result<> append(const Record& record);
  /// Appends filling records until position() is at or behind `lsn`.
  Result<> fill_to(Lsn lsn);
  /// Makes the records durable, so that a reader finds them.
  Result<> flush();
  /// Makes everything durable. A log that is opened in the directory goes on at position().
  Result<> finish();

 private:
  LogRewriter(FileSystem& files, const LogOptions& options, RecordKind filler);
  Result<> append_filler(std::uint64_t bytes);
  Result<> write_buffered();
  Result<> write(std::uint64_t at, Bytes bytes);
  Result<> open_segment(std::uint64_t number);

  FileSystem* files_;
  std::filesystem::path directory_;
  std::uint64_t segment_bytes_;
  std::uint64_t database_id_;
  RecordKind filler_;
  std::uint64_t position_ = 0;
  /// Records before position() that are not written yet.
  std::vector<std::byte> buffer_;
  std::unique_ptr<File> file_;
  std::uint64_t number_ = 0;  ///< of the segment in `file_`
};

}  // namespace swizzle::wal
