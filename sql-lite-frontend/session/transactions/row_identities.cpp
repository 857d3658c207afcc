#include "sql-lite-frontend/session/transactions/row_identities.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/query/bound/row_identity.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/types/row_codec.h"

namespace swizzle::sql {
namespace {

/// As text a number is (block,offset), of 32 and 14 bits; offsets begin at 1, as in PostgreSQL,
/// whose programs take 0 for none.
constexpr std::uint64_t kOffsets = std::uint64_t{1} << 14U;
constexpr std::uint64_t kNumbers = kOffsets << 32U;

/// Numbers begin with the clock, so that those given before a restart are not given again.
std::uint64_t first_number() {
  constexpr std::uint64_t kPerSecond = std::uint64_t{1} << 18U;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(now).count()) *
         kPerSecond;
}

std::int64_t new_number() {
  static std::atomic<std::uint64_t> next{first_number()};
  const std::uint64_t number = next.fetch_add(1, std::memory_order_relaxed) % kNumbers;
  return static_cast<std::int64_t>((number / kOffsets) << 16U | (number % kOffsets + 1));
}

using Arguments = std::span<const Value>;

template <class T>
void append_word(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}
template <class T>
T take_word(std::string_view& in) {
  T value{};
  std::memcpy(&value, in.data(), sizeof value);
  in.remove_prefix(sizeof value);
  return value;
}

TablePtr keyed_table(Execution& execution, const Value& oid) {
  TablePtr table = session_of(execution).names.table(oid.as_oid());
  if (!table || table->has_row_ids()) {
    throw SqlError{sqlstate::feature_not_supported, "system column \"ctid\" is not supported"};
  }
  return table;
}

/// Appends the prefix of the key: another version of the table's definition has other rows.
void append_head(std::string& out, const Table& table) {
  append_word(out, table.relation.oid);
  append_word(out, table.version);
}

RowIdentities& row_identities_of(Execution& execution) {
  std::shared_ptr<RowIdentities>& identities = session_of(execution).row_identities;
  if (!identities) identities = std::make_shared<RowIdentities>(session_of(execution).memory);
  return *identities;
}

Value number_of_row(Execution& execution, Arguments arguments) {
  const TablePtr table = keyed_table(execution, arguments[0]);
  std::string row;
  append_head(row, *table);
  for (std::size_t i = 0; i < table->key_positions.size() && i + 1 < arguments.size(); ++i) {
    const Value& value = arguments[i + 1];
    // A side of an outer join that has no row.
    if (value.is_null()) return Value::null();
    std::string flat;
    append_flat(flat, shape_of(table->column_types[table->key_positions[i]]), value);
    append_word(row, static_cast<std::uint32_t>(flat.size()));
    row += flat;
  }
  return Value::from_int(row_identities_of(execution).identify(row));
}

/// The column's value of the row with a number.
Value key_column(Execution& execution, Arguments arguments) {
  const std::optional<std::string_view> row =
      row_identities_of(execution).row_of(arguments[0].as_int8(), execution.run);
  if (!row) return Value::null();
  const TablePtr table = keyed_table(execution, arguments[1]);
  std::string head;
  append_head(head, *table);
  if (!row->starts_with(head)) return Value::null();
  const auto wanted = static_cast<std::size_t>(arguments[2].as_int4());
  std::string_view rest = row->substr(head.size());
  auto size = take_word<std::uint32_t>(rest);
  for (std::size_t i = 0; i < wanted; ++i) {
    rest.remove_prefix(size);
    size = take_word<std::uint32_t>(rest);
  }
  const std::string_view flat = rest.substr(0, size);
  const std::string_view kept = execution.row_arena.copy(flat);
  return read_flat(shape_of(table->column_types[table->key_positions[wanted]]), as_bytes(kept));
}

Value written_key_column(Execution& execution, Arguments arguments) {
  Value value = key_column(execution, arguments);
  if (!value.is_null()) {
    row_identities_of(execution).use_up(arguments[0].as_int8(), execution.run);
  }
  return value;
}

}  // namespace

RowIdentities::RowIdentities(WorkMemory& memory)
    : identities_(CountedAllocator<Identity>{&memory}),
      written_(CountedAllocator<std::uint32_t>{&memory}) {
  places_.count_in(&memory);
  rows_.count_in(&memory);
}

std::int64_t RowIdentities::identify(std::string_view row) {
  std::uint32_t& place = places_[row];
  if (place != KeyTable::kAbsent && identities_[place].written_in == kNobody) {
    return identities_[place].number;
  }
  identities_.push_back({new_number(), rows_.copy(row), kNobody});
  place = static_cast<std::uint32_t>(identities_.size() - 1);
  return identities_.back().number;
}

std::size_t RowIdentities::place_of(std::int64_t identity) const {
  const auto found = std::ranges::lower_bound(identities_, identity, {}, &Identity::number);
  if (found == identities_.end() || found->number != identity) {
    throw sql_error(sqlstate::feature_not_supported,
                    "a ctid that this transaction has not read is not supported")
        .with_detail(
            fmt::format("Nothing was read under ({},{}).", identity >> 16, identity & 0xffff));
  }
  return static_cast<std::size_t>(found - identities_.begin());
}

std::optional<std::string_view> RowIdentities::row_of(std::int64_t identity,
                                                      std::uint64_t run) const {
  const Identity& found = identities_[place_of(identity)];
  if (found.written_in != kNobody && found.written_in != run) return std::nullopt;
  return found.row;
}

void RowIdentities::use_up(std::int64_t identity, std::uint64_t run) {
  const std::size_t place = place_of(identity);
  if (identities_[place].written_in == run) return;
  written_.push_back(static_cast<std::uint32_t>(place));
  identities_[place].written_in = run;
}

void RowIdentities::roll_back_to(std::size_t mark) noexcept {
  constexpr std::size_t kWorkOfRow = 10;
  while (written_.size() > mark) {
    unending_yield_point(kWorkOfRow);
    identities_[written_.back()].written_in = kNobody;
    written_.pop_back();
  }
}

namespace {

Function nameless(std::string_view shown, SessionCall call) {
  Function function;
  function.name = shown;
  function.volatility = Volatility::stable;
  function.session = call;
  return function;
}

const Function& number_function() {
  static const Function kFunction = [] {
    Function function = nameless("ctid", number_of_row);
    function.result = TypeId::tid;
    function.strict = false;
    return function;
  }();
  return kFunction;
}

const Function& key_function() {
  static const Function kFunction = nameless("key_of_ctid", key_column);
  return kFunction;
}

const Function& key_to_write_function() {
  static const Function kFunction = nameless("key_of_ctid", written_key_column);
  return kFunction;
}

const Function& changer_function() {
  static const Function kFunction = [] {
    Function function = nameless("xmax", [](Execution& execution, Arguments arguments) {
      const std::int64_t number =
          arguments[0].as_bool() ? session_of(execution).transaction.numbered() : 0;
      return Value::from_oid(static_cast<std::uint32_t>(number));
    });
    function.result = TypeId::xid;
    return function;
  }();
  return kFunction;
}

}  // namespace

const RowIdentityFunctions& row_identity_functions() {
  static const RowIdentityFunctions kFunctions{number_function(), key_function(),
                                               key_to_write_function(), changer_function()};
  return kFunctions;
}

}  // namespace swizzle::sql
