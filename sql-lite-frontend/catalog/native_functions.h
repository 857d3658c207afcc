#pragma once

#include "sql-lite-frontend/catalog/objects.h"
#include "sql-lite-frontend/types/function_registry.h"

/// Functions in LANGUAGE c and internal.
namespace swizzle::sql {

/// Neither: nothing of that name is there.
struct NativeFunction {
  ScalarFunction scalar = nullptr;
  SetFunction set = nullptr;
};
using FindNative = NativeFunction (*)(const Routine& routine);

/// Sets who knows them, before the first is asked for: the extensions that come with the server.
void set_native_functions(FindNative find) noexcept;
NativeFunction find_native(const Routine& routine);

}  // namespace swizzle::sql
