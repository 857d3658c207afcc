#include "sql-lite-frontend/routines/signature.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/types/polymorphic.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {

SignatureType signature_type(StatementContext& session, const ast::TypeName& name,
                             ResultSink* told) {
  Arena arena;
  Binder binder{session.names, arena};
  if (name.pct_type) {
    ast::RangeVar range;
    const std::size_t parts = name.names.size();
    if (parts < 2) {
      throw SqlError{sqlstate::syntax_error, "improper %TYPE reference (too few dotted names)"};
    }
    range.relname = ast::string_of(name.names[parts - 2]);
    if (parts > 2) range.schemaname = ast::string_of(name.names[parts - 3]);
    const TablePtr table = binder.require_relation(range);
    const std::string_view column = ast::string_of(name.names[parts - 1]);
    const auto position = table->column_position(column);
    if (!position) {
      throw_error(sqlstate::undefined_column, "column \"{}\" of relation \"{}\" does not exist",
                  column, range.relname);
    }
    const TypeId type = table->relation.columns[*position].type;
    if (told != nullptr) {
      session.notice(*told, Severity::notice, SqlState{"00000"},
                     fmt::format("type reference {}.{}%TYPE converted to {}", range.relname, column,
                                 format_type(type)));
    }
    return {type};
  }
  ast::TypeName plain = name;
  plain.setof = false;
  try {
    return {binder.bind_type(plain).type};
  } catch (SqlError& error) {
    error.fields().position = 0;
    if (error.state() != sqlstate::undefined_object || !name.array_bounds.empty()) throw;
    const std::string_view schema = name.names.size() > 1
                                        ? ast::string_of(name.names[name.names.size() - 2])
                                        : std::string_view{};
    const std::string_view last = ast::string_of(name.names.back());
    if (shell_named(session, name)) {
      throw_error(sqlstate::undefined_object, "type \"{}{}{}\" is only a shell", schema,
                  schema.empty() ? "" : ".", last);
    }
    const TablePtr table = session.names.find_table(schema, last);
    const bool has_no_row_type = table && table->relation.oid < kFirstUserOid;
    if (has_no_row_type) return {TypeId::record, table->relation.oid};
    throw_error(sqlstate::undefined_object, "type \"{}{}{}\" does not exist", schema,
                schema.empty() ? "" : ".", last);
  }
}

TypePtr shell_named(StatementContext& session, const ast::TypeName& name) {
  if (name.names.empty() || name.pct_type || !name.array_bounds.empty()) return nullptr;
  const std::string_view schema = name.names.size() > 1
                                      ? ast::string_of(name.names[name.names.size() - 2])
                                      : std::string_view{};
  TypePtr type = session.names.find_user_type(schema, ast::string_of(name.names.back()));
  return type && type->is_shell() ? type : nullptr;
}

std::string missing_polymorphic_input(TypeId result, std::span<const TypeId> inputs) {
  if (!is_polymorphic(result)) return {};
  const auto is_compatible_range = [](TypeId type) {
    return type == TypeId::anycompatiblerange || type == TypeId::anycompatiblemultirange;
  };
  const auto is_compatible = [](TypeId type) {
    return is_polymorphic(type) && !is_any_family(type);
  };
  std::string_view wanted =
      "anyelement, anyarray, anynonarray, anyenum, anyrange, or anymultirange";
  bool has_input = std::ranges::any_of(inputs, is_any_family);
  if (is_range_family(result)) {
    wanted = "anyrange or anymultirange";
    has_input = std::ranges::any_of(inputs, is_range_family);
  } else if (is_compatible_range(result)) {
    wanted = "anycompatiblerange or anycompatiblemultirange";
    has_input = std::ranges::any_of(inputs, is_compatible_range);
  } else if (is_compatible(result)) {
    wanted =
        "anycompatible, anycompatiblearray, anycompatiblenonarray, anycompatiblerange, or "
        "anycompatiblemultirange";
    has_input = std::ranges::any_of(inputs, is_compatible);
  }
  if (has_input) return {};
  return fmt::format("A result of type {} requires at least one input of type {}.",
                     format_type(result), wanted);
}

}  // namespace swizzle::sql
