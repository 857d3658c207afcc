#include "sql-lite-frontend/statement/row_view.h"

#include "base/bytes.h"
#include "base/encodings/encoding_table.h"
#include "sql-lite-frontend/types/built_in.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/type_io.h"
#include "sql-lite-frontend/types/user_types.h"
#include "sql-lite-frontend/types/writing_share.h"

namespace swizzle::sql {
namespace {

void append_int16(std::string& buffer, std::uint16_t value) {
  std::byte bytes[sizeof value];
  store_big_endian(bytes, value);
  buffer += as_text(Bytes{bytes, sizeof bytes});
}

void append_int32(std::string& buffer, std::uint32_t value) {
  std::byte bytes[sizeof value];
  store_big_endian(bytes, value);
  buffer += as_text(Bytes{bytes, sizeof bytes});
}

constexpr std::uint32_t kNullLength = UINT32_MAX;
/// Shorter ones are not worth counting.
constexpr std::size_t kLongRow = std::size_t{64} << 10U;

/// Puts the length of the bytes that `write` appends in front of them.
template <class Write>
void with_length(std::string& buffer, const Write& write) {
  const std::size_t start = buffer.size();
  append_int32(buffer, 0);
  write();
  const auto length = static_cast<std::uint32_t>(buffer.size() - start - sizeof(std::uint32_t));
  store_big_endian(reinterpret_cast<std::byte*>(buffer.data() + start), length);
}

}  // namespace

std::vector<OutputColumn> output_columns(std::span<const OutputTarget> targets,
                                         std::span<const Format> formats) {
  std::vector<OutputColumn> columns;
  put_output_columns(columns, targets, formats);
  return columns;
}

void put_output_columns(std::vector<OutputColumn>& columns, std::span<const OutputTarget> targets,
                        std::span<const Format> formats) {
  columns.clear();
  columns.reserve(targets.size());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const OutputTarget& target = targets[i];
    OutputColumn column;
    column.name = target.name;
    column.table_oid = target.origin.table;
    column.column_number = target.origin.column;
    // Clients read a domain's values as those of its base type.
    const bool of_domain = is_domain(target.type);
    column.type_oid = raw(base_type(target.type));
    column.type_size = type_size(target.type);
    column.type_modifier = of_domain ? base_of_domain(target.type).typmod : target.typmod;
    if (!formats.empty()) column.format = formats.size() == 1 ? formats[0] : formats[i];
    columns.push_back(column);
  }
}

namespace {

/// A row's message may be as long as a value, and no longer.
void check_length(std::size_t bytes) {
  if (bytes <= kMaxFieldBytes) return;
  throw sql_error(sqlstate::program_limit_exceeded, "out of memory")
      .with_detail(fmt::format("A row of {} bytes is longer than a message may be.", bytes));
}

/// Converts the text at the end of a row to the client's encoding.
void encode_text(const EncodingTable& client, std::string& buffer, std::size_t start) {
  const auto encoded =
      for_bytes(buffer.size() - start, [&] { return client.encode_tail(buffer, start); });
  if (!encoded) throw SqlError{Error{encoded.error().state(), encoded.error().message()}};
}

/// `value_at` returns the value in a column; `note_length` is called for a row that becomes long.
template <class ValueAt, class NoteLength>
void append_values(std::string& buffer, FunctionContext& context,
                   std::span<const OutputColumn> columns, std::span<const TypeId> types,
                   const ValueAt& value_at, const NoteLength& note_length) {
  const std::size_t start = buffer.size();
  const EncodingTable* const client = context.session.format.client_encoding;
  try {
    append_int16(buffer, static_cast<std::uint16_t>(columns.size()));
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const Value& value = value_at(i);
      if (value.is_null()) {
        append_int32(buffer, kNullLength);
        continue;
      }
      with_length(buffer, [&] {
        if (columns[i].format == Format::binary) {
          send_binary(context, types[i], value, buffer);
        } else {
          const std::size_t text = buffer.size();
          output_text(context, types[i], value, buffer);
          if (client != nullptr) [[unlikely]] {
            const std::size_t most = EncodingTable::kMostEncodedGrowth * (buffer.size() - text);
            const WritingShare share{context, most};
            encode_text(*client, buffer, text);
          }
        }
      });
      if (buffer.size() - start > kLongRow) [[unlikely]]
        note_length(buffer.size() - start);
    }
  } catch (...) {
    buffer.resize(start);
    throw;
  }
}

}  // namespace

void RowView::append_data_row(std::string& buffer) const {
  sent_.lower(0);
  append_values(
      buffer, run_.execution.functions, columns_, run_.plan->types,
      [this](std::size_t i) -> const Value& { return run_.execution.slots[run_.plan->outputs[i]]; },
      [this](std::size_t bytes) { count_long_row(bytes); });
}

/// The row's memory counts until the next row comes, when this one has been sent.
void RowView::count_long_row(std::size_t bytes) const {
  check_length(bytes);
  sent_.set(run_.execution.memory, bytes);
}

void ValuesRow::append_data_row(std::string& buffer) const {
  append_values(
      buffer, context_, columns_, types_,
      [this](std::size_t i) -> const Value& { return values_[i]; }, check_length);
}

std::optional<std::string> ValuesRow::text(std::size_t column) const {
  if (values_[column].is_null()) return std::nullopt;
  return to_text(context_, types_[column], values_[column]);
}

std::optional<std::string> RowView::text(std::size_t column) const {
  const Value& value = run_.execution.slots[run_.plan->outputs[column]];
  if (value.is_null()) return std::nullopt;
  return to_text(run_.execution.functions, run_.plan->types[column], value);
}

void TextRow::append_data_row(std::string& buffer) const {
  const std::size_t start = buffer.size();
  try {
    append_int16(buffer, static_cast<std::uint16_t>(values_.size()));
    for (const auto& value : values_) {
      if (!value) {
        append_int32(buffer, kNullLength);
        continue;
      }
      with_length(buffer, [&] {
        const std::size_t text = buffer.size();
        buffer += *value;
        if (client_ != nullptr) encode_text(*client_, buffer, text);
      });
    }
  } catch (...) {
    buffer.resize(start);
    throw;
  }
}

}  // namespace swizzle::sql
