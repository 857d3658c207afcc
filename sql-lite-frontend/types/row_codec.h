#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/type_id.h"

namespace swizzle::sql {

/// Layout of the columns in a table's rows. Columns are only added at the end: older rows have
/// fewer columns, and missing ones are read as their default.
///
/// Row: u16 header (bits 0-14: column count, bit 15: wide offsets) | null bitmap | fixed-width
/// columns in order, NULL or not | end offset of each variable column (u16 or u32) | their bytes.
/// So any column is found in constant time.
class RowLayout {
 public:
  struct Column {
    TypeId type = TypeId::none;
    Shape shape = Shape::none;
    bool fixed = false;
    std::uint32_t offset = 0;  ///< fixed: bytes before it; variable: how many come before it
    std::uint32_t fixed_bytes_before = 0;  ///< of all columns before this one
    std::uint32_t variables_before = 0;
  };

  RowLayout() = default;
  explicit RowLayout(std::span<const TypeId> types);

  /// Sets the value that a column has in rows written before it was added. The bytes are copied.
  void set_default(std::size_t column, const Value& value);

  [[nodiscard]] std::size_t column_count() const noexcept { return columns_.size(); }
  [[nodiscard]] const Column& column(std::size_t index) const noexcept { return columns_[index]; }

 private:
  friend class RowReader;
  friend void append_row(std::string&, const RowLayout&, std::span<const Value>);

  std::vector<Column> columns_;
  std::vector<Value> defaults_;
  Arena default_bytes_{256};
  std::uint32_t fixed_bytes_ = 0;
  std::uint32_t variable_count_ = 0;
};

/// Appends the encoding of one row. Pre: as many values as the layout has columns.
void append_row(std::string& out, const RowLayout& layout, std::span<const Value> values);

/// Decodes columns of an encoded row, each in constant time and without copying: values refer to
/// the row's bytes. Checks offsets against the row's length (throws SqlError XX001).
class RowReader {
 public:
  RowReader(const RowLayout& layout, Bytes row);

  [[nodiscard]] bool is_null(std::size_t column) const;
  [[nodiscard]] Value column(std::size_t column) const;
  /// Columns 0 … out.size()-1.
  void columns(std::span<Value> out) const;

 private:
  const RowLayout* layout_;
  Bytes row_;
  std::size_t stored_columns_;
  std::size_t fixed_start_;
  std::size_t offsets_start_;
  std::size_t bytes_start_;
  bool wide_;
};

/// The flat form of one value, without its length, as in rows, arrays and records. Fixed-width
/// shapes have the width of `flat_width`, others end where their container says.
void append_flat(std::string& out, Shape shape, const Value& value);
/// Pre: not NULL. Refers to `bytes`. Throws SqlError XX001 on malformed bytes.
Value read_flat(Shape shape, Bytes bytes);
/// Returns 0 for shapes of variable width.
std::size_t flat_width(Shape shape) noexcept;
/// Returns the shape of any type; an unknown type has the shape of a record.
Shape shape_of(TypeId type) noexcept;

}  // namespace swizzle::sql
