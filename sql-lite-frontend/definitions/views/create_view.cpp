#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sql-lite-frontend/definitions/dependents/dependents.h"
#include "sql-lite-frontend/definitions/statements.h"
#include "sql-lite-frontend/definitions/tables/relation_options.h"
#include "sql-lite-frontend/definitions/tables/table_builder.h"
#include "sql-lite-frontend/definitions/text/collations.h"
#include "sql-lite-frontend/statement/names/in_use.h"

/// CREATE VIEW.
namespace swizzle::sql {
namespace {

/// Returns the text of WITH CHECK OPTION; empty if there is none.
std::string_view check_option(const ast::ViewStmt& statement) {
  switch (statement.with_check_option) {
    case ast::ViewCheckOption::local_check_option:
      return "check_option=local";
    case ast::ViewCheckOption::cascaded_check_option:
      return "check_option=cascaded";
    default:
      return {};
  }
}

bool is_check_option(const std::string& option) {
  return option.starts_with("check_option=");
}

void refuse_repeated(const std::vector<std::string>& options, std::string_view added) {
  if (std::ranges::none_of(options, &is_check_option)) return;
  throw_error(sqlstate::invalid_parameter_value, "parameter \"{}\" specified more than once",
              added.substr(0, added.find('=')));
}

void require_updatable(const ast::SelectStmt& query) {
  const std::string_view what = Binder::view_hindrance(query);
  if (what.empty()) return;
  throw SqlError{sqlstate::feature_not_supported,
                 "WITH CHECK OPTION is supported only on automatically updatable views"}
      .with_hint(fmt::format("Views {} are not automatically updatable.", what));
}

/// Refuses a view that would read itself, directly or through others: it could be neither read nor
/// dropped.
void refuse_circle(StatementContext& session, const TablePtr& view,
                   std::span<const Binder::RelationRead> read) {
  std::set<Oid> above{view->relation.oid};
  for (const Dependent& dependent : dependents_of(session, {&view, 1})) {
    if (dependent.table) above.insert(dependent.table->relation.oid);
  }
  for (const Binder::RelationRead& below : read) {
    const Oid oid = below.table->relation.oid;
    if (below.table->computed == nullptr) {
      session.catalog.lock(*session.transaction, oid, lock::RelationMode::access_share);
    }
    if (!above.contains(oid)) continue;
    throw_error(SqlState{"42P17"}, "infinite recursion detected in rules for relation \"{}\"",
                view->relation.name);
  }
}

}  // namespace

void create_view(StatementContext& session, const ast::ViewStmt& statement, const Statement& whole,
                 ResultSink& sink) {
  std::vector<std::string> with = view_options(statement.options);
  if (const std::string_view asked = check_option(statement); !asked.empty()) {
    refuse_repeated(with, asked);
    with.emplace_back(asked);
  }
  if (std::ranges::any_of(with, &is_check_option)) {
    require_updatable(ast::as<ast::SelectStmt>(statement.query));
  }
  if (statement.view->relpersistence == "u") {
    throw SqlError{sqlstate::syntax_error,
                   "views cannot be unlogged because they do not have storage"};
  }
  Relation relation = new_relation(session, *statement.view, RelationKind::view);
  relation.options = std::move(with);
  const TablePtr old = session.catalog.table(relation.schema, relation.name);
  if (old && !statement.replace) {
    throw_error(sqlstate::duplicate_table, "relation \"{}\" already exists", relation.name);
  }
  if (old && old->relation.kind != RelationKind::view) {
    throw_error(sqlstate::wrong_object_type, "\"{}\" is not a view", relation.name);
  }
  // Locked before its query is analyzed, so that concurrent definitions cannot form a cycle.
  const TablePtr locked = old ? session.rights.lock_own(old) : nullptr;
  Arena arena;
  Binder binder{session.names, arena};
  const auto query = binder.bind_select(ast::as<ast::SelectStmt>(statement.query), nullptr);
  if (locked) refuse_circle(session, locked, binder.relations_read());
  if (statement.aliases.size() > query->targets.size()) {
    throw SqlError{sqlstate::syntax_error, "CREATE VIEW specifies more column names than columns"};
  }
  relation.view_names = binder.rows_read();
  for (const Binder::RelationRead& read : binder.relations_read()) {
    relation.view_names.push_back(view_name_of(read));
    // A function's rows may be of a temporary table's type without reading the table.
    if (read.name.empty()) continue;
    if (read.table->relation.persistence != Persistence::temporary ||
        relation.persistence == Persistence::temporary) {
      continue;
    }
    relation.schema = session.names.temporary_schema();
    relation.persistence = Persistence::temporary;
    session.notice(sink, Severity::notice, SqlState{"00000"},
                   fmt::format("view \"{}\" will be a temporary view", relation.name));
    if (!statement.view->schemaname.empty()) {
      throw SqlError{SqlState{"42P16"}, "cannot create temporary relation in non-temporary schema"};
    }
  }
  relation.view_types = binder.types_read();
  require_type_usage(session, relation.view_types);
  relation.view_routines = binder.routines_read();
  hold_named(session, relation.view_routines);
  refuse_more_columns(query->targets.size());
  for (std::size_t i = 0; i < query->targets.size(); ++i) {
    Column column;
    column.name = i < statement.aliases.size() ? std::string{ast::string_of(statement.aliases[i])}
                                               : query->targets[i].name;
    column.type = query->targets[i].type;
    column.typmod = query->targets[i].typmod;
    require_type_usage(session, column.type);
    define_collation(column, DefinedIn::view);
    for (const Column& other : relation.columns) {
      if (other.name == column.name) {
        throw_error(SqlState{"42701"}, "column \"{}\" specified more than once", column.name);
      }
    }
    relation.columns.push_back(std::move(column));
  }
  relation.view_sql = view_query_text(whole, *statement.view);
  if (old) {
    if (relation.columns.size() < old->relation.columns.size()) {
      throw SqlError{SqlState{"42P16"}, "cannot drop columns from view"};
    }
    for (std::size_t i = 0; i < old->relation.columns.size(); ++i) {
      const Column& before = old->relation.columns[i];
      const Column& after = relation.columns[i];
      if (after.name != before.name) {
        throw sql_error(SqlState{"42P16"}, "cannot change name of view column \"{}\" to \"{}\"",
                        before.name, after.name)
            .with_hint(
                "Use ALTER VIEW ... RENAME COLUMN ... to change name of view column "
                "instead.");
      }
      if (after.type != before.type || after.typmod != before.typmod) {
        throw_error(SqlState{"42P16"},
                    "cannot change data type of view column \"{}\" from {} to {}", before.name,
                    format_type(before.type, before.typmod), format_type(after.type, after.typmod));
      }
      if (after.collation != before.collation) {
        throw_error(SqlState{"42P16"},
                    "cannot change collation of view column \"{}\" from \"{}\" to \"{}\"",
                    before.name,
                    session.names.collation_name(default_collation(before.expression_type())),
                    session.names.collation_name(default_collation(after.expression_type())));
      }
    }
    if (relation.columns.size() > old->relation.columns.size()) {
      refuse_columns_of_rows(session, *old);
    }
    relation.oid = old->relation.oid;
    relation.row_type = old->relation.row_type;
    relation.array_type = old->relation.array_type;
    relation.comment = old->relation.comment;
    relation.owner = old->relation.owner;
    relation.grants = old->relation.grants;
    relation.triggers = old->relation.triggers;
    session.catalog.replace(*session.transaction, *locked, std::move(relation));
  } else {
    create_relation(session, std::move(relation));
  }
}

}  // namespace swizzle::sql
