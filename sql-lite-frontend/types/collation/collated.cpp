#include "sql-lite-frontend/types/collation/collated.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/collation/collated_orders.h"
#include "sql-lite-frontend/types/collation/icu.h"
#include "sql-lite-frontend/types/extension/extension_types.h"
#include "sql-lite-frontend/types/number_map.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr std::string_view kLocales[] = {
#include "sql-lite-frontend/types/collation/locales.inc"
};

constexpr const auto& kKinds = kCollatedKinds;
static_assert(kKinds[10] == kCitextType && kKinds[11] == user_array_of(kCitextType));
/// For each kind: the form in which it is ordered, and the kind of its array or element type.
struct CollatedType {
  CollatedForm form;
  bool is_array;
  std::size_t other;
};
constexpr std::array<CollatedType, kKinds.size()> kForms{{{CollatedForm::text, false, 4},
                                                          {CollatedForm::text, false, 5},
                                                          {CollatedForm::padded, false, 6},
                                                          {CollatedForm::text, false, 7},
                                                          {CollatedForm::array, true, 0},
                                                          {CollatedForm::array, true, 1},
                                                          {CollatedForm::padded_array, true, 2},
                                                          {CollatedForm::array, true, 3},
                                                          {CollatedForm::document, false, 9},
                                                          {CollatedForm::document_array, true, 8},
                                                          {CollatedForm::folded, false, 11},
                                                          {CollatedForm::folded_array, true, 10}}};
/// Kinds from here on use the collation of their database.
constexpr std::size_t kFirstFollowing = 8;

constexpr std::size_t kind_of(TypeId collated) noexcept {
  return (raw(collated) - kFirstCollated) / kCollations;
}
constexpr TypeId numbered(std::size_t kind, std::uint32_t collation) noexcept {
  return TypeId{kFirstCollated + static_cast<std::uint32_t>(kind) * kCollations + collation};
}

/// A collation, and its types, made at first use.
struct Known {
  CollationRule rule;
  std::array<Type, kKinds.size()> types;
  std::atomic<bool> has_types = false;
};

/// The process's table of collations. Entries are never removed.
struct Collations {
  std::mutex mutex;
  std::deque<Known> known;
  NumberMap by_number;
  /// Rules that order alike share their functions: (rules, deterministic) → which.
  std::unordered_map<std::string, std::size_t> orders;
};

Collations& collations() {
  static Collations all;
  return all;
}

bool is_byte_number(std::uint32_t number) noexcept {
  return number == collation_id::by_default || number == collation_id::c ||
         number == collation_id::posix || number == collation_id::ucs_basic ||
         number == collation_id::c_utf8 || number == collation_id::unicode_fast;
}

/// Sets the rule of a built-in number.
bool builtin_rule(std::uint32_t number, CollationRule& rule) {
  if (number == collation_id::c_utf8) rule.letters = Letters::c_utf8;
  if (number == collation_id::unicode_fast) rule.letters = Letters::unicode;
  if (is_byte_number(number) || number == collation_id::indeterminate) return true;
  const std::uint32_t place = number - collation_id::first_locale;
  if (place >= std::size(kLocales)) return false;
  rule.locale = kLocales[place];
  return true;
}

Known* find_known(std::uint32_t number) noexcept {
  // Entries are never moved, so their addresses remain valid.
  return reinterpret_cast<Known*>(collations().by_number.find(number));
}

/// Pre: the mutex is held, and the oid is not registered.
Known& add(Collations& all, std::uint32_t number, CollationRule rule) {
  Known& known = all.known.emplace_back();
  known.rule = std::move(rule);
  all.by_number.put(number, reinterpret_cast<std::uint64_t>(&known));
  return known;
}

Known* known_or_builtin(std::uint32_t number) {
  if (Known* known = find_known(number)) return known;
  CollationRule rule;
  if (!builtin_rule(number, rule)) return nullptr;
  Collations& all = collations();
  const std::scoped_lock lock{all.mutex};
  Known* known = find_known(number);
  return known != nullptr ? known : &add(all, number, std::move(rule));
}

/// Pre: the mutex is held.
std::size_t order_of(Collations& all, const CollationRule& rule) {
  const std::string name = icu_rules_of(rule.locale) + (rule.deterministic ? "" : " equal");
  const auto known = all.orders.find(name);
  if (known != all.orders.end()) return known->second;
  const std::size_t place = open_collated_order(all.orders.size(), rule.locale, rule.deterministic);
  if (place != kNoCollatedOrder) all.orders.emplace(name, place);
  return place;
}

void make_types(Known& known, std::uint32_t number) {
  Collations& all = collations();
  const std::scoped_lock lock{all.mutex};
  if (known.has_types.load(std::memory_order_relaxed)) return;
  const bool is_plain = known.rule.is_of_bytes() && number != collation_id::indeterminate;
  const std::size_t order = number == collation_id::indeterminate ? kIndeterminateOrder
                            : is_plain                            ? 0
                                                                  : order_of(all, known.rule);
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    Type& type = known.types[i];
    type = type_info(kKinds[i]);
    if (i < kFirstFollowing) type.collation = number;
    const bool is_ordered_otherwise =
        i < kFirstFollowing || known.rule.of_all || number == collation_id::indeterminate;
    if (!is_plain && is_ordered_otherwise) type.order = collated_order(order, kForms[i].form);
  }
  // release: publishes the types with the flag.
  known.has_types.store(true, std::memory_order_release);
}

}  // namespace

TypeId with_collation(TypeId type, std::uint32_t collation) noexcept {
  type = without_collation(type);
  const bool is_of_columns =
      collation < collation_id::first_of_database && collation != collation_id::indeterminate;
  const std::size_t kinds = is_of_columns ? kFirstFollowing : kKinds.size();
  for (std::size_t i = 0; i < kinds; ++i) {
    if (kKinds[i] == type) return numbered(i, collation);
  }
  return type;
}

bool follows_database(TypeId type) noexcept {
  type = base_type(type);
  return std::find(kKinds.begin() + kFirstFollowing, kKinds.end(), type) != kKinds.end();
}

TypeId in_database(TypeId type, std::uint32_t database_collation) noexcept {
  if (is_domain(type) || !follows_database(type)) return type;
  const CollationRule* const rule = find_collation_rule(database_collation);
  const bool is_ordered_otherwise = rule != nullptr && rule->of_all;
  return is_ordered_otherwise ? with_collation(type, database_collation) : without_collation(type);
}

bool is_collatable(TypeId type) noexcept {
  return !follows_database(type) && is_collated(with_collation(type, collation_id::c));
}

std::uint32_t default_collation(TypeId type) noexcept {
  if (is_domain(type)) type = base_of_domain(type).type;
  if (is_collated(type) && follows_database(type)) type = without_collation(type);
  if (is_collated(type)) return shown_number(collation_of_type(type));
  if (const TypeId element = element_type(type); element != TypeId::none && is_array(type))
    return default_collation(element);
  const Type* known = find_type(type);
  return known == nullptr ? 0 : known->collation;
}

TypeId collated_element(TypeId type) noexcept {
  const CollatedType& kind = kForms[kind_of(type)];
  return kind.is_array ? numbered(kind.other, collation_of_type(type)) : TypeId::none;
}
TypeId collated_array(TypeId type) noexcept {
  const CollatedType& kind = kForms[kind_of(type)];
  return kind.is_array ? TypeId::none : numbered(kind.other, collation_of_type(type));
}

const Type& collated_type(TypeId type) noexcept {
  const std::uint32_t number = collation_of_type(type);
  Known* known = known_or_builtin(number);
  if (known == nullptr) return type_info(without_collation(type));
  // acquire: pairs with the release in make_types().
  if (!known->has_types.load(std::memory_order_acquire)) make_types(*known, number);
  return known->types[kind_of(type)];
}

bool same_keys(TypeId left, TypeId right) noexcept {
  if (!is_collated(left) && !is_collated(right) && !is_domain(left) && !is_domain(right))
    return true;
  const Type& one = value_type(left);
  const Type& other = value_type(right);
  return one.order.put_key == other.order.put_key;
}

void note_collation(std::uint32_t number, CollationRule rule) {
  Collations& all = collations();
  const std::scoped_lock lock{all.mutex};
  const Known* known = find_known(number);
  // Another engine in the same process, as in tests, may use the oid for another collation.
  if (known == nullptr || known->rule != rule) add(all, number, std::move(rule));
}

const CollationRule* find_collation_rule(std::uint32_t number) noexcept {
  const Known* known = known_or_builtin(number);
  return known == nullptr ? nullptr : &known->rule;
}

bool orders_by_bytes(std::uint32_t collation) noexcept {
  if (is_byte_number(collation)) return true;
  if (collation == collation_id::indeterminate) return false;
  const CollationRule* rule = find_collation_rule(collation);
  return rule == nullptr || rule->is_of_bytes();
}

bool is_plain_collation(std::uint32_t collation) noexcept {
  return orders_by_bytes(collation) && letters_of(collation) == Letters::ascii;
}

Letters letters_of(std::uint32_t collation) noexcept {
  const CollationRule* rule = find_collation_rule(collation);
  if (rule == nullptr || collation == collation_id::indeterminate) return Letters::ascii;
  return rule->is_of_bytes() ? rule->letters : Letters::icu;
}

bool is_nondeterministic(std::uint32_t collation) noexcept {
  const CollationRule* rule = find_collation_rule(collation);
  return rule != nullptr && !rule->deterministic;
}

namespace {

constexpr std::string_view kOfLocale = "-x-icu";
constexpr std::pair<std::string_view, std::uint32_t> kNamed[] = {
    {"default", collation_id::by_default}, {"C", collation_id::c},
    {"POSIX", collation_id::posix},        {"ucs_basic", collation_id::ucs_basic},
    {"pg_c_utf8", collation_id::c_utf8},   {"pg_unicode_fast", collation_id::unicode_fast}};

}  // namespace

std::optional<std::uint32_t> builtin_collation(std::string_view name) {
  for (const auto& [known, number] : kNamed) {
    if (known == name) return number;
  }
  if (!name.ends_with(kOfLocale)) return std::nullopt;
  const std::string_view locale = name.substr(0, name.size() - kOfLocale.size());
  for (std::size_t i = 0; i < std::size(kLocales); ++i) {
    if (kLocales[i] == locale) return collation_id::first_locale + static_cast<std::uint32_t>(i);
  }
  return std::nullopt;
}

std::string builtin_collation_name(std::uint32_t number) {
  for (const auto& [name, known] : kNamed) {
    if (known == number) return std::string{name};
  }
  const std::uint32_t place = number - collation_id::first_locale;
  return place < std::size(kLocales) ? fmt::format("{}{}", kLocales[place], kOfLocale)
                                     : std::string{};
}

std::span<const std::string_view> builtin_locales() noexcept {
  return kLocales;
}

void fail_indeterminate(std::string_view purpose) {
  throw sql_error(sqlstate::indeterminate_collation,
                  "could not determine which collation to use for {}", purpose)
      .with_hint("Use the COLLATE clause to set the collation explicitly.");
}

}  // namespace swizzle::sql
