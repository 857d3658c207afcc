#pragma once

#include "sql-lite-frontend/catalog/objects.h"
#include "sql-lite-frontend/types/function_registry.h"

/// Functions of LANGUAGE c and internal.
namespace swizzle::sql {

/// A native function; both null: there is none of that name.
struct NativeFunction {
  ScalarFunction scalar = nullptr;
  SetFunction set = nullptr;
};
using FindNative = NativeFunction (*)(const Routine& routine);

/// Sets the function that finds native functions, those of the extensions. Called before the first
/// use.
void set_native_functions(FindNative find) noexcept;
NativeFunction find_native(const Routine& routine);

}  // namespace swizzle::sql
