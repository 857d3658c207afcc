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

/// Each is written once, before there is a function of it.
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

const Order& used(std::size_t order, std::string_view purpose) {
  if (order >= kMostCollatedOrders) fail(order, purpose);
  return orders()[order];
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
  // Under a deterministic collation, strings that ICU considers equal are ordered by their bytes.
  if (order.deterministic) keys::put_text(key, text);
}

// Shared part of all orders. Functions of types have no state, so each order has one of each kind.
// Such a function only passes the order's number on, because there are thousands of them.
[[gnu::noinline]] int compare_by(std::size_t order, Text text, const Value& a, const Value& b) {
  return compare_texts(used(order, "string comparison"), text(a), text(b));
}
[[gnu::noinline]] std::uint64_t hash_by(std::size_t number, Text text, const Value& value,
                                        std::uint64_t seed) {
  const Order& order = used(number, "string hashing");
  if (order.deterministic) return hash_bytes(as_bytes(text(value)), seed);
  std::string key;
  order.collator.append_sort_key(key, text(value));
  return hash_bytes(as_bytes(key), seed);
}
[[gnu::noinline]] void put_by(std::size_t order, Text text, std::string& key, const Value& value) {
  put_text_key(used(order, "string comparison"), key, text(value));
}
/// Decodes a text from a key: with a deterministic order, the text follows its sort key; otherwise
/// there is only the sort key, which cannot be decoded.
[[gnu::noinline]] Value take_by(std::size_t number, Bytes& key, TypeId type, Arena& arena) {
  const Order& order = used(number, "string comparison");
  const Value sort_key = keys::take_text(key, type, arena);
  if (order.deterministic) return keys::take_text(key, type, arena);
  std::string digits;
  for (const std::byte part : sort_key.as_bytes())
    digits += fmt::format("{:02x}", std::to_integer<unsigned>(part));
  return make_text(arena, digits);
}

enum class Comparison : std::uint8_t { equal, not_equal, less, less_equal, greater, greater_equal };

[[gnu::noinline]] Value test_by(std::size_t order, Text text, Comparison test,
                                std::span<const Value> a) {
  using enum Comparison;
  // Under a deterministic collation, equality is bytewise, so ICU is not needed.
  if ((test == equal || test == not_equal) && used(order, "string comparison").deterministic)
    return Value::from_bool((text(a[0]) == text(a[1])) == (test == equal));
  const int by = compare_by(order, text, a[0], a[1]);
  switch (test) {
    case equal:
      return Value::from_bool(by == 0);
    case not_equal:
      return Value::from_bool(by != 0);
    case less:
      return Value::from_bool(by < 0);
    case less_equal:
      return Value::from_bool(by <= 0);
    case greater:
      return Value::from_bool(by > 0);
    case greater_equal:
      return Value::from_bool(by >= 0);
  }
  return {};
}

// jsonb: its strings and names as texts are.
[[gnu::noinline]] int compare_strings_by(std::size_t order, std::string_view a,
                                         std::string_view b) {
  return compare_texts(used(order, "string comparison"), a, b);
}
[[gnu::noinline]] void put_string_by(std::size_t order, std::string& key, std::string_view text) {
  put_text_key(used(order, "string comparison"), key, text);
}
[[gnu::noinline]] int compare_documents_by(CompareStrings compare, const Value& a, const Value& b) {
  return compare_jsonb(json_text(a), json_text(b), compare);
}
[[gnu::noinline]] void put_document_by(PutString put, std::string& key, const Value& value) {
  append_jsonb_key(key, json_text(value), put);
}
std::uint64_t hash_document(const Value& value, std::uint64_t seed) {
  // Strings that differ are never equal.
  return builtin::jsonb.order.hash(value, seed);
}
Value take_document(Bytes& key, TypeId, Arena& arena) {
  return take_jsonb_key(key, arena, JsonbKeyStrings::behind_sort_keys);
}

// citext: in small letters.
std::string folded(const Order& order, const Value& value) {
  return icu_change_case(order.locale, LetterCase::lower, value.as_text());
}
[[gnu::noinline]] int compare_folded_by(std::size_t number, const Value& a, const Value& b) {
  const Order& order = used(number, "string comparison");
  if (a.as_text() == b.as_text()) return 0;
  return compare_texts(order, folded(order, a), folded(order, b));
}
[[gnu::noinline]] std::uint64_t hash_folded_by(std::size_t order, const Value& value,
                                               std::uint64_t seed) {
  const std::string text = folded(used(order, "string hashing"), value);
  return hash_bytes(as_bytes(text), seed);
}
[[gnu::noinline]] void put_folded_by(std::size_t number, std::string& key, const Value& value) {
  const Order& order = used(number, "string comparison");
  put_text_key(order, key, folded(order, value));
}

/// The functions of one order.
template <std::size_t N>
struct Of {
  template <Text text>
  static constexpr TypeOrder texts() {
    return {.compare = [](const Value& a, const Value& b) { return compare_by(N, text, a, b); },
            .hash = [](const Value& value,
                       std::uint64_t seed) { return hash_by(N, text, value, seed); },
            .put_key = [](std::string& key, const Value& value) { put_by(N, text, key, value); },
            .take_key = &take};
  }
  static constexpr TypeOrder documents() {
    return {.compare = [](const Value& a,
                          const Value& b) { return compare_documents_by(&compare_strings, a, b); },
            .hash = &hash_document,
            .put_key = [](std::string& key,
                          const Value& value) { put_document_by(&put_string, key, value); },
            .take_key = &take_document};
  }
  static constexpr TypeOrder folded_texts() {
    return {.compare = [](const Value& a, const Value& b) { return compare_folded_by(N, a, b); },
            .hash = [](const Value& value,
                       std::uint64_t seed) { return hash_folded_by(N, value, seed); },
            .put_key = [](std::string& key, const Value& value) { put_folded_by(N, key, value); },
            .take_key = &take};
  }
  template <Text text>
  static constexpr std::array<ScalarFunction, kComparisons> comparisons() {
    using enum Comparison;
    return {&test<text, equal>,      &test<text, not_equal>, &test<text, less>,
            &test<text, less_equal>, &test<text, greater>,   &test<text, greater_equal>};
  }

 private:
  static Value take(Bytes& key, TypeId type, Arena& arena) { return take_by(N, key, type, arena); }
  static int compare_strings(std::string_view a, std::string_view b) {
    return compare_strings_by(N, a, b);
  }
  static void put_string(std::string& key, std::string_view text) { put_string_by(N, key, text); }
  template <Text text, Comparison comparison>
  static Value test(FunctionContext&, std::span<const Value> a) {
    return test_by(N, text, comparison, a);
  }
};

/// Order of arrays of elements with that order.
template <TypeOrder (*elements)()>
constexpr TypeOrder arrays() {
  return {.compare = [](const Value& a,
                        const Value& b) { return compare_array_by(elements().compare, a, b); },
          .hash = [](const Value& value,
                     std::uint64_t seed) { return hash_array_by(elements().hash, value, seed); },
          .put_key = [](std::string& key,
                        const Value& value) { put_array_key_by(elements().put_key, key, value); },
          .take_key = &take_array_key};
}

struct Functions {
  std::array<TypeOrder, kCollatedForms> orders;  ///< by CollatedForm
  std::array<ScalarFunction, kComparisons> texts;
  std::array<ScalarFunction, kComparisons> padded;
};

template <std::size_t N>
constexpr Functions functions() {
  return {{Of<N>::template texts<&plain>(), Of<N>::template texts<&unpadded>(),
           arrays<&Of<N>::template texts<&plain>>(), arrays<&Of<N>::template texts<&unpadded>>(),
           Of<N>::documents(), arrays<&Of<N>::documents>(), Of<N>::folded_texts(),
           arrays<&Of<N>::folded_texts>()},
          Of<N>::template comparisons<&plain>(),
          Of<N>::template comparisons<&unpadded>()};
}

template <std::size_t... N>
constexpr std::array<Functions, sizeof...(N)> all_functions(std::index_sequence<N...>) {
  return {functions<N>()...};
}

/// Includes the two pseudo-orders whose functions throw.
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
