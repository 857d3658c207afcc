#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "sql-lite-frontend/catalog/objects.h"
#include "sql-lite-frontend/query/bound/expression.h"

/// Limits of virtual generated columns, as PostgreSQL 18 has them.
namespace swizzle::sql {

/// Throws 0A000 if one of the numbered columns is virtual. `what`: "indexes", "primary keys".
void refuse_virtual_key(const Relation& relation, std::span<const std::int16_t> columns,
                        std::string_view what);
/// The same of an index expression or predicate, as it is stored.
void refuse_virtual_read(const Relation& relation, Expr& expr, Slot first_slot);
/// Throws 0A000 for a type of the column that a virtual one cannot have.
void require_plain_type(const Column& column);
/// Throws 0A000 if the expression uses types or functions that users made.
void require_built_in(Expr& expr);

}  // namespace swizzle::sql
