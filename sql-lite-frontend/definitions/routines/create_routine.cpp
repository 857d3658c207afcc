#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/catalog/default_grants.h"
#include "sql-lite-frontend/definitions/routines/routine_builder.h"
#include "sql-lite-frontend/definitions/routines/routine_definition.h"
#include "sql-lite-frontend/routines/language.h"
#include "sql-lite-frontend/types/sql_error.h"

/// CREATE FUNCTION and CREATE PROCEDURE.
namespace swizzle::sql {
namespace {

std::string_view noun_of(RoutineKind kind) {
  return kind == RoutineKind::procedure ? "procedure" : "function";
}

/// Refuses changes by CREATE OR REPLACE to properties that others rely on.
void require_same_interface(StatementContext& session, const Routine& old, const Routine& changed) {
  const std::string hint = fmt::format(
      "Use DROP {} {} first.", old.kind == RoutineKind::procedure ? "PROCEDURE" : "FUNCTION",
      session.names.routine_signature(old));
  if (old.kind != changed.kind) {
    throw sql_error(sqlstate::wrong_object_type, "cannot change routine kind")
        .with_detail(fmt::format("\"{}\" is {}.", old.name,
                                 old.kind == RoutineKind::aggregate
                                     ? std::string{"an aggregate function"}
                                     : fmt::format("a {}", noun_of(old.kind))));
  }
  if (old.result != changed.result || old.returns_set != changed.returns_set ||
      old.result_relation != changed.result_relation) {
    throw sql_error(sqlstate::invalid_function_definition, "{}",
                    old.kind == RoutineKind::procedure
                        ? "cannot change whether a procedure has output parameters"
                        : "cannot change return type of existing function")
        .with_hint(hint);
  }
  const auto before = output_columns_of(old);
  const auto after = output_columns_of(changed);
  const bool same_columns = std::ranges::equal(before, after, [](const auto* a, const auto* b) {
    return a->name == b->name && a->type == b->type;
  });
  // The columns of a relation's row type may have changed since.
  if (!same_columns && old.result_relation == kNoOid) {
    throw sql_error(sqlstate::invalid_function_definition,
                    "cannot change return type of existing function")
        .with_detail("Row type defined by OUT parameters is different.")
        .with_hint(hint);
  }
  std::vector<const RoutineParameter*> was;
  std::vector<const RoutineParameter*> is;
  for (const RoutineParameter& p : old.parameters) {
    if (p.is_input()) was.push_back(&p);
  }
  for (const RoutineParameter& p : changed.parameters) {
    if (p.is_input()) is.push_back(&p);
  }
  for (std::size_t i = 0; i < was.size(); ++i) {
    if (!was[i]->name.empty() && was[i]->name != is[i]->name) {
      throw sql_error(sqlstate::invalid_function_definition,
                      "cannot change name of input parameter \"{}\"", was[i]->name)
          .with_hint(hint);
    }
    if (!was[i]->default_sql.empty() && is[i]->default_sql.empty()) {
      throw sql_error(sqlstate::invalid_function_definition,
                      "cannot remove parameter defaults from existing function")
          .with_hint(hint);
    }
  }
}

/// Returns the body's position in the statement, for error positions. Nothing if the body is not a
/// verbatim part of it, because of quotes or escapes.
std::optional<std::size_t> place_of_body(const Statement& whole, const Routine& routine) {
  const std::string& text = whole.text();
  const std::size_t found = text.find(routine.body, static_cast<std::size_t>(whole.location));
  if (routine.body.empty() || found == std::string::npos) return std::nullopt;
  return found;
}

void check_body(StatementContext& session, const RoutinePtr& routine, const Statement& whole) {
  // Code that is called at once must exist.
  const bool is_native = routine->language == "c" || routine->language == "internal";
  if (!is_native && !session.settings.boolean("check_function_bodies")) return;
  try {
    const RoutineFrame frame{session, *routine};
    require_language(routine->language).check(session, session.names.callable_of(routine));
  } catch (SqlError& error) {
    const std::optional<std::size_t> place = place_of_body(whole, *routine);
    if (error.fields().position > 0 && place) {
      error.fields().position += static_cast<int>(*place);
      error.fields().where.clear();
    } else {
      error.fields().position = 0;
      if (error.fields().where.empty() && !is_native) {
        error.fields().where = fmt::format("SQL function \"{}\"", routine->name);
      }
    }
    throw;
  }
}

}  // namespace

void create_routine(StatementContext& session, const ast::CreateFunctionStmt& statement,
                    const Statement& whole, ResultSink& sink) {
  Routine routine = build_routine(session, statement, whole, sink);
  const std::vector<TypeId> types = routine.argument_types();
  RoutinePtr old;
  for (const RoutinePtr& other : session.catalog.routines_named(routine.name)) {
    if (other->schema == routine.schema && other->argument_types() == types) old = other;
  }
  RoutinePtr made;
  if (old) {
    if (!statement.replace) {
      throw_error(sqlstate::duplicate_function,
                  "function \"{}\" already exists with same argument types", routine.name);
    }
    require_owner(session, *old);
    old = session.catalog.lock_routine(*session.transaction, *old);
    require_same_interface(session, *old, routine);
    routine.oid = old->oid;
    routine.owner = old->owner;
    routine.grants = old->grants;
    routine.comment = old->comment;
    const Oid oid = routine.oid;
    session.catalog.replace(*session.transaction, *old, std::move(routine));
    made = session.catalog.routine(oid);
  } else {
    routine.oid = session.catalog.allocate_oid();
    routine.grants = grants_of_new(session.catalog.of_database(), *session.transaction,
                                   routine.owner, routine.schema, GrantedOn::function);
    made = session.catalog.create(*session.transaction, std::move(routine));
  }
  check_body(session, made, whole);
}

}  // namespace swizzle::sql
