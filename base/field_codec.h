#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

/// Encodes numbers and texts one after the other, in native byte order: for small files and
/// records.
namespace swizzle {

class FieldWriter {
 public:
  explicit FieldWriter(std::vector<std::byte>& into) : into_(into) {}
  template <class T>
  void put(const T& value) {
    const std::size_t at = into_.size();
    into_.resize(at + sizeof value);
    store(into_.data() + at, value);
  }
  void put_bytes(Bytes bytes) { into_.insert(into_.end(), bytes.begin(), bytes.end()); }
  void put_text(std::string_view text) {
    put(static_cast<std::uint32_t>(text.size()));
    put_bytes(as_bytes(text));
  }

 private:
  std::vector<std::byte>& into_;
};

/// Decodes fields. Past the end it returns zeros and remembers the failure.
class FieldReader {
 public:
  explicit FieldReader(Bytes from) : from_(from) {}
  template <class T>
  T take() {
    const Bytes bytes = take_bytes(sizeof(T));
    return bytes.size() == sizeof(T) ? load<T>(bytes.data()) : T{};
  }
  Bytes take_bytes(std::size_t size) {
    if (size > from_.size()) {
      is_short_ = true;
      from_ = {};
      return {};
    }
    const Bytes taken = from_.first(size);
    from_ = from_.subspan(size);
    return taken;
  }
  std::string take_text() { return std::string{as_text(take_bytes(take<std::uint32_t>()))}; }
  [[nodiscard]] Bytes rest() const noexcept { return from_; }
  [[nodiscard]] bool at_end() const noexcept { return from_.empty(); }
  [[nodiscard]] bool is_whole() const noexcept { return !is_short_; }

 private:
  Bytes from_;
  bool is_short_ = false;
};

}  // namespace swizzle
