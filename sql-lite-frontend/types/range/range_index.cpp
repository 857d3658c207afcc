#include "sql-lite-frontend/types/range/range_index.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>

#include "sql-lite-frontend/types/key_codec.h"
#include "sql-lite-frontend/types/orders.h"
#include "sql-lite-frontend/types/range/range.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

// Classes. Between the first and the last: one more than how many bits the length has.
constexpr std::uint8_t kEmpty = 0;
constexpr std::uint8_t kPoint = 1;
constexpr std::uint8_t kLongest = kPoint + 64;
constexpr std::uint8_t kUnmeasured = kLongest + 1;  ///< of types whose values have no places
constexpr std::uint8_t kEndless = kUnmeasured + 1;
constexpr std::uint8_t kNull = 0xff;

// As range_types.cpp writes keys: after a range that is not empty its lower bound.
constexpr char kSomeRange = 1;
constexpr char kFinite = 1;

/// Types whose values are whole numbers, which say how far one is from another.
bool has_places(TypeId subtype) {
  constexpr std::array kRangeable = {TypeId::int4, TypeId::int8, TypeId::date, TypeId::timestamp,
                                     TypeId::timestamptz};
  return std::ranges::find(kRangeable, base_type(subtype)) != kRangeable.end();
}

std::uint8_t class_of(const Value& range) {
  const RangeView view{range};
  if (view.empty()) return kEmpty;
  const Span& span = view.span();
  if (span.lower.infinite() || span.upper.infinite()) return kEndless;
  if (!has_places(range_subtype(view.type()))) return kUnmeasured;
  const auto lower = static_cast<std::uint64_t>(span.lower.value.as_int8());
  const auto upper = static_cast<std::uint64_t>(span.upper.value.as_int8());
  return static_cast<std::uint8_t>(kPoint + std::bit_width(upper - lower));
}

/// A bound's position on the scale of keys; nothing for an infinite one.
using Place = std::optional<std::int64_t>;

/// Returns the position that precedes another by the greatest length of a range of the class.
std::int64_t before(std::int64_t place, std::uint8_t of_class) {
  const unsigned bits = of_class - kPoint;
  if (bits >= 64) return INT64_MIN;
  const std::uint64_t reach = (std::uint64_t{1} << bits) - 1;
  const auto from = static_cast<std::uint64_t>(place) - static_cast<std::uint64_t>(INT64_MIN);
  return from < reach ? INT64_MIN
                      : static_cast<std::int64_t>(static_cast<std::uint64_t>(place) - reach);
}

/// Bounds of the wanted ranges: they begin no later than `last`, and end no earlier than `end` or
/// begin no earlier than `first`.
struct WantedBounds {
  const RangeBound* last = nullptr;
  const RangeBound* end = nullptr;
  const RangeBound* first = nullptr;
  std::uint8_t longest = kEndless;  ///< classes after it have none
  bool with_empty = false;
};

class Pieces {
 public:
  Pieces(TypeId subtype, const WantedBounds& wanted) : subtype_(subtype), wanted_(wanted) {}

  std::vector<KeyPiece> all() {
    if (wanted_.with_empty) add_class(kEmpty);
    if (has_places(subtype_)) {
      for (std::uint8_t at = kPoint; at <= std::min(wanted_.longest, kLongest); ++at) add(at);
    } else {
      add(kUnmeasured);
    }
    if (wanted_.longest == kEndless) add(kEndless);
    return std::move(pieces_);
  }

 private:
  void add_class(std::uint8_t of_class) {
    pieces_.push_back({std::string(1, static_cast<char>(of_class)),
                       std::string(1, static_cast<char>(of_class + 1))});
  }
  /// Of all ranges of the class that begin with the value, included or not.
  std::string key_at(std::uint8_t of_class, const Value& value) const {
    std::string key(1, static_cast<char>(of_class));
    key.push_back(keys::kPresent);
    key.push_back(kSomeRange);
    key.push_back(kFinite);
    keys::put_value(key, subtype_, value);
    return key;
  }
  void add(std::uint8_t of_class) {
    KeyPiece piece{std::string(1, static_cast<char>(of_class)),
                   std::string(1, static_cast<char>(of_class + 1))};
    const bool ends = wanted_.end != nullptr && !wanted_.end->infinite();
    if (wanted_.first != nullptr && !wanted_.first->infinite()) {
      piece.low = key_at(of_class, wanted_.first->value);
    } else if (ends && of_class <= kLongest) {
      const std::int64_t place = before(wanted_.end->value.as_int8(), of_class);
      if (fits(place)) piece.low = key_at(of_class, Value::from_int(place));
    }
    if (wanted_.last != nullptr && !wanted_.last->infinite()) {
      piece.high = key_successor(key_at(of_class, wanted_.last->value));
    }
    if (piece.low < piece.high) pieces_.push_back(std::move(piece));
  }
  /// A value before all others need not be one that the type has.
  [[nodiscard]] bool fits(std::int64_t place) const {
    const TypeId type = base_type(subtype_);
    const bool is_short = type == TypeId::int4 || type == TypeId::date;
    return !is_short || place >= INT32_MIN;
  }

  TypeId subtype_;
  const WantedBounds& wanted_;
  std::vector<KeyPiece> pieces_;
};

bool is_element_operator(std::string_view op) {
  return op == "@>";
}

}  // namespace

void put_range_class(std::string& key, const Value& range) {
  key.push_back(static_cast<char>(range.is_null() ? kNull : class_of(range)));
}

bool finds_ranges(std::string_view op, TypeId range, TypeId value) noexcept {
  constexpr std::array kOperators =
      std::to_array<std::string_view>({"&&", "@>", "<@", "=", "<<", ">>", "&<", "&>", "-|-"});
  if (std::ranges::find(kOperators, op) == kOperators.end()) return false;
  if (base_type(value) == base_type(range)) return true;
  return is_element_operator(op) && base_type(value) == base_type(range_subtype(range));
}

std::vector<KeyPiece> pieces_with(std::string_view op, TypeId range, TypeId type,
                                  const Value& value) {
  const TypeId subtype = range_bound_type(range);
  const std::vector<KeyPiece> everything{
      {std::string(1, '\0'), std::string(1, static_cast<char>(kNull))}};
  if (base_type(type) != base_type(range)) {
    const RangeBound element{value, true};
    const WantedBounds wanted{.last = &element, .end = &element};
    return Pieces{subtype, wanted}.all();
  }
  const RangeView view{value};
  if (view.empty()) {
    if (op == "@>") return everything;
    if (op == "<@" || op == "=")
      return Pieces{subtype, {.longest = kEmpty, .with_empty = true}}.all();
    return {};
  }
  const RangeBound& lower = view.span().lower;
  const RangeBound& upper = view.span().upper;
  WantedBounds wanted;
  if (op == "&&" || op == "-|-") {
    wanted = {.last = &upper, .end = &lower};
  } else if (op == "@>") {
    wanted = {.last = &lower, .end = &upper};
    // A bounded range cannot extend as far as an unbounded one.
    if (upper.infinite()) wanted.end = nullptr;
  } else if (op == "=") {
    wanted = {.last = &lower, .first = &lower};
  } else if (op == "<@") {
    wanted = {.last = &upper, .first = &lower, .with_empty = true};
  } else if (op == "<<") {
    wanted = {.last = &lower};
  } else if (op == "&<") {
    wanted = {.last = &upper};
  } else {
    wanted = {.first = op == ">>" ? &upper : &lower};
  }
  return Pieces{subtype, wanted}.all();
}

}  // namespace swizzle::sql
