#pragma once

#include <span>

#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/type_id.h"

namespace swizzle::sql {

/// Reads a row value: u32 field count | per field: u32 type, u32 end offset (top bit: NULL) |
/// fields in flat form. It carries its own types, as an anonymous record must.
class RecordView {
 public:
  explicit RecordView(const Value& record);

  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] TypeId type(std::size_t field) const;
  [[nodiscard]] Value field(std::size_t field) const;

 private:
  Bytes bytes_;
  std::uint32_t count_;
};

Value make_record(Arena& arena, std::span<const TypeId> types, std::span<const Value> fields);

}  // namespace swizzle::sql
