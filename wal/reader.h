#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/io/file.h"
#include "base/result.h"
#include "wal/record.h"

namespace swizzle::wal {

class OlderSegments;

/// The log from which another one goes on: that of the database whose backup was restored.
struct OlderLog {
  /// Identifier to which its segments and records are bound.
  std::uint64_t database_id = 0;
  /// End of its records, a record boundary. More may follow in its segments, which is not read.
  Lsn end = Lsn::none;
  /// Start of the other log, at the start of a segment. Nothing lies between the two.
  Lsn resumes_at = Lsn::none;
  /// LSN of the first record that may be needed; none: not known.
  Lsn from = Lsn::none;
  /// Its segments. Null: they are in the directory of the other log, and Log::open() finds them.
  std::shared_ptr<OlderSegments> segments = nullptr;
};

/// Location of a log. Log::location() gives it; find_log() reads it from the files.
struct LogLocation {
  FileSystem* files = nullptr;
  std::filesystem::path directory;
  std::uint64_t segment_bytes = 0;
  std::uint64_t database_id = 0;
  std::optional<OlderLog> older = std::nullopt;  ///< from which it goes on
};

/// Access pattern of the reads: one record after the other, or here and there.
enum class ReadPattern : std::uint8_t { sequential, random };

/// Reads records from the segment files. Behind the last record of an older log comes the first one
/// of the log that goes on from it. Every returned record has passed its checksum. May read
/// the durable part of a running Log. Not thread-safe; parks while it reads.
class Reader {
 public:
  /// Reads [.., end). `end` is a record boundary, usually the durable end. Pre: segments from the
  /// lowest requested LSN on are kept (Log::keep_from).
  Reader(LogLocation location, Lsn end, ReadPattern pattern = ReadPattern::sequential);
  ~Reader();
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;

  /// Puts the reader between two records. Pre: `at` is a record boundary, as record starts, record
  /// ends, Log::begin() and Log::durable() are.
  void seek(Lsn at) noexcept;
  [[nodiscard]] Lsn position() const noexcept;
  [[nodiscard]] Lsn end() const noexcept;
  void extend_to(Lsn end) noexcept;

  /// The record after the position, which moves past it; nullopt at the end. XX001 when there is
  /// no valid record before the end: the log is damaged, the message says where. 58P01 when the
  /// segment is missing.
  Result<std::optional<Record>> next();
  /// The record before the position, which moves before it; nullopt at the oldest segment's start,
  /// or when the record begins before it.
  Result<std::optional<Record>> previous();
  /// The record that begins at `at`; the position is after it then.
  Result<Record> read(Lsn at);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Reads the location of the log in `directory` from its oldest segment whose header is whole.
Result<LogLocation> find_log(FileSystem& files, const std::filesystem::path& directory);

/// The first record at or after `from`, searched for by its checksum; nullopt if there is none.
Result<std::optional<Lsn>> find_record(const LogLocation& location, Lsn from);

}  // namespace swizzle::wal
