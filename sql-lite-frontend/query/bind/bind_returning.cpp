#include <algorithm>

#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/query/bind/find_item.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/sql_error.h"

/// RETURNING, with the rows before and after the write.
namespace swizzle::sql {
namespace {

/// Returns true if a name in the node begins with `table`.
bool names_table(const ast::Node& node, std::string_view table) {
  check_stack();
  if (const auto* column = ast::try_as<ast::ColumnRef>(&node)) {
    const auto* first = ast::try_as<ast::String>(column->fields.front());
    return first != nullptr && first->sval == table;
  }
  bool found = false;
  ast::for_each_child(node,
                      [&](const ast::Node& child) { found = found || names_table(child, table); });
  return found;
}

bool is_table_known(const Scope& scope, std::string_view name) {
  for (const Scope* at = &scope; at != nullptr; at = at->parent) {
    if (find_item(*at, {}, name, -1) != nullptr) return true;
  }
  return false;
}

/// A row of the written relation under another name, which no unqualified name and no star means.
ScopeItem version_of(ScopeItem item, std::string_view alias) {
  item.alias = alias;
  item.schema.clear();
  item.visible.assign(item.columns.size(), false);
  item.reachable = true;
  item.is_version = true;
  for (ScopeColumn& column : item.columns) column.origin.qualifier = alias;
  return item;
}

/// Returns the slot with the hidden id of a version of the written row. An update leaves the id as
/// it is; nothing keeps the id of a row that ON CONFLICT or MERGE replaces.
std::optional<Slot> row_id_of_version(const WriteStatement& write, bool is_old) {
  const std::optional<Slot> written = row_id_slot(*write.table, write.first_slot);
  switch (write.kind) {
    case WriteKind::update:
      return written;
    case WriteKind::delete_:
      return is_old ? written : std::nullopt;
    case WriteKind::insert:
      return is_old ? std::nullopt : written;
    case WriteKind::merge:
      break;
  }
  return std::nullopt;
}

}  // namespace

/// Adds OLD and NEW to the scope, where RETURNING reads them.
void Binder::add_versions(const WriteStatement& write, const ast::ReturningClause& returning,
                          Scope& scope, ReturnedRows& rows) {
  struct Version {
    std::string_view word;
    ast::ReturningOptionKind option;
    std::optional<Slot>& slot;
    std::string_view alias = {};
  };
  Version versions[] = {{"OLD", ast::ReturningOptionKind::old, rows.old_row},
                        {"NEW", ast::ReturningOptionKind::new_, rows.new_row}};
  const auto add = [&](Version& version, std::string_view alias) {
    version.alias = alias;
    const bool is_read = std::ranges::any_of(
        returning.exprs, [&](const ast::Node* node) { return names_table(*node, alias); });
    // The name is taken whether or not it is read.
    ScopeItem item;
    if (is_read) {
      // Slots that nothing fills are NULL.
      if (!version.slot) version.slot = new_slots(row_slots(*write.table));
      item = write_scope(write, *version.slot).items[0];
      const bool is_old = version.option == ast::ReturningOptionKind::old;
      item.is_ended = is_old;
      if (item.row_id_slot) item.row_id_slot = row_id_of_version(write, is_old);
    }
    scope.items.push_back(version_of(std::move(item), alias));
    note_absence(scope.items.back());
  };
  for (const ast::Node* node : returning.options) {
    const auto& option = ast::as<ast::ReturningOption>(node);
    Version& version = *std::ranges::find(versions, option.option, &Version::option);
    if (!version.alias.empty()) {
      throw sql_error(sqlstate::syntax_error, "{} cannot be specified multiple times", version.word)
          .at_position(option.location + 1);
    }
    if (is_table_known(scope, option.value)) {
      throw sql_error(sqlstate::duplicate_alias, "table name \"{}\" specified more than once",
                      option.value)
          .at_position(option.location + 1);
    }
    add(version, option.value);
  }
  for (Version& version : versions) {
    const std::string_view usual = version.option == ast::ReturningOptionKind::old ? "old" : "new";
    if (version.alias.empty() && !is_table_known(scope, usual)) add(version, usual);
  }
}

void Binder::bind_returning(WriteStatement& write, const ast::ReturningClause* returning,
                            Scope& scope, ReturnedRows rows) {
  if (returning == nullptr) return;
  add_versions(write, *returning, scope, rows);
  const ClauseScope clause{scope, Clause::returning};
  bind_targets(returning->exprs, scope, write.returning);
  finish_targets(write.returning, OutputTypes::final);
  write.insert.returns_old = write.insert.conflict.kind == ConflictAction::Kind::update;
  for (const OutputTarget& target : write.returning) {
    note_reads(write, *target.expr, rows.row);
    for (const std::optional<Slot>& version : {rows.old_row, rows.new_row}) {
      if (version && *version != rows.row) note_reads(write, *target.expr, *version);
    }
  }
}

}  // namespace swizzle::sql
