#pragma once

#include "sql-lite-frontend/types/type.h"

/// The types of type_list.inc: `builtin::money` is the object, `builtin_id::money` its oid,
/// `builtin_id::array_of_money` that of its array type. Only for the files of the types; other
/// files use TypeId::name if the type has a name in type_id.h.
namespace swizzle::sql {

namespace builtin {
#define SWIZZLE_TYPE(type, number, array_number) extern const Type type;
#include "sql-lite-frontend/types/type_list.inc"
#undef SWIZZLE_TYPE
}  // namespace builtin

namespace builtin_id {
#define SWIZZLE_TYPE(type, number, array_number) \
  inline constexpr TypeId type{number};          \
  inline constexpr TypeId array_of_##type{array_number};
#include "sql-lite-frontend/types/type_list.inc"
#undef SWIZZLE_TYPE
}  // namespace builtin_id

}  // namespace swizzle::sql
