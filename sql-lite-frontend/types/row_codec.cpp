#include "sql-lite-frontend/types/row_codec.h"

#include "base/invariant.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/statement_invariant.h"

namespace swizzle::sql {
namespace {

constexpr unsigned kWideOffsets = 0x8000;
constexpr std::size_t kHeaderBytes = 2;

[[noreturn]] void corrupt_row() {
  throw SqlError{sqlstate::data_corrupted, "a stored row does not have its table's form"};
}

constexpr std::size_t bitmap_bytes(std::size_t columns) noexcept {
  return (columns + 7) / 8;
}

template <class T>
void patch(std::string& out, std::size_t at, T value) {
  std::memcpy(out.data() + at, &value, sizeof value);
}

}  // namespace

RowLayout::RowLayout(std::span<const TypeId> types) : defaults_(types.size()) {
  STATEMENT_INVARIANT(types.size() < kWideOffsets);
  columns_.reserve(types.size());
  for (const TypeId type : types) {
    Column column{type, shape_of(type), false, 0, fixed_bytes_, variable_count_};
    const std::size_t width = flat_width(column.shape);
    column.fixed = width != 0;
    column.offset = column.fixed ? fixed_bytes_ : variable_count_;
    if (column.fixed)
      fixed_bytes_ += static_cast<std::uint32_t>(width);
    else
      ++variable_count_;
    columns_.push_back(column);
  }
}

void RowLayout::set_default(std::size_t column, const Value& value) {
  defaults_[column] = value.copy_to(default_bytes_);
}

void append_row(std::string& out, const RowLayout& layout, std::span<const Value> values) {
  STATEMENT_INVARIANT(values.size() == layout.columns_.size());
  std::size_t bytes = 0;
  for (const Value& value : values)
    if (value.is_bytes()) bytes += value.as_bytes().size() + 1;
  const bool wide = bytes + 10 * values.size() > UINT16_MAX;
  const std::size_t offset_bytes = wide ? 4 : 2;

  const std::size_t start = out.size();
  const std::size_t fixed_start = start + kHeaderBytes + bitmap_bytes(values.size());
  const std::size_t offsets_start = fixed_start + layout.fixed_bytes_;
  const std::size_t bytes_start = offsets_start + layout.variable_count_ * offset_bytes;
  out.reserve(bytes_start + bytes + 10 * layout.variable_count_);
  out.resize(fixed_start, '\0');
  const auto header = static_cast<std::uint16_t>(values.size() | (wide ? kWideOffsets : 0U));
  patch(out, start, header);

  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].is_null()) {
      auto& cell = out[start + kHeaderBytes + i / 8];
      cell = static_cast<char>(static_cast<unsigned char>(cell) | 1U << (i % 8));
      if (layout.columns_[i].fixed) out.append(flat_width(layout.columns_[i].shape), '\0');
    } else if (layout.columns_[i].fixed) {
      append_flat(out, layout.columns_[i].shape, values[i]);
    }
  }
  STATEMENT_INVARIANT(out.size() == offsets_start);
  out.resize(bytes_start);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const RowLayout::Column& column = layout.columns_[i];
    if (column.fixed) continue;
    if (!values[i].is_null()) append_flat(out, column.shape, values[i]);
    const std::size_t end = out.size() - bytes_start;
    const std::size_t at = offsets_start + column.offset * offset_bytes;
    if (wide)
      patch(out, at, static_cast<std::uint32_t>(end));
    else
      patch(out, at, static_cast<std::uint16_t>(end));
  }
}

RowReader::RowReader(const RowLayout& layout, Bytes row) : layout_{&layout}, row_{row} {
  if (row.size() < kHeaderBytes) corrupt_row();
  const unsigned header = load<std::uint16_t>(row.data());
  stored_columns_ = header & ~kWideOffsets;
  wide_ = (header & kWideOffsets) != 0;
  // A column dropped at the end keeps its place in the layout, so no row is longer than the layout.
  if (stored_columns_ > layout.column_count()) corrupt_row();
  const bool all = stored_columns_ == layout.column_count();
  const std::size_t fixed =
      all ? layout.fixed_bytes_ : layout.columns_[stored_columns_].fixed_bytes_before;
  const std::size_t variables =
      all ? layout.variable_count_ : layout.columns_[stored_columns_].variables_before;
  fixed_start_ = kHeaderBytes + bitmap_bytes(stored_columns_);
  offsets_start_ = fixed_start_ + fixed;
  bytes_start_ = offsets_start_ + variables * (wide_ ? 4 : 2);
  if (bytes_start_ > row.size()) corrupt_row();
}

bool RowReader::is_null(std::size_t column) const {
  if (column >= stored_columns_) return layout_->defaults_[column].is_null();
  const auto bits = std::to_integer<unsigned>(row_[kHeaderBytes + column / 8]);
  return (bits >> (column % 8) & 1U) != 0;
}

Value RowReader::column(std::size_t column) const {
  INVARIANT_SLOW(column < layout_->column_count());
  if (column >= stored_columns_) return layout_->defaults_[column];
  if (is_null(column)) return Value::null();
  const RowLayout::Column& where = layout_->columns_[column];
  if (where.fixed)
    return read_flat(where.shape,
                     row_.subspan(fixed_start_ + where.offset, flat_width(where.shape)));
  const auto end_of = [this](std::size_t index) -> std::size_t {
    const std::byte* at = row_.data() + offsets_start_ + index * (wide_ ? 4 : 2);
    return wide_ ? load<std::uint32_t>(at) : load<std::uint16_t>(at);
  };
  const std::size_t begin = where.offset == 0 ? 0 : end_of(where.offset - 1);
  const std::size_t end = end_of(where.offset);
  if (begin > end || end > row_.size() - bytes_start_) corrupt_row();
  return read_flat(where.shape, row_.subspan(bytes_start_ + begin, end - begin));
}

void RowReader::columns(std::span<Value> out) const {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = column(i);
}

}  // namespace swizzle::sql
