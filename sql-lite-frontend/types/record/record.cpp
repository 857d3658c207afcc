#include "sql-lite-frontend/types/record/record.h"

#include <fmt/format.h>

#include <string>

#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/row_codec.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/statement_invariant.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

constexpr std::uint32_t kNullBit = 0x80000000U;
constexpr std::size_t kEntryBytes = 8;

[[noreturn]] void corrupt_record() {
  throw SqlError{sqlstate::data_corrupted, "a stored record does not have a record's form"};
}

Value record_of(Arena& arena, std::span<const TypeId> types, std::span<const Value> fields,
                std::span<const std::string> names) {
  const auto count = static_cast<std::uint32_t>(types.size());
  MemoryShare beside;
  std::string out;
  if (const std::size_t bytes = bytes_of(fields); bytes >= kLongBytes) {
    // Charged to the account, like all memory in use while a value is built.
    const std::size_t whole = bytes + bytes / 16;
    beside.set(arena.account(), whole);
    out.reserve(whole);
  }
  out.resize(4 + count * kEntryBytes);
  std::memcpy(out.data(), &count, 4);
  const std::size_t start = out.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (!fields[i].is_null()) append_flat(out, shape_of(types[i]), fields[i]);
    const std::uint32_t entry[2] = {
        raw(is_domain(types[i]) ? base_of_domain(types[i]).type : types[i]),
        static_cast<std::uint32_t>(out.size() - start) | (fields[i].is_null() ? kNullBit : 0U)};
    std::memcpy(out.data() + 4 + i * kEntryBytes, entry, sizeof entry);
  }
  for (const std::string& name : names) {
    const auto size = static_cast<std::uint32_t>(name.size());
    out.append(reinterpret_cast<const char*>(&size), sizeof size);
    out += name;
  }
  return make_text(arena, out);
}

}  // namespace

RecordView::RecordView(const Value& record) : bytes_{record.as_bytes()} {
  if (bytes_.size() < 4) corrupt_record();
  count_ = load<std::uint32_t>(bytes_.data());
  if (count_ > (bytes_.size() - 4) / kEntryBytes) corrupt_record();
}

TypeId RecordView::ordered_type(std::size_t field) const {
  STATEMENT_INVARIANT(field < count_);
  const TypeId kept{load<std::uint32_t>(bytes_.data() + 4 + field * kEntryBytes)};
  return kept == TypeId::unknown ? TypeId::text : kept;
}

TypeId RecordView::told_type(std::size_t field) const {
  STATEMENT_INVARIANT(field < count_);
  return without_collation(TypeId{load<std::uint32_t>(bytes_.data() + 4 + field * kEntryBytes)});
}

TypeId RecordView::type(std::size_t field) const {
  return without_collation(ordered_type(field));
}

std::uint32_t RecordView::end_of(std::size_t field) const {
  return load<std::uint32_t>(bytes_.data() + 8 + field * kEntryBytes);
}

Value RecordView::field(std::size_t field) const {
  STATEMENT_INVARIANT(field < count_);
  const std::uint32_t end = end_of(field);
  if ((end & kNullBit) != 0) return Value::null();
  const std::uint32_t begin = field == 0 ? 0 : end_of(field - 1) & ~kNullBit;
  const Bytes fields = bytes_.subspan(4 + count_ * kEntryBytes);
  if (begin > end || end > fields.size()) corrupt_record();
  return read_flat(shape_of(type(field)), fields.subspan(begin, end - begin));
}

std::vector<std::string> RecordView::names() const {
  std::vector<std::string> names;
  const std::size_t fields_end = count_ == 0 ? 0 : end_of(count_ - 1) & ~kNullBit;
  Bytes rest = bytes_.subspan(4 + count_ * kEntryBytes);
  if (fields_end > rest.size()) corrupt_record();
  rest = rest.subspan(fields_end);
  const bool has_names = !rest.empty();
  for (std::size_t i = 0; i < count_; ++i) {
    if (!has_names) {
      names.push_back(fmt::format("f{}", i + 1));
      continue;
    }
    if (rest.size() < 4) corrupt_record();
    const std::uint32_t size = load<std::uint32_t>(rest.data());
    if (size > rest.size() - 4) corrupt_record();
    names.emplace_back(as_text(rest.subspan(4, size)));
    rest = rest.subspan(4 + size);
  }
  return names;
}

void refuse_row_without_columns(std::string_view function) {
  throw sql_error(sqlstate::feature_not_supported, "could not determine row type for result of {}",
                  function)
      .with_hint(
          "Provide a non-null record argument, or call the function in the FROM clause using a "
          "column definition list.");
}

Value make_record(Arena& arena, std::span<const TypeId> types, std::span<const Value> fields,
                  std::span<const std::string> names) {
  STATEMENT_INVARIANT(types.size() == fields.size());
  STATEMENT_INVARIANT(names.empty() || names.size() == fields.size());
  const std::size_t bytes = bytes_of(fields);
  count_bytes(bytes);
  return for_bytes(bytes, [&] { return record_of(arena, types, fields, names); });
}

}  // namespace swizzle::sql
