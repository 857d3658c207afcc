#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sql-lite-frontend/statement/statement_context.h"

/// Values of a composite type are stored as records inside rows, so a change of the type rewrites
/// them.
namespace swizzle::sql {

/// Removes an attribute, or appends one, which is NULL in old values.
struct AttributeEdit {
  std::optional<std::size_t> dropped;  ///< its index among the existing ones
  TypeId added = TypeId::none;         ///< under its collation
  std::string name = {};               ///< name of a dropped one
};

/// Rewrites the tables with columns that contain values of the type, also within arrays, domains
/// and other composite types. Throws 0A000 if a range contains such values. Pre: the type itself
/// has been changed.
void edit_values_of(StatementContext& session, const UserType& type,
                    std::span<const AttributeEdit> edits);
/// Throws 0A000 if views, checks or other stored texts refer to a field that has just been renamed.
void require_field_unnamed(StatementContext& session, const UserType& type, std::string_view field);
/// The same for the type of a relation's rows.
void edit_rows_elsewhere(StatementContext& session, const Table& table, const AttributeEdit& edit);

}  // namespace swizzle::sql
