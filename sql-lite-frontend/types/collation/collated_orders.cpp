#include "sql-lite-frontend/types/collation/collated_orders.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/array/array_order.h"
#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/collation/collated.h"
#include "sql-lite-frontend/types/collation/icu.h"
#include "sql-lite-frontend/types/hash.h"
#include "sql-lite-frontend/types/json/json_key.h"
#include "sql-lite-frontend/types/json/json_order.h"
#include "sql-lite-frontend/types/json/jsonb.h"
#include "sql-lite-frontend/types/orders.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

struct Order {
  IcuCollator collator;
  std::string locale;
  bool deterministic = true;
};

/// Each is written once, before anybody has a function of it.
std::array<Order, kMostCollatedOrders>& orders() {
  static std::array<Order, kMostCollatedOrders> all;
  return all;
}

[[noreturn]] void fail(std::size_t order, std::string_view purpose) {
  if (order == kIndeterminateOrder) fail_indeterminate(purpose);
  throw sql_error(sqlstate::program_limit_exceeded, "too many collations that order differently")
      .with_hint(
          fmt::format("A server knows {} at most until it is started again.", kMostCollatedOrders));
}

template <std::size_t N>
const Order& used(std::string_view purpose) {
  if constexpr (N >= kMostCollatedOrders) fail(N, purpose);
  return orders()[N];
}

std::string_view plain(const Value& value) {
  return value.as_text();
}
/// Blanks at the end do not count.
std::string_view unpadded(const Value& value) {
  const std::string_view text = value.as_text();
  return text.substr(0, text.find_last_not_of(' ') + 1);
}
using Text = std::string_view (*)(const Value&);

int compare_texts(const Order& order, std::string_view a, std::string_view b) {
  if (a == b) return 0;
  const int by = order.collator.compare(a, b);
  return by != 0 || !order.deterministic ? by : compare(as_bytes(a), as_bytes(b));
}
void put_text_key(const Order& order, std::string& key, std::string_view text) {
  order.collator.append_sort_key(key, text);
  // Strings that compare equal are told apart by their bytes.
  if (order.deterministic) keys::put_text(key, text);
}

template <std::size_t N, Text text>
int compare_collated(const Value& a, const Value& b) {
  return compare_texts(used<N>("string comparison"), text(a), text(b));
}
template <std::size_t N, Text text>
std::uint64_t hash_collated(const Value& value, std::uint64_t seed) {
  const Order& order = used<N>("string hashing");
  if (order.deterministic) return hash_bytes(as_bytes(text(value)), seed);
  std::string key;
  order.collator.append_sort_key(key, text(value));
  return hash_bytes(as_bytes(key), seed);
}
template <std::size_t N, Text text>
void put_collated(std::string& key, const Value& value) {
  put_text_key(used<N>("string comparison"), key, text(value));
}

/// Of a deterministic order the text stands behind its sort key; else there is nothing but the key,
/// whose digits stand for what nobody knows any more.
template <std::size_t N>
Value take_collated(Bytes& key, TypeId type, Arena& arena) {
  const Order& order = used<N>("string comparison");
  const Value sort_key = keys::take_text(key, type, arena);
  if (order.deterministic) return keys::take_text(key, type, arena);
  std::string digits;
  for (const std::byte part : sort_key.as_bytes())
    digits += fmt::format("{:02x}", std::to_integer<unsigned>(part));
  return make_text(arena, digits);
}

template <std::size_t N, Text text>
int compare_arrays_collated(const Value& a, const Value& b) {
  return compare_array_by(&compare_collated<N, text>, a, b);
}
template <std::size_t N, Text text>
std::uint64_t hash_arrays_collated(const Value& value, std::uint64_t seed) {
  return hash_array_by(&hash_collated<N, text>, value, seed);
}
template <std::size_t N, Text text>
void put_arrays_collated(std::string& key, const Value& value) {
  put_array_key_by(&put_collated<N, text>, key, value);
}

// jsonb: its strings and names as texts are.
template <std::size_t N>
int compare_strings(std::string_view a, std::string_view b) {
  return compare_texts(used<N>("string comparison"), a, b);
}
template <std::size_t N>
void put_string(std::string& key, std::string_view text) {
  put_text_key(used<N>("string comparison"), key, text);
}
template <std::size_t N>
int compare_documents(const Value& a, const Value& b) {
  return compare_jsonb(json_text(a), json_text(b), &compare_strings<N>);
}
template <std::size_t N>
void put_document(std::string& key, const Value& value) {
  append_jsonb_key(key, json_text(value), &put_string<N>);
}
Value take_document(Bytes& key, TypeId, Arena& arena) {
  return take_jsonb_key(key, arena, JsonbKeyStrings::behind_sort_keys);
}

// citext: in small letters.
std::string folded(const Order& order, const Value& value) {
  return icu_change_case(order.locale, LetterCase::lower, value.as_text());
}
template <std::size_t N>
int compare_folded(const Value& a, const Value& b) {
  const Order& order = used<N>("string comparison");
  if (a.as_text() == b.as_text()) return 0;
  return compare_texts(order, folded(order, a), folded(order, b));
}
template <std::size_t N>
std::uint64_t hash_folded(const Value& value, std::uint64_t seed) {
  const std::string text = folded(used<N>("string hashing"), value);
  return hash_bytes(as_bytes(text), seed);
}
template <std::size_t N>
void put_folded(std::string& key, const Value& value) {
  const Order& order = used<N>("string comparison");
  put_text_key(order, key, folded(order, value));
}

/// Of the elements' order.
template <CompareFunction compare, HashFunction hash, void (*put)(std::string&, const Value&)>
constexpr TypeOrder order_of_arrays() {
  return {
      .compare = [](const Value& a, const Value& b) { return compare_array_by(compare, a, b); },
      .hash = [](const Value& value,
                 std::uint64_t seed) { return hash_array_by(hash, value, seed); },
      .put_key = [](std::string& key, const Value& value) { put_array_key_by(put, key, value); },
      .take_key = &take_array_key};
}
std::uint64_t hash_document(const Value& value, std::uint64_t seed) {
  // Strings that differ are never equal.
  return builtin::jsonb.order.hash(value, seed);
}

template <std::size_t N, Text text>
constexpr TypeOrder text_order() {
  return {.compare = &compare_collated<N, text>,
          .hash = &hash_collated<N, text>,
          .put_key = &put_collated<N, text>,
          .take_key = &take_collated<N>};
}
template <std::size_t N, Text text>
constexpr TypeOrder array_order() {
  return {.compare = &compare_arrays_collated<N, text>,
          .hash = &hash_arrays_collated<N, text>,
          .put_key = &put_arrays_collated<N, text>,
          .take_key = &take_array_key};
}

template <std::size_t N, Text text, class Test>
Value test_collated(FunctionContext&, std::span<const Value> a) {
  constexpr bool kEqual = std::is_same_v<Test, std::equal_to<>>;
  if constexpr (kEqual || std::is_same_v<Test, std::not_equal_to<>>) {
    // Where strings that differ are never equal, nothing has to be asked of ICU.
    if (used<N>("string comparison").deterministic)
      return Value::from_bool((text(a[0]) == text(a[1])) == kEqual);
  }
  return Value::from_bool(Test{}(compare_collated<N, text>(a[0], a[1]), 0));
}
template <std::size_t N, Text text>
constexpr std::array<ScalarFunction, kComparisons> comparisons() {
  return {&test_collated<N, text, std::equal_to<>>, &test_collated<N, text, std::not_equal_to<>>,
          &test_collated<N, text, std::less<>>,     &test_collated<N, text, std::less_equal<>>,
          &test_collated<N, text, std::greater<>>,  &test_collated<N, text, std::greater_equal<>>};
}

struct Functions {
  std::array<TypeOrder, kCollatedForms> orders;  ///< by CollatedForm
  std::array<ScalarFunction, kComparisons> texts;
  std::array<ScalarFunction, kComparisons> padded;
};

template <std::size_t N>
constexpr Functions functions() {
  return {{text_order<N, &plain>(),
           text_order<N, &unpadded>(),
           array_order<N, &plain>(),
           array_order<N, &unpadded>(),
           {.compare = &compare_documents<N>,
            .hash = &hash_document,
            .put_key = &put_document<N>,
            .take_key = &take_document},
           order_of_arrays<&compare_documents<N>, &hash_document, &put_document<N>>(),
           {.compare = &compare_folded<N>,
            .hash = &hash_folded<N>,
            .put_key = &put_folded<N>,
            .take_key = &take_collated<N>},
           order_of_arrays<&compare_folded<N>, &hash_folded<N>, &put_folded<N>>()},
          comparisons<N, &plain>(),
          comparisons<N, &unpadded>()};
}

template <std::size_t... N>
constexpr std::array<Functions, sizeof...(N)> all_functions(std::index_sequence<N...>) {
  return {functions<N>()...};
}

/// With those that fail behind them.
constexpr auto kFunctions = all_functions(std::make_index_sequence<kMostCollatedOrders + 2>{});

}  // namespace

std::size_t open_collated_order(std::size_t place, const std::string& locale, bool deterministic) {
  if (place >= kMostCollatedOrders || !orders()[place].collator.open(locale))
    return kNoCollatedOrder;
  orders()[place].deterministic = deterministic;
  orders()[place].locale = locale;
  return place;
}

TypeOrder collated_order(std::size_t order, CollatedForm form) {
  return kFunctions[order].orders[static_cast<std::size_t>(form)];
}

ScalarFunction collated_comparison(std::size_t order, CollatedForm form, std::string_view name) {
  constexpr std::array<std::string_view, kComparisons> kNames{"=", "<>", "<", "<=", ">", ">="};
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return nullptr;
  const auto& list =
      form == CollatedForm::padded ? kFunctions[order].padded : kFunctions[order].texts;
  return list[static_cast<std::size_t>(found - kNames.begin())];
}

std::size_t order_of_compare(CompareFunction compare, CollatedForm form) {
  for (std::size_t i = 0; i < kFunctions.size(); ++i) {
    if (kFunctions[i].orders[static_cast<std::size_t>(form)].compare == compare) return i;
  }
  return kNoCollatedOrder;
}

}  // namespace swizzle::sql
