#pragma once

#include <cstddef>
#include <string>

#include "sql-lite-frontend/types/function_registry.h"
#include "sql-lite-frontend/types/type.h"

/// Compare functions of collations. They are identified only by their address, like those of any
/// type, so each order needs its own functions: there is a fixed number of such sets.
namespace swizzle::sql {

/// Maximum number of different orders in a process.
inline constexpr std::size_t kMostCollatedOrders = 256;
/// Pseudo-orders whose comparisons throw: 42P22 if the collation is indeterminate, 54000 if there
/// are no more orders.
inline constexpr std::size_t kIndeterminateOrder = kMostCollatedOrders;
inline constexpr std::size_t kNoCollatedOrder = kMostCollatedOrders + 1;

/// Creates the order with number `place` from ICU's rules. Returns kNoCollatedOrder if there are
/// too many.
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

/// Text operators = <> < <= > >=, in this order.
inline constexpr std::size_t kComparisons = 6;
/// `name`: the operator; returns null for others. Pre: the order is that of a type that is not an
/// array.
ScalarFunction collated_comparison(std::size_t order, CollatedForm form, std::string_view name);
/// Returns the order to which the type's compare function belongs.
std::size_t order_of_compare(CompareFunction compare, CollatedForm form);

}  // namespace swizzle::sql
