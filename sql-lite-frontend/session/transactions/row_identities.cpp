#include "sql-lite-frontend/session/transactions/row_identities.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include "base/checksum.h"
#include "base/runtime/long_work.h"
#include "sql-lite-frontend/query/bound/row_identity.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/row_codec.h"
#include "sql-lite-frontend/types/system/row_places.h"

namespace swizzle::sql {
namespace {

/// Numbers begin with the clock, so that those given before a restart are not given again.
std::uint64_t first_number() {
  constexpr std::uint64_t kPerSecond = std::uint64_t{1} << 18U;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(now).count()) *
         kPerSecond;
}

std::int64_t new_number() {
  static std::atomic<std::uint64_t> next{first_number()};
  const auto number = static_cast<std::int64_t>(next.fetch_add(1, std::memory_order_relaxed) %
                                                std::uint64_t{RowPlaces::kGivenNumbers});
  return RowPlaces::tid(RowPlaces::kFirstGivenBlock + number / RowPlaces::kRowsOfBlock,
                        number % RowPlaces::kRowsOfBlock + 1);
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

/// The columns of the key by which a table's rows are ordered.
std::vector<TypeId> key_types(const Table& table) {
  if (table.shows_row_ids()) return {TypeId::xid8};
  std::vector<TypeId> types;
  if (const Index* const index = table.row_order()) {
    for (const IndexColumn& column : index->columns) types.push_back(column.type);
  }
  return types;
}

/// A table whose rows have ctids.
struct KeyedTable {
  TablePtr table;
  std::vector<TypeId> types;

  /// True if a ctid is made of the key itself.
  [[nodiscard]] bool has_places() const {
    if (types.size() != 1) return false;
    const Shape shape = shape_of(types[0]);
    return shape == Shape::int16 || shape == Shape::int32 || shape == Shape::int64 ||
           shape == Shape::uint32 || shape == Shape::uint64;
  }
};

KeyedTable keyed_table(Execution& execution, const Value& oid) {
  KeyedTable keyed{session_of(execution).names.table(oid.as_oid()), {}};
  if (keyed.table) keyed.types = key_types(*keyed.table);
  if (keyed.types.empty()) {
    throw SqlError{sqlstate::feature_not_supported, "system column \"ctid\" is not supported"};
  }
  return keyed;
}

/// True if a column of that type can have the value.
bool is_value_of(TypeId type, std::int64_t key) {
  switch (shape_of(type)) {
    case Shape::int16:
      return std::in_range<std::int16_t>(key);
    case Shape::int32:
      return std::in_range<std::int32_t>(key);
    case Shape::uint32:
      return std::in_range<std::uint32_t>(key);
    case Shape::uint64:
      return key >= 0;
    default:
      return true;
  }
}

/// Appends the prefix of the key: another version of the table's definition has other rows.
void append_head(std::string& out, const Table& table) {
  append_word(out, table.relation.oid);
  append_word(out, table.version);
}

/// True if the row was written by that ctid in this transaction, so that it is shown under another.
/// A statement that is a transaction shows its own rows as later ones will.
bool is_given_up(Execution& execution, Oid table, std::int64_t place) {
  const Session::State& session = session_of(execution);
  if (!session.row_identities) return false;
  const auto run = session.transaction.in_explicit_block() ? RowIdentities::kNobody : execution.run;
  return session.row_identities->is_written({table, place}, run);
}

RowIdentities& row_identities_of(Execution& execution) {
  std::shared_ptr<RowIdentities>& identities = session_of(execution).row_identities;
  if (!identities) identities = std::make_shared<RowIdentities>(session_of(execution).memory);
  return *identities;
}

Value number_of_row(Execution& execution, Arguments arguments) {
  // A side of an outer join that has no row.
  const Arguments key = arguments.subspan(1);
  if (std::ranges::any_of(key, &Value::is_null)) return Value::null();
  const KeyedTable keyed = keyed_table(execution, arguments[0]);
  if (keyed.has_places()) {
    const auto place = RowPlaces::place_of(key[0].as_int8());
    if (place && !is_given_up(execution, arguments[0].as_oid(), *place)) {
      return Value::from_int(*place);
    }
  }
  std::string row;
  append_head(row, *keyed.table);
  for (std::size_t i = 0; i < keyed.types.size() && i < key.size(); ++i) {
    std::string flat;
    append_flat(flat, shape_of(keyed.types[i]), key[i]);
    append_word(row, static_cast<std::uint32_t>(flat.size()));
    row += flat;
  }
  return Value::from_int(row_identities_of(execution).identify(row));
}

/// The key of the row with a ctid that is made of its key.
Value key_of_place(Execution& execution, const KeyedTable& keyed, std::int64_t place) {
  const RowIdentities* const identities = session_of(execution).row_identities.get();
  const Oid table = keyed.table->relation.oid;
  if (identities != nullptr && identities->is_written({table, place}, execution.run)) {
    return Value::null();
  }
  const auto key = RowPlaces::key_of(place);
  return key && is_value_of(keyed.types[0], *key) ? Value::from_int(*key) : Value::null();
}

/// The column's value of the row with a number.
Value key_column_of(Execution& execution, const KeyedTable& keyed, std::int64_t number,
                    std::size_t wanted) {
  if (keyed.has_places() && !RowPlaces::is_given(number)) {
    return key_of_place(execution, keyed, number);
  }
  const std::optional<std::string_view> row =
      row_identities_of(execution).row_of(number, execution.run);
  if (!row) return Value::null();
  std::string head;
  append_head(head, *keyed.table);
  if (!row->starts_with(head)) return Value::null();
  std::string_view rest = row->substr(head.size());
  auto size = take_word<std::uint32_t>(rest);
  for (std::size_t i = 0; i < wanted; ++i) {
    rest.remove_prefix(size);
    size = take_word<std::uint32_t>(rest);
  }
  const std::string_view flat = rest.substr(0, size);
  const std::string_view kept = execution.row_arena.copy(flat);
  return read_flat(shape_of(keyed.types[wanted]), as_bytes(kept));
}

Value key_column(Execution& execution, Arguments arguments) {
  const KeyedTable keyed = keyed_table(execution, arguments[1]);
  return key_column_of(execution, keyed, arguments[0].as_int8(),
                       static_cast<std::size_t>(arguments[2].as_int4()));
}

Value written_key_column(Execution& execution, Arguments arguments) {
  const KeyedTable keyed = keyed_table(execution, arguments[1]);
  const std::int64_t number = arguments[0].as_int8();
  Value value =
      key_column_of(execution, keyed, number, static_cast<std::size_t>(arguments[2].as_int4()));
  if (value.is_null()) return value;
  RowIdentities& identities = row_identities_of(execution);
  if (keyed.has_places() && !RowPlaces::is_given(number)) {
    identities.use_up_place({arguments[1].as_oid(), number}, execution.run);
  } else {
    identities.use_up(number, execution.run);
  }
  return value;
}

Value keys_of_rows(Execution& execution, Arguments arguments) {
  const KeyedTable keyed = keyed_table(execution, arguments[1]);
  const ArrayView numbers{arguments[0]};
  std::vector<Value> keys;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    constexpr std::size_t kWorkOfNumber = 20;
    yield_point(kWorkOfNumber);
    const Value number = numbers.element(i);
    const Value key =
        number.is_null() ? number : key_column_of(execution, keyed, number.as_int8(), 0);
    if (!key.is_null() || number.is_null()) keys.push_back(key);
  }
  return make_array(execution.row_arena, keyed.types[0], keys);
}

/// False if the row is one that the statement has not: the first argument is the number of those
/// that follow of which one is not NULL if it is there.
bool is_there(Arguments arguments) {
  const auto count = static_cast<std::size_t>(arguments[0].as_int4());
  return count == 0 || !std::ranges::all_of(arguments.subspan(1, count), &Value::is_null);
}

}  // namespace

RowIdentities::RowIdentities(WorkMemory& memory)
    : identities_(CountedAllocator<Identity>{&memory}),
      place_writes_(CountedAllocator<std::uint64_t>{&memory}),
      written_(CountedAllocator<Written>{&memory}) {
  places_.count_in(&memory);
  written_places_.count_in(&memory);
  rows_.count_in(&memory);
}

namespace {

std::string bytes_of(const RowIdentities::Place& place) {
  std::string bytes;
  append_word(bytes, place.table);
  append_word(bytes, place.tid);
  return bytes;
}

}  // namespace

bool RowIdentities::is_written(const Place& place, std::uint64_t run) const {
  if (place_writes_.empty()) return false;
  const std::uint32_t at = written_places_.find(bytes_of(place));
  if (at == KeyTable::kAbsent) return false;
  const std::uint64_t written_in = place_writes_[at];
  return written_in != kNobody && written_in != run;
}

void RowIdentities::use_up_place(const Place& place, std::uint64_t run) {
  std::uint32_t& at = written_places_[bytes_of(place)];
  if (at == KeyTable::kAbsent) {
    place_writes_.push_back(kNobody);
    at = static_cast<std::uint32_t>(place_writes_.size() - 1);
  }
  if (place_writes_[at] == run) return;
  written_.push_back({at, true});
  place_writes_[at] = run;
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
  written_.push_back({static_cast<std::uint32_t>(place), false});
  identities_[place].written_in = run;
}

void RowIdentities::roll_back_to(std::size_t mark) noexcept {
  constexpr std::size_t kWorkOfRow = 10;
  while (written_.size() > mark) {
    unending_yield_point(kWorkOfRow);
    const Written& last = written_.back();
    (last.is_place ? place_writes_[last.at] : identities_[last.at].written_in) = kNobody;
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

/// xmin: the columns' own digests are added up, so that their order does not matter, and neither do
/// columns without a value.
Value stamp_of_row(Execution&, Arguments arguments) {
  if (!is_there(arguments)) return Value::null();
  std::uint64_t sum = 0;
  std::size_t i = 1 + static_cast<std::size_t>(arguments[0].as_int4());
  for (; i + 1 < arguments.size(); i += 2) {
    const Value& value = arguments[i + 1];
    const auto place = static_cast<std::uint64_t>(arguments[i].as_int8());
    switch (value.kind()) {
      case Value::Kind::null:
        continue;
      case Value::Kind::bytes:
        sum += checksum(value.as_bytes(), place);
        continue;
      case Value::Kind::scalar:
      case Value::Kind::extended: {
        const bool has_scale = value.kind() == Value::Kind::extended;
        const std::array<std::uint64_t, 2> words{
            static_cast<std::uint64_t>(has_scale ? value.decimal_unscaled() : value.as_int8()),
            has_scale ? value.decimal_scale() : 0};
        sum += checksum(std::as_bytes(std::span{words}), place);
        continue;
      }
    }
  }
  const std::uint64_t mixed = checksum(std::as_bytes(std::span{&sum, 1}), 0);
  // PostgreSQL's first three numbers mean rows without a transaction.
  constexpr std::uint64_t kFirst = 3;
  constexpr std::uint64_t kNumbers = (std::uint64_t{1} << 32U) - kFirst;
  return Value::from_oid(static_cast<std::uint32_t>(mixed % kNumbers + kFirst));
}

Value nothing_of_row(Execution&, Arguments arguments) {
  return is_there(arguments) ? Value::from_oid(0) : Value::null();
}

Value own_number(Execution& execution) {
  return Value::from_oid(static_cast<std::uint32_t>(session_of(execution).transaction.numbered()));
}

Value changer_of_row(Execution& execution, Arguments arguments) {
  return arguments[0].as_bool() ? own_number(execution) : Value::from_oid(0);
}

Value ender_of_row(Execution& execution, Arguments arguments) {
  return is_there(arguments) ? own_number(execution) : Value::null();
}

Value first_id_from(Execution&, Arguments arguments) {
  return Value::from_int(RowPlaces::first_key_from(arguments[0].as_int8()));
}

Value first_id_after(Execution&, Arguments arguments) {
  return Value::from_int(RowPlaces::first_key_after(arguments[0].as_int8()));
}

Function lenient(std::string_view shown, TypeId result, SessionCall call) {
  Function function = nameless(shown, call);
  function.result = result;
  function.strict = false;
  return function;
}

Function strict(std::string_view shown, TypeId result, SessionCall call) {
  Function function = nameless(shown, call);
  function.result = result;
  return function;
}

}  // namespace

const RowIdentityFunctions& row_identity_functions() {
  static const Function kNumber = lenient("ctid", TypeId::tid, number_of_row);
  static const Function kKey = nameless("key_of_ctid", key_column);
  static const Function kKeyToWrite = nameless("key_of_ctid", written_key_column);
  static const Function kKeys = nameless("keys_of_ctids", keys_of_rows);
  static const Function kFirstFrom = strict("first_row_id", TypeId::xid8, first_id_from);
  static const Function kFirstAfter = strict("first_row_id_after", TypeId::xid8, first_id_after);
  static const Function kStamp = lenient("xmin", TypeId::xid, stamp_of_row);
  static const Function kChanger = strict("xmax", TypeId::xid, changer_of_row);
  static const Function kNoChanger = lenient("xmax", TypeId::xid, nothing_of_row);
  static const Function kNoCommand = lenient("cmin", TypeId::cid, nothing_of_row);
  static const Function kNoLastCommand = lenient("cmax", TypeId::cid, nothing_of_row);
  static const Function kEnder = lenient("xmax", TypeId::xid, ender_of_row);
  static const RowIdentityFunctions kFunctions{kNumber,    kKey,        kKeyToWrite,    kKeys,
                                               kFirstFrom, kFirstAfter, kStamp,         kChanger,
                                               kNoChanger, kNoCommand,  kNoLastCommand, kEnder};
  return kFunctions;
}

}  // namespace swizzle::sql
