#pragma once

#include "sql-lite-frontend/catalog/objects.h"
#include "sql-lite-frontend/types/function_registry.h"

/// Functions in LANGUAGE c and internal: extensions/ knows those of the extensions that come with
/// the server.
namespace swizzle::sql {

/// Neither: nothing of that name is there.
struct NativeFunction {
  ScalarFunction scalar = nullptr;
  SetFunction set = nullptr;
};
NativeFunction find_native(const Routine& routine);

}  // namespace swizzle::sql
