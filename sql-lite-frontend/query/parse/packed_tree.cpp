#include "sql-lite-frontend/query/parse/packed_tree.h"

#include <pg_query/pg_query.pb-c.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <new>

namespace swizzle::sql {
namespace {

constinit thread_local PackedTree* packing = nullptr;

}  // namespace

/// Puts fields before those that are there already.
class PackedTree::Writer {
 public:
  explicit Writer(PackedTree& tree) noexcept : tree_(tree) {}

  void message(const ProtobufCMessage& message) noexcept {
    const ProtobufCMessageDescriptor& kind = *message.descriptor;
    if (&kind == &pg_query__node__descriptor) return node(message);
    for (unsigned i = kind.n_fields; i-- > 0;) field(message, kind.fields[i]);
  }

 private:
  using Field = ProtobufCFieldDescriptor;

  template <class T>
  static T at(const ProtobufCMessage& message, unsigned offset) noexcept {
    T value;
    std::memcpy(static_cast<void*>(&value), reinterpret_cast<const std::byte*>(&message) + offset,
                sizeof value);
    return value;
  }

  /// One field of its 260 is there, if any.
  void node(const ProtobufCMessage& message) noexcept {
    const ProtobufCMessageDescriptor& kind = *message.descriptor;
    const auto number =
        static_cast<std::uint32_t>(reinterpret_cast<const PgQuery__Node*>(&message)->node_case);
    if (number == 0) return;
    // They are sorted, and hardly a number is missing.
    const Field* found = number <= kind.n_fields ? &kind.fields[number - 1] : nullptr;
    if (found == nullptr || found->id != number) {
      found = std::ranges::lower_bound(kind.fields, kind.fields + kind.n_fields, number, {},
                                       &Field::id);
      if (found == kind.fields + kind.n_fields || found->id != number)
        return fail(Outcome::unknown_field);
    }
    field(message, *found);
  }

  void field(const ProtobufCMessage& message, const Field& field) noexcept {
    if (field.label == PROTOBUF_C_LABEL_REPEATED) return list(message, field);
    if (field.label != PROTOBUF_C_LABEL_NONE) return fail(Outcome::unknown_field);
    const bool is_choice = (field.flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0;
    if (is_choice && at<std::uint32_t>(message, field.quantifier_offset) != field.id) return;
    one(message, field, is_choice);
  }

  /// Writes one field; a default value is left out, unless it is the chosen field of a oneof.
  void one(const ProtobufCMessage& message, const Field& field, bool is_kept) noexcept {
    switch (field.type) {
      case PROTOBUF_C_TYPE_ENUM:
      case PROTOBUF_C_TYPE_INT32:
        return number(
            field,
            static_cast<std::uint64_t>(std::int64_t{at<std::int32_t>(message, field.offset)}),
            is_kept);
      case PROTOBUF_C_TYPE_UINT32:
        return number(field, at<std::uint32_t>(message, field.offset), is_kept);
      case PROTOBUF_C_TYPE_INT64:
      case PROTOBUF_C_TYPE_UINT64:
        return number(field, at<std::uint64_t>(message, field.offset), is_kept);
      case PROTOBUF_C_TYPE_BOOL:
        return number(field, at<protobuf_c_boolean>(message, field.offset) != 0 ? 1 : 0, is_kept);
      case PROTOBUF_C_TYPE_DOUBLE:
        return real(field, at<double>(message, field.offset), is_kept);
      case PROTOBUF_C_TYPE_STRING:
        return text(field, at<const char*>(message, field.offset), is_kept);
      case PROTOBUF_C_TYPE_MESSAGE:
        return nested(field, at<const ProtobufCMessage*>(message, field.offset));
      default:
        return fail(Outcome::unknown_field);
    }
  }

  void list(const ProtobufCMessage& message, const Field& field) noexcept {
    const auto count = at<std::size_t>(message, field.quantifier_offset);
    if (count == 0) return;
    if (field.type == PROTOBUF_C_TYPE_MESSAGE) {
      const auto* const items = at<const ProtobufCMessage* const*>(message, field.offset);
      for (std::size_t i = count; i-- > 0;) nested(field, items[i]);
    } else {
      fail(Outcome::unknown_field);
    }
  }

  void number(const Field& field, std::uint64_t value, bool is_kept) noexcept {
    if (value == 0 && !is_kept) return;
    varint(value);
    tag(field, 0);
  }
  void real(const Field& field, double value, bool is_kept) noexcept {
    if (value == 0 && !is_kept) return;
    put(&value, sizeof value);
    tag(field, 1);
  }
  void text(const Field& field, const char* value, bool is_kept) noexcept {
    if (value == nullptr || (*value == '\0' && !is_kept)) return;
    const std::size_t size = std::strlen(value);
    put(value, size);
    varint(size);
    tag(field, 2);
  }
  void nested(const Field& field, const ProtobufCMessage* inner) noexcept {
    if (inner == nullptr) return;
    const std::size_t behind = written();
    message(*inner);
    varint(written() - behind);
    tag(field, 2);
  }

  void tag(const Field& field, std::uint32_t wire_type) noexcept {
    varint(std::uint64_t{field.id} << 3U | wire_type);
  }

  void varint(std::uint64_t value) noexcept {
    constexpr std::size_t kMostBytes = 10;
    std::array<std::uint8_t, kMostBytes> bytes{};
    std::size_t size = 0;
    for (; value >= 0x80U; value >>= 7U) {
      bytes[size++] = static_cast<std::uint8_t>(value | 0x80U);
    }
    bytes[size++] = static_cast<std::uint8_t>(value);
    put(bytes.data(), size);
  }

  void put(const void* bytes, std::size_t size) noexcept {
    if (size > tree_.begin_ && !grow(size)) return;
    tree_.begin_ -= size;
    std::memcpy(tree_.memory_.get() + tree_.begin_, bytes, size);
  }

  bool grow(std::size_t more) noexcept {
    if (tree_.outcome_ != Outcome::whole) return false;
    constexpr std::size_t kAtFirst = 1024;
    const std::size_t used = written();
    const std::size_t capacity = std::max({tree_.capacity_ * 2, used + more, kAtFirst});
    std::unique_ptr<std::byte[]> memory{new (std::nothrow) std::byte[capacity]};  // NOLINT
    if (memory == nullptr) {
      fail(Outcome::out_of_memory);
      return false;
    }
    if (used > 0) std::memcpy(memory.get() + capacity - used, tree_.bytes().data(), used);
    tree_.memory_ = std::move(memory);
    tree_.capacity_ = capacity;
    tree_.begin_ = capacity - used;
    return true;
  }

  [[nodiscard]] std::size_t written() const noexcept { return tree_.capacity_ - tree_.begin_; }
  void fail(Outcome outcome) noexcept { tree_.outcome_ = outcome; }

  PackedTree& tree_;
};

PackedTree::PackedTree() noexcept {
  packing = this;
}

PackedTree::~PackedTree() {
  close();
}

void PackedTree::close() noexcept {
  if (packing == this) packing = nullptr;
}

void PackedTree::pack(const void* message) noexcept {
  begin_ = capacity_;
  outcome_ = Outcome::whole;
  Writer{*this}.message(*static_cast<const ProtobufCMessage*>(message));
}

}  // namespace swizzle::sql

// The names that the linker's --wrap makes.
extern "C" {

std::size_t size_by_library(const void* result) asm(
    "__real_pg_query__parse_result__get_packed_size");
std::size_t size_asked(const void* result) asm("__wrap_pg_query__parse_result__get_packed_size");
std::size_t pack_by_library(const void* result,
                            std::uint8_t* out) asm("__real_pg_query__parse_result__pack");
std::size_t pack_asked(const void* result,
                       std::uint8_t* out) asm("__wrap_pg_query__parse_result__pack");
}

/// The library allocates what it is told, and has it filled: with nothing, since it is ours.
std::size_t size_asked(const void* result) {
  if (swizzle::sql::packing == nullptr) return size_by_library(result);
  swizzle::sql::packing->pack(result);
  return 0;
}

std::size_t pack_asked(const void* result, std::uint8_t* out) {
  return swizzle::sql::packing == nullptr ? pack_by_library(result, out) : 0;
}
