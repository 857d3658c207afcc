#pragma once

#include "sql-lite-frontend/catalog/objects.h"

/// Numbers of NOT NULL constraints that records of before format 21, and of domains before format
/// 22, get when they are read. The
/// counter of object numbers reaches these last.
namespace swizzle::sql {

inline constexpr Oid kFirstOldNotNull = 0xC0000000U;
inline constexpr Oid kOldNotNulls = 0x3FFFFFFFU;

/// True for a constraint that was added to an old record: a partition's does not know its parent's.
constexpr bool is_of_old_record(const Constraint& constraint) noexcept {
  return constraint.kind == ConstraintKind::not_null && constraint.oid >= kFirstOldNotNull &&
         constraint.oid < kFirstOldNotNull + kOldNotNulls;
}

}  // namespace swizzle::sql
