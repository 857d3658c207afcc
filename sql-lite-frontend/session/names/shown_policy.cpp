#include "sql-lite-frontend/session/names/shown_policy.h"

#include <algorithm>

#include "sql-lite-frontend/bind/binder.h"
#include "sql-lite-frontend/session/names/definitions.h"
#include "sql-lite-frontend/session/state/session_state.h"

namespace swizzle::sql {
namespace {

constexpr std::string_view kSelect = "SELECT ";

/// With the names that things have now, and without SELECT before it.
std::string as_written(Session::State& session, const PolicyCondition& condition) {
  Relation text;
  text.view_sql = condition.sql;
  text.view_names = condition.names;
  text.view_routines = condition.routines;
  return "(" + with_present_names(session, text).substr(kSelect.size()) + ")";
}

}  // namespace

std::string shown_policy_condition(Session::State& session, const TablePtr& table,
                                   const PolicyCondition& condition) {
  Arena arena;
  Binder binder{session.names, arena};
  const Slot first = binder.new_slots(table->relation.columns.size());
  const ExprPtr bound = binder.bind_policy(condition, table, first);
  if (!binder.pending().empty()) return as_written(session, condition);
  walk(*bound, [&](Expr& part) {
    auto* const column = dynamic_cast<SlotExpr*>(&part);
    if (column != nullptr) column->rename(table->relation.columns[column->slot() - first].name);
  });
  ExprPrinter printer{.out = {}, .context = &session.session_context, .breaks_lines = true};
  printer.print(*bound);
  return std::move(printer.out);
}

bool policy_reads(Session::State& session, const TablePtr& table, const PolicyCondition& condition,
                  const Table& of, std::size_t position) {
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
