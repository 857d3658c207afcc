#pragma once

#include <span>
#include <string_view>

#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/inverted/element_class.h"
#include "sql-lite-frontend/types/memory_account.h"

namespace swizzle::sql {

/// Query on the elements of an inverted index for a condition: finds all rows that satisfy it, and
/// perhaps others.
struct ElementQuery {
  enum class Kind : std::uint8_t {
    everything,
    nothing,
    element,  ///< those with the element `bytes`
    prefix,   ///< those with an element that begins with `bytes`
    all,      ///< those that all of `parts` are about
    any,      ///< those that one of `parts` is about
  };
  Kind kind = Kind::everything;
  std::string_view bytes;  ///< in the arena it was made in
  CountedVector<ElementQuery> parts;
};

/// Builds queries; the bytes to which they refer are in an arena.
class ElementQueries {
 public:
  using Kind = ElementQuery::Kind;
  explicit ElementQueries(Arena& arena) : arena_(arena) {}

  [[nodiscard]] ElementQuery of(Kind kind) const { return {kind, {}, list()}; }
  ElementQuery of(Kind kind, std::string_view bytes) { return {kind, arena_.copy(bytes), list()}; }
  /// Builds a query of elements whose bytes are in the arena.
  [[nodiscard]] ElementQuery of(Kind kind, std::span<const std::string_view> elements) const;
  /// Combines queries by `all` or `any`; omits parts without effect, and returns a single part as
  /// is.
  [[nodiscard]] ElementQuery joined(Kind kind, CountedVector<ElementQuery> parts) const;

  [[nodiscard]] CountedVector<ElementQuery> list() const {
    return CountedVector<ElementQuery>{CountedAllocator<ElementQuery>{arena_.account()}};
  }
  [[nodiscard]] Arena& arena() noexcept { return arena_; }

 private:
  Arena& arena_;
};

/// Returns the query for `operand op value`, or `value op operand`. Pre: answers().
ElementQuery element_query(ElementClass id, std::string_view op, OperandSide side,
                           const Value& value, Arena& arena);

}  // namespace swizzle::sql
