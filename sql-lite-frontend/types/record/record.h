#pragma once

#include <span>
#include <string>
#include <vector>

#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/type_id.h"

namespace swizzle::sql {

/// Reads a row value: u32 field count | per field: u32 type (under its collation), u32 end offset
/// (top bit: NULL) | fields in flat form | nothing, or per field its name: u32 length, text. It
/// carries its own types, as an anonymous record must, and names only for functions that show them
/// (JSON).
class RecordView {
 public:
  explicit RecordView(const Value& record);

  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] TypeId type(std::size_t field) const;
  /// The same under its collation.
  [[nodiscard]] TypeId ordered_type(std::size_t field) const;
  /// Returns the type shown to clients: `unknown` for an untyped literal, which is text internally.
  [[nodiscard]] TypeId told_type(std::size_t field) const;
  [[nodiscard]] Value field(std::size_t field) const;
  /// Returns "f1", "f2" … if the fields have no names.
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  [[nodiscard]] std::uint32_t end_of(std::size_t field) const;
  Bytes bytes_;
  std::uint32_t count_;
};

/// Throws 0A000: a function returning record was called without a column definition list.
[[noreturn]] void refuse_row_without_columns(std::string_view function);

/// `names`: empty, or one per field.
Value make_record(Arena& arena, std::span<const TypeId> types, std::span<const Value> fields,
                  std::span<const std::string> names = {});

}  // namespace swizzle::sql
