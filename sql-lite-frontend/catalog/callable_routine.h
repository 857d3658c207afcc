#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/catalog/objects.h"
#include "sql-lite-frontend/types/checked_pointers.h"
#include "sql-lite-frontend/types/function_registry.h"

namespace swizzle::sql {

/// Returns the type of an argument of a VARIADIC parameter; none if `parameter` is no array.
TypeId variadic_element(TypeId parameter) noexcept;

/// A routine in the form in which calls are resolved: one more row of pg_proc beside the built-in
/// ones. Callers hold a reference, so that the routine stays the same while it runs.
struct CallableRoutine {
  explicit CallableRoutine(RoutinePtr of);
  CallableRoutine(const CallableRoutine&) = delete;
  CallableRoutine& operator=(const CallableRoutine&) = delete;
  ~CallableRoutine() = default;

  /// True if its rows have columns: RETURNS TABLE, several OUT parameters, a relation's rows.
  [[nodiscard]] bool has_columns() const noexcept { return !column_names.empty(); }

  RoutinePtr routine;
  std::vector<TypeId> arguments;
  std::vector<std::string_view> argument_names;
  std::vector<std::string_view> argument_defaults;
  std::vector<std::string_view> column_names;
  std::vector<TypeId> column_types;
  Function function;  ///< its views are into what stands above
};
using CallablePtr = CheckedShared<const CallableRoutine>;

Volatility volatility_of(char letter) noexcept;

/// The columns that OUT parameters give, or RETURNS TABLE; of a single OUT parameter there is none.
std::vector<const RoutineParameter*> output_columns_of(const Routine& routine);

}  // namespace swizzle::sql
