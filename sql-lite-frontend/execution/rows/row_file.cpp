#include "sql-lite-frontend/execution/rows/row_file.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/types/sql_error.h"

/// Format of a row: u32 length of the rest, then per value one byte for its kind, and its payload:
/// nothing for NULL, 8 bytes, 8 + 4 bytes, or u32 length and bytes.
namespace swizzle::sql {
namespace {

constexpr std::size_t kLengthBytes = sizeof(std::uint32_t);
/// Buffer for single rows; sequential reading uses RowFile::kBufferBytes.
constexpr std::size_t kSmallBuffer = 256;

template <class T>
void append_raw(std::string& out, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

[[noreturn]] void corrupt() {
  throw SqlError{sqlstate::data_corrupted, "a temporary file does not have the form it was given"};
}

template <class T>
T take(Bytes& from) {
  if (from.size() < sizeof(T)) corrupt();
  const T value = load<T>(from.data());
  from = from.subspan(sizeof(T));
  return value;
}

Value take_value(Bytes& from) {
  switch (Value::Kind{take<std::uint8_t>(from)}) {
    case Value::Kind::null:
      return Value::null();
    case Value::Kind::scalar:
      return Value::from_int(take<std::int64_t>(from));
    case Value::Kind::extended: {
      const auto payload = take<std::int64_t>(from);
      return Value::from_decimal(payload, take<std::uint32_t>(from));
    }
    case Value::Kind::bytes: {
      const std::size_t size = take<std::uint32_t>(from);
      if (size > from.size()) corrupt();
      const Bytes bytes = from.first(size);
      from = from.subspan(size);
      return Value::from_bytes(bytes);
    }
  }
  corrupt();
}

}  // namespace

void RowFile::begin_row() {
  row_begin_ = pending_.size();
  pending_.append(kLengthBytes, '\0');
}

void RowFile::put(const Value& value) {
  pending_.push_back(static_cast<char>(value.kind()));
  switch (value.kind()) {
    case Value::Kind::null:
      break;
    case Value::Kind::scalar:
      append_raw(pending_, value.as_int8());
      break;
    case Value::Kind::extended:
      append_raw(pending_, value.decimal_unscaled());
      append_raw(pending_, value.decimal_scale());
      break;
    case Value::Kind::bytes:
      append_raw(pending_, static_cast<std::uint32_t>(value.as_bytes().size()));
      pending_.append(value.as_text());
      break;
  }
}

std::uint64_t RowFile::end_row() {
  const auto size = static_cast<std::uint32_t>(pending_.size() - row_begin_ - kLengthBytes);
  std::memcpy(pending_.data() + row_begin_, &size, sizeof size);
  const std::uint64_t begin = written_ + row_begin_;
  ++rows_;
  if (pending_.size() >= memory_bytes_ && files_ != nullptr) flush();
  return begin;
}

std::uint64_t RowFile::append(std::span<const Value> row) {
  begin_row();
  for (const Value& value : row) put(value);
  return end_row();
}

std::uint64_t RowFile::append(const Execution& execution, std::span<const Slot> slots) {
  begin_row();
  for (const Slot slot : slots) put(execution.slots[slot]);
  return end_row();
}

void RowFile::flush() {
  if (pending_.empty()) return;
  if (!file_) file_ = value_of(files_->create());
  file_->write_at(written_, as_bytes(pending_));
  written_ += pending_.size();
  pending_.clear();
  if (memory_bytes_ > kBufferBytes) pending_ = std::string{};
  memory_bytes_ = kBufferBytes;
}

void RowFile::cut(std::uint64_t bytes, std::uint64_t rows) noexcept {
  if (bytes >= written_) {
    pending_.resize(static_cast<std::size_t>(bytes - written_));
  } else {
    // The rest of the file is overwritten.
    written_ = bytes;
    pending_.clear();
  }
  rows_ = rows;
}

void RowFile::Reader::seek(std::uint64_t begin) noexcept {
  const std::uint64_t buffered_from = offset_ - end_;
  if (begin >= buffered_from && begin <= offset_) {
    begin_ = static_cast<std::size_t>(begin - buffered_from);
  } else {
    begin_ = end_ = 0;
    offset_ = begin;
  }
}

bool RowFile::Reader::require(std::size_t size) {
  if (end_ - begin_ >= size) return true;
  const std::size_t kept = end_ - begin_;
  const std::uint64_t left = file_->written_ - offset_;
  if (left < size - kept) return false;
  if (begin_ > 0) std::memmove(buffer_.data(), buffer_.data() + begin_, kept);
  begin_ = 0;
  end_ = kept;
  if (buffer_.size() < std::max(size, kBufferBytes)) buffer_.resize(std::max(size, kBufferBytes));
  const auto more = static_cast<std::size_t>(std::min<std::uint64_t>(left, buffer_.size() - kept));
  value_of(file_->file_->file().read_at(offset_, {buffer_.data() + kept, more}));
  end_ += more;
  offset_ += more;
  return true;
}

/// Writing it first would cost two transfers a row where rows are read as they come.
std::optional<Bytes> RowFile::Reader::next_pending(std::uint64_t at) {
  const std::string& pending = file_->pending_;
  const std::size_t in = at - file_->written_;
  if (in == pending.size()) return std::nullopt;
  const std::size_t size = load<std::uint32_t>(as_bytes(pending).data() + in);
  // The reader may append before it is done with the row.
  if (buffer_.size() < size) buffer_.resize(std::max(size, kSmallBuffer));
  if (size > 0) std::memcpy(buffer_.data(), pending.data() + in + kLengthBytes, size);
  begin_ = end_ = 0;
  offset_ = at + kLengthBytes + size;
  return Bytes{buffer_.data(), size};
}

std::optional<Bytes> RowFile::Reader::next_bytes() {
  const std::uint64_t at = offset_ - (end_ - begin_);
  if (at >= file_->written_) return next_pending(at);
  if (!require(kLengthBytes)) corrupt();
  const std::size_t size = load<std::uint32_t>(buffer_.data() + begin_);
  if (!require(kLengthBytes + size)) corrupt();
  const Bytes row{buffer_.data() + begin_ + kLengthBytes, size};
  begin_ += kLengthBytes + size;
  return row;
}

bool RowFile::Reader::next(std::span<Value> row) {
  std::optional<Bytes> bytes = next_bytes();
  if (!bytes) return false;
  for (Value& value : row) value = take_value(*bytes);
  return true;
}

bool RowFile::Reader::next_whole(std::vector<Value>& row) {
  std::optional<Bytes> bytes = next_bytes();
  if (!bytes) return false;
  row.clear();
  while (!bytes->empty()) row.push_back(take_value(*bytes));
  return true;
}

bool RowFile::Reader::next(Execution& execution, std::span<const Slot> slots) {
  std::optional<Bytes> bytes = next_bytes();
  if (!bytes) return false;
  for (const Slot slot : slots) execution.slots[slot] = take_value(*bytes);
  return true;
}

}  // namespace swizzle::sql
