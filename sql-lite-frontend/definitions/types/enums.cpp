// CREATE TYPE … AS ENUM, and ALTER TYPE on labels.
#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/definitions/types/type_definition.h"
#include "sql-lite-frontend/definitions/types/user_types.h"
#include "sql-lite-frontend/definitions/views/view_literals.h"
#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

constexpr std::size_t kLongestName = 63;

void require_label(std::string_view label) {
  if (label.size() <= kLongestName) return;
  throw sql_error(sqlstate::invalid_name, "invalid enum label \"{}\"", label)
      .with_detail(fmt::format("Labels must be {} bytes or less.", kLongestName));
}

}  // namespace

void create_enum(StatementContext& session, const ast::CreateEnumStmt& statement) {
  UserType type = new_type(session, type_named(statement.type_name));
  const std::vector<std::int64_t> positions = spread_positions(statement.vals.size());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const std::string_view label = ast::string_of(statement.vals[i]);
    require_label(label);
    if (std::ranges::find(type.labels, label, &EnumLabel::name) != type.labels.end()) {
      throw_error(sqlstate::duplicate_object, "enum label \"{}\" already exists", label);
    }
    type.labels.push_back({session.catalog.allocate_oid(), std::string{label}, positions[i]});
  }
  // Allocate the type's number after its labels': higher numbers mark labels added later by ALTER
  // TYPE.
  type.oid = allocate_type(session, kFirstEnum);
  session.catalog.create(*session.transaction, std::move(type));
}

namespace {

void rename_label(StatementContext& session, const UserType& type,
                  const ast::AlterEnumStmt& statement) {
  UserType changed = type;
  const auto label = std::ranges::find(changed.labels, statement.old_val, &EnumLabel::name);
  if (label == changed.labels.end()) {
    throw_error(sqlstate::invalid_parameter_value, "\"{}\" is not an existing enum label",
                statement.old_val);
  }
  if (std::ranges::find(changed.labels, statement.new_val, &EnumLabel::name) !=
      changed.labels.end()) {
    throw_error(sqlstate::duplicate_object, "enum label \"{}\" already exists", statement.new_val);
  }
  label->name = statement.new_val;
  ViewLiterals literals{session, type.id()};
  replace_type(session, type, std::move(changed));
  literals.write_again();
}

void add_label(StatementContext& session, const UserType& type, const ast::AlterEnumStmt& statement,
               ResultSink& sink) {
  if (std::ranges::find(type.labels, statement.new_val, &EnumLabel::name) != type.labels.end()) {
    if (!statement.skip_if_new_val_exists) {
      throw_error(sqlstate::duplicate_object, "enum label \"{}\" already exists",
                  statement.new_val);
    }
    return session.notice(
        sink, Severity::notice, sqlstate::duplicate_object,
        fmt::format("enum label \"{}\" already exists, skipping", statement.new_val));
  }
  UserType changed = type;
  auto place = changed.labels.end();
  if (!statement.new_val_neighbor.empty()) {
    place = std::ranges::find(changed.labels, statement.new_val_neighbor, &EnumLabel::name);
    if (place == changed.labels.end()) {
      throw_error(sqlstate::invalid_parameter_value, "\"{}\" is not an existing enum label",
                  statement.new_val_neighbor);
    }
    if (statement.new_val_is_after) ++place;
  }
  const EnumLabel* before = place == changed.labels.begin() ? nullptr : &*(place - 1);
  const EnumLabel* after = place == changed.labels.end() ? nullptr : &*place;
  changed.labels.insert(place, {session.catalog.allocate_oid(), std::string{statement.new_val},
                                position_between(before, after)});
  replace_type(session, type, std::move(changed));
}

}  // namespace

void alter_enum(StatementContext& session, const ast::AlterEnumStmt& statement, ResultSink& sink) {
  const TypeName name = type_named(statement.type_name);
  if (const Type* const builtin = builtin_named(name); builtin != nullptr) {
    throw_error(sqlstate::wrong_object_type, "{} is not an enum", format_type(builtin->id));
  }
  const TypePtr type = lock_own_type(session, name);
  if (!is_enum(type->id())) {
    throw_error(sqlstate::wrong_object_type, "{} is not an enum", format_type(type->id()));
  }
  require_label(statement.new_val);
  if (!statement.old_val.empty()) {
    rename_label(session, *type, statement);
  } else {
    add_label(session, *type, statement, sink);
  }
}

}  // namespace swizzle::sql
