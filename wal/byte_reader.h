#pragma once

#include <memory>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"

namespace swizzle::wal {

class Log;

/// Reads the log as bytes, to send it to a standby. Runs concurrently with the log's writer. Not
/// thread-safe; parks while it reads.
class ByteReader {
 public:
  /// Limit of one read.
  static constexpr std::size_t kMostBytes = std::size_t{128} << 10U;

  /// Pre: `log` outlives the reader.
  explicit ByteReader(const Log& log);
  ByteReader(const ByteReader&) = delete;
  ByteReader& operator=(const ByteReader&) = delete;
  ~ByteReader();

  /// End of the durable log; a record boundary.
  [[nodiscard]] Lsn durable() const noexcept;
  [[nodiscard]] Lsn oldest() const noexcept;
  /// Returns [from, end), or its first kMostBytes; valid until the next call. 58P01 if the log has
  /// been released there. Pre: from < end <= durable().
  Result<Bytes> read(Lsn from, Lsn end);

 private:
  struct State;
  const Log& log_;
  std::unique_ptr<State> state_;
};

}  // namespace swizzle::wal
