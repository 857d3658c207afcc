#pragma once

#include <cstddef>
#include <string>

#include "sql-lite-frontend/types/function_registry.h"
#include "sql-lite-frontend/types/type.h"

/// The functions by which collations order. They are found by their address alone, as those of any
/// type are, so each order has functions of its own: there are so many sets of them.
namespace swizzle::sql {

/// Orders that differ, of which a process knows so many at most.
inline constexpr std::size_t kMostCollatedOrders = 256;
/// Pseudo-orders whose comparisons throw: 42P22 if the collation is indeterminate, 54000 if there
/// are no more orders.
inline constexpr std::size_t kIndeterminateOrder = kMostCollatedOrders;
inline constexpr std::size_t kNoCollatedOrder = kMostCollatedOrders + 1;

/// Makes the next order, `place`, of ICU's rules. kNoCollatedOrder where there is no room.
std::size_t open_collated_order(std::size_t place, const std::string& locale, bool deterministic);

enum class CollatedForm : unsigned char {
  text,
  padded,  ///< blanks at the end do not count
  array,
  padded_array,
  document,  ///< jsonb
  document_array,
  folded,  ///< citext
  folded_array
};
inline constexpr std::size_t kCollatedForms = 8;
TypeOrder collated_order(std::size_t order, CollatedForm form);

/// = <> < <= > >= of texts, in this order.
inline constexpr std::size_t kComparisons = 6;
/// Pre: the order is one of a type that is not an array. `name`: the operator's; null for others.
ScalarFunction collated_comparison(std::size_t order, CollatedForm form, std::string_view name);
/// Returns the order to which the type's compare function belongs.
std::size_t order_of_compare(CompareFunction compare, CollatedForm form);

}  // namespace swizzle::sql
