#include "sql-lite-frontend/types/system/pg_snapshot.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/functions/type_functions.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/type_codec.h"

/// pg_snapshot, and txid_snapshot as it was called before: which transactions had ended, by their
/// numbers ("10:20:10,14,15"): all before the first, none from the second on, and of those between
/// all but the ones that are listed.
namespace swizzle::sql {
namespace {

using Number = std::uint64_t;

/// As a value holds it: xmin, xmax and those between that had not ended, in order.
class Snapshot {
 public:
  explicit Snapshot(const Value& value) : bytes_(value.as_bytes()) {}
  [[nodiscard]] Number xmin() const { return at(0); }
  [[nodiscard]] Number xmax() const { return at(1); }
  [[nodiscard]] std::size_t running() const { return bytes_.size() / sizeof(Number) - 2; }
  [[nodiscard]] Number running(std::size_t index) const { return at(index + 2); }
  [[nodiscard]] bool is_running(Number number) const {
    std::size_t low = 0;
    std::size_t high = running();
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (running(middle) == number) return true;
      (running(middle) < number ? low : high) = running(middle) < number ? middle + 1 : middle;
    }
    return false;
  }

 private:
  [[nodiscard]] Number at(std::size_t index) const {
    return load<Number>(bytes_.data() + index * sizeof(Number));
  }
  Bytes bytes_;
};

/// True if `next` may come after `numbers`, which begin with the bounds xmin and xmax.
bool may_follow(const std::vector<Number>& numbers, Number next) {
  return next >= (numbers.size() > 2 ? numbers.back() : numbers[0]) && next < numbers[1];
}
/// In PostgreSQL a number's upper half counts how often the lower one has begun anew, and no
/// transaction has a lower half of 0.
bool is_number(Number number) {
  return (number & UINT32_MAX) != 0;
}
bool are_bounds(Number xmin, Number xmax) {
  return is_number(xmin) && is_number(xmax) && xmax >= xmin;
}
void add(std::vector<Number>& numbers, Number next) {
  if (numbers.size() == 2 || numbers.back() != next) numbers.push_back(next);
}
Value value_of(FunctionContext& context, const std::vector<Number>& numbers) {
  return make_snapshot(context.arena, numbers);
}

/// Takes a number off the front, and blanks before it, as strtoull() does: nothing is 0.
Number take_number(std::string_view& text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range) number = UINT64_MAX;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

Value snapshot_input(FunctionContext& context, TypeId, std::int32_t, std::string_view text) {
  const auto refuse = [&] { throw_invalid_syntax(builtin_id::pg_snapshot, text); };
  std::string_view rest = text;
  std::vector<Number> numbers;
  for (int bound = 0; bound < 2; ++bound) {
    numbers.push_back(take_number(rest));
    if (!rest.starts_with(':')) refuse();
    rest.remove_prefix(1);
  }
  if (!are_bounds(numbers[0], numbers[1])) refuse();
  while (!rest.empty()) {
    const Number next = take_number(rest);
    if (!may_follow(numbers, next)) refuse();
    add(numbers, next);
    if (rest.starts_with(','))
      rest.remove_prefix(1);
    else if (!rest.empty())
      refuse();
    yield_point(1);
  }
  return value_of(context, numbers);
}

void snapshot_output(FunctionContext&, TypeId, const Value& value, std::string& out) {
  const Snapshot snapshot{value};
  out += fmt::format("{}:{}:", snapshot.xmin(), snapshot.xmax());
  for (std::size_t i = 0; i < snapshot.running(); ++i)
    out += fmt::format("{}{}", i > 0 ? "," : "", snapshot.running(i));
}

Value snapshot_receive(FunctionContext& context, TypeId, std::int32_t, Bytes bytes) {
  const auto refuse = [] {
    throw SqlError{sqlstate::invalid_binary_representation, "invalid external pg_snapshot data"};
  };
  BinaryReader reader{bytes};
  const auto count = reader.take<std::int32_t>();
  if (count < 0) refuse();
  std::vector<Number> numbers{reader.take<Number>()};
  numbers.push_back(reader.take<Number>());
  if (!are_bounds(numbers[0], numbers[1])) refuse();
  for (std::int32_t i = 0; i < count; ++i) {
    const auto next = reader.take<Number>();
    if (!may_follow(numbers, next)) refuse();
    add(numbers, next);
  }
  reader.finish();
  return value_of(context, numbers);
}

void snapshot_send(FunctionContext&, TypeId, const Value& value, std::string& out) {
  const Snapshot snapshot{value};
  append_big_endian(out, static_cast<std::int32_t>(snapshot.running()));
  append_big_endian(out, snapshot.xmin());
  append_big_endian(out, snapshot.xmax());
  for (std::size_t i = 0; i < snapshot.running(); ++i) append_big_endian(out, snapshot.running(i));
}

constexpr TypeCodec kSnapshotCodec{snapshot_input, snapshot_output, snapshot_receive,
                                   snapshot_send};

using Arguments = std::span<const Value>;

Value as_number(Number number) {
  return Value::from_int(static_cast<std::int64_t>(number));
}
Value xmin(FunctionContext&, Arguments a) {
  return as_number(Snapshot{a[0]}.xmin());
}
Value xmax(FunctionContext&, Arguments a) {
  return as_number(Snapshot{a[0]}.xmax());
}
Value is_visible(FunctionContext&, Arguments a) {
  const auto number = static_cast<Number>(a[0].as_int8());
  const Snapshot snapshot{a[1]};
  const bool had_ended =
      number < snapshot.xmin() || (number < snapshot.xmax() && !snapshot.is_running(number));
  return Value::from_bool(had_ended);
}

class Running final : public SetCursor {
 public:
  explicit Running(const Value& value) : snapshot_(value) {}
  std::optional<Value> next(FunctionContext&) override {
    if (next_ == snapshot_.running()) return std::nullopt;
    return as_number(snapshot_.running(next_++));
  }

 private:
  Snapshot snapshot_;
  std::size_t next_ = 0;
};
std::unique_ptr<SetCursor> running(FunctionContext&, Arguments a) {
  return std::make_unique<Running>(a[0]);
}

constexpr ScalarEntry kScalars[] = {
    {"pg_snapshot_xmin(pg_snapshot)", &xmin},
    {"pg_snapshot_xmax(pg_snapshot)", &xmax},
    {"pg_visible_in_snapshot(xid8,pg_snapshot)", &is_visible},
};
constexpr SetEntry kSets[] = {{"pg_snapshot_xip(pg_snapshot)", &running}};
constexpr FunctionsOfType kFunctions{.scalars = kScalars, .sets = kSets};

constexpr ScalarEntry kOldScalars[] = {
    {"txid_snapshot_xmin(txid_snapshot)", &xmin},
    {"txid_snapshot_xmax(txid_snapshot)", &xmax},
    {"txid_visible_in_snapshot(int8,txid_snapshot)", &is_visible},
};
constexpr SetEntry kOldSets[] = {{"txid_snapshot_xip(txid_snapshot)", &running}};
constexpr FunctionsOfType kOldFunctions{.scalars = kOldScalars, .sets = kOldSets};

constexpr Type snapshot_type(TypeId id, TypeId array, std::string_view name,
                             const FunctionsOfType& functions) {
  return {.id = id,
          .array = array,
          .name = name,
          .sql_name = name,
          .alignment = 'd',
          .shape = Shape::bytes,
          .io = kSnapshotCodec,
          .functions = &functions};
}

}  // namespace

Value make_snapshot(Arena& arena, std::span<const Number> numbers) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(numbers.data());
  return Value::from_bytes(arena.copy(Bytes{bytes, numbers.size() * sizeof(Number)}));
}

constinit const Type builtin::pg_snapshot = snapshot_type(
    builtin_id::pg_snapshot, builtin_id::array_of_pg_snapshot, "pg_snapshot", kFunctions);
constinit const Type builtin::txid_snapshot = snapshot_type(
    builtin_id::txid_snapshot, builtin_id::array_of_txid_snapshot, "txid_snapshot", kOldFunctions);

}  // namespace swizzle::sql
