#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sql-lite-frontend/statement/statement_context.h"

/// Values of a composite type lie in rows as records of their own, so they change with the type.
namespace swizzle::sql {

/// One attribute less, or one more behind the others, which old values have NULL in.
struct AttributeEdit {
  std::optional<std::size_t> dropped;  ///< its place among those there are
  TypeId added = TypeId::none;         ///< under its collation
  std::string name = {};               ///< of one that is dropped
};

/// Rewrites the tables with columns that hold values of the type, also within arrays, domains and
/// other composite types. 0A000 if a range has such values. Pre: the type itself has been changed.
void edit_values_of(StatementContext& session, const UserType& type,
                    std::span<const AttributeEdit> edits);
/// 0A000 where views, checks or other stored texts name a field of the type's values that has got
/// another name just now.
void require_field_unnamed(StatementContext& session, const UserType& type, std::string_view field);
/// The same for the type of a relation's rows.
void edit_rows_elsewhere(StatementContext& session, const Table& table, const AttributeEdit& edit);

}  // namespace swizzle::sql
