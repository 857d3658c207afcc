#include "sql-lite-frontend/statement/names/shown_policy.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/query/bind/binding_notes.h"
#include "sql-lite-frontend/query/text/query_text.h"
#include "sql-lite-frontend/statement/names/definitions.h"
#include "sql-lite-frontend/statement/names/or_stored_text.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/functions/text/quoting.h"

namespace swizzle::sql {
namespace {

constexpr std::string_view kSelectWord = "SELECT ";

/// Returns column aliases for the table, so that it has the names that the condition uses; empty if
/// it still has them.
std::string renamed_columns(const Relation& table, const ViewName& known) {
  bool is_same = table.name == known.name;
  std::string list;
  for (const ViewColumn& was : known.columns) {
    const Column& now = table.columns[static_cast<std::size_t>(was.number) - 1];
    if (now.dropped) continue;
    is_same = is_same && now.name == was.name;
    if (!list.empty()) list += ", ";
    list += fmt::format("{}.{} AS {}", quote_identifier(table.name), quote_identifier(now.name),
                        quote_identifier(was.name));
  }
  return is_same ? std::string{} : list;
}

/// Returns the condition as stored, with the objects' current names and without its SELECT.
std::string as_written(StatementContext& session, const Table& table,
                       const PolicyCondition& condition) {
  Relation text;
  text.view_sql = condition.sql;
  text.view_names = condition.names;
  text.view_routines = condition.routines;
  const std::string select = with_present_names(session, text);
  const ViewName& known = condition.names.front();
  const std::string renamed = renamed_columns(table.relation, known);
  if (renamed.empty()) return "(" + select.substr(kSelectWord.size()) + ")";
  return fmt::format("({} FROM (SELECT {}) {})", select, renamed, quote_identifier(known.name));
}

/// Prints the bound condition. Throws SqlError if it cannot be bound or printed.
std::string printed(StatementContext& session, const TablePtr& table,
                    const PolicyCondition& condition) {
  Arena arena;
  Binder binder{session.names, arena};
  BindingNotes notes;
  binder.note_bindings(notes);
  const Slot first = binder.new_slots(table->relation.columns.size());
  binder.read_policy(condition, table, first);
  return condition_text(*notes.condition, *table, first, notes, binder, {});
}

}  // namespace

std::string shown_policy_condition(StatementContext& session, const TablePtr& table,
                                   const PolicyCondition& condition) {
  return or_stored_text(condition.sql, [&] {
    Arena arena;
    Binder binder{session.names, arena};
    const Slot first = binder.new_slots(table->relation.columns.size());
    const ExprPtr bound = binder.bind_policy(condition, table, first);
    if (!binder.pending().empty()) {
      std::string text = or_stored_text({}, [&] { return printed(session, table, condition); });
      return text.empty() ? as_written(session, *table, condition) : text;
    }
    walk(*bound, [&](Expr& part) {
      auto* const column = dynamic_cast<SlotExpr*>(&part);
      if (column != nullptr) column->rename(table->relation.columns[column->slot() - first].name);
    });
    ExprPrinter printer{.out = {}, .context = &session.session_context, .breaks_lines = true};
    printer.print(*bound);
    return std::move(printer.out);
  });
}

bool policy_reads(StatementContext& session, const TablePtr& table,
                  const PolicyCondition& condition, const Table& of, std::size_t position) {
  if (!condition.is_given()) return false;
  Arena arena;
  Binder binder{session.names, arena};
  const Slot first = binder.new_slots(table->relation.columns.size());
  binder.read_policy(condition, table, first);
  const auto column = static_cast<Slot>(position);
  if (of.relation.oid == table->relation.oid && binder.is_used(first + column)) return true;
  return std::ranges::any_of(binder.relations_read(), [&](const Binder::RelationRead& read) {
    return read.table->relation.oid == of.relation.oid && read.has_slots &&
           binder.is_used(read.first_slot + column);
  });
}

}  // namespace swizzle::sql
