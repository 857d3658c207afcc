#pragma once

#include <cstring>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "sql-lite-frontend/query/parse/ast_nodes.h"
#include "sql-lite-frontend/query/parse/links.h"
#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql::ast {

/// Reads the protobuf encoding field by field. The bytes come from the parser library in our own
/// process; still nothing is read beyond their end.
class WireReader {
 public:
  explicit WireReader(Bytes bytes) noexcept
      : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool next() {
    if (at_ == end_) return false;
    const std::uint64_t tag = varint();
    field_ = static_cast<std::uint32_t>(tag >> 3U);
    wire_type_ = static_cast<std::uint32_t>(tag & 7U);
    return true;
  }
  [[nodiscard]] std::uint32_t field() const noexcept { return field_; }

  std::int32_t int32() { return static_cast<std::int32_t>(varint()); }
  std::uint32_t uint32() { return static_cast<std::uint32_t>(varint()); }
  std::int64_t int64() { return static_cast<std::int64_t>(varint()); }
  std::uint64_t uint64() { return varint(); }
  bool boolean() { return varint() != 0; }
  double real() { return load<double>(take(sizeof(double)).data()); }
  Bytes bytes() { return take(static_cast<std::size_t>(varint())); }

  void skip() {
    switch (wire_type_) {
      case 0:
        varint();
        return;
      case 1:
        take(8);
        return;
      case 2:
        bytes();
        return;
      case 5:
        take(4);
        return;
      default:
        malformed();
    }
  }

 private:
  [[noreturn]] static void malformed() {
    throw SqlError{sqlstate::internal_error, "malformed syntax tree"};
  }
  Bytes take(std::size_t size) {
    if (size > static_cast<std::size_t>(end_ - at_)) malformed();
    const Bytes taken{at_, size};
    at_ += size;
    return taken;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ == end_) malformed();
      const auto byte = std::to_integer<std::uint64_t>(*at_++);
      value |= (byte & 0x7fU) << shift;
      if ((byte & 0x80U) == 0) return value;
    }
    malformed();
  }

  const std::byte* at_;
  const std::byte* end_;
  std::uint32_t field_ = 0;
  std::uint32_t wire_type_ = 0;
};

/// Builds our tree in an arena.
class Decoder {
 public:
  explicit Decoder(Arena& arena) noexcept : arena_(arena) {}

  /// Throws SqlError 54001 when the tree is nested too deeply for the stack.
  Items<RawStmt> statements(Bytes bytes);

 private:
  /// Collects a repeated field whose length is known only at its end.
  template <class T>
  class Gather {
   public:
    explicit Gather(Decoder& decoder) : arena_(decoder.arena_) {}
    void add(const T* item) {
      if (size_ == capacity_) grow();
      items_[size_++] = item;
    }
    [[nodiscard]] Items<T> list() const { return {items_, size_}; }

   private:
    void grow() {
      const std::size_t capacity = capacity_ == 0 ? 4 : capacity_ * 4;
      auto** items = arena_.allocate_array<const T*>(capacity);
      if (size_ != 0) std::memcpy(items, items_, size_ * sizeof *items);
      items_ = items;
      capacity_ = capacity;
    }
    Arena& arena_;
    const T** items_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
  };

  template <class T>
  T* create() {
    return new (arena_.allocate(sizeof(T), alignof(T))) T{};
  }
  std::string_view text(Bytes bytes) { return arena_.copy(as_text(bytes)); }

  const Node* node_of(Bytes bytes);
  template <class T>
  const T* message(WireReader& wire);
  template <class T>
  const T* nested(Bytes bytes) {
    WireReader wire{bytes};
    return message<T>(wire);
  }

  Arena& arena_;
};

}  // namespace swizzle::sql::ast
