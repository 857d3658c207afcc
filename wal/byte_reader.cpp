#include "wal/byte_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "wal/internal/log_window.h"
#include "wal/log.h"

namespace swizzle::wal {

struct ByteReader::State {
  LogWindow window;
};

ByteReader::ByteReader(const Log& log)
    : log_(log),
      state_(std::make_unique<State>(State{LogWindow{log.location(), 2 * kMostBytes}})) {}
ByteReader::~ByteReader() = default;

Lsn ByteReader::durable() const noexcept {
  return log_.durable();
}
Lsn ByteReader::oldest() const noexcept {
  return log_.oldest();
}

Result<Bytes> ByteReader::read(Lsn from, Lsn end) {
  LogWindow& window = state_->window;
  window.set_limit(raw(end));
  const std::size_t size = std::min<std::uint64_t>(raw(end) - raw(from), kMostBytes);
  ASSIGN_OR_RETURN(const Bytes found, window.bytes(raw(from), size));
  // Checked after the read: a segment recycled meanwhile holds other bytes.
  if (found.empty() || log_.oldest() > from) {
    return fail(sqlstate::undefined_file,
                fmt::format("requested WAL segment {} has already been removed",
                            segment_name(window.geometry().number_of(raw(from)))));
  }
  return found;
}

}  // namespace swizzle::wal
