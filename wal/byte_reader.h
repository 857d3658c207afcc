#pragma once

#include <memory>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"

namespace swizzle::wal {

class Log;

/// Reads the log as the bytes that it is, to send it to a server that follows. Works beside the
/// log's writer. Not thread-safe; parks while it reads.
class ByteReader {
 public:
  /// The most that one read returns.
  static constexpr std::size_t kMostBytes = std::size_t{128} << 10U;

  /// `log` outlives the reader.
  explicit ByteReader(const Log& log);
  ByteReader(const ByteReader&) = delete;
  ByteReader& operator=(const ByteReader&) = delete;
  ~ByteReader();

  /// The present end of the log; a record boundary.
  [[nodiscard]] Lsn durable() const noexcept;
  [[nodiscard]] Lsn oldest() const noexcept;
  /// Returns [from, end), or the first kMostBytes of it; valid until the next call. 58P01 when the
  /// log has been released there. Pre: from < end <= durable().
  Result<Bytes> read(Lsn from, Lsn end);

 private:
  struct State;
  const Log& log_;
  std::unique_ptr<State> state_;
};

}  // namespace swizzle::wal
