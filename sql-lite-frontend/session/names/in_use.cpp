#include "sql-lite-frontend/session/names/in_use.h"

#include <algorithm>

#include "sql-lite-frontend/bound/session_services.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kObjectInUse{"55006"};

bool reads(const Portal& portal, Oid relation) {
  if (portal.state != Portal::State::running || !portal.use) return false;
  return std::ranges::any_of(
      portal.plan().tables, [&](const TablePtr& table) { return table->relation.oid == relation; });
}

void require_unread(const Session::State& session, const Table& table, std::string_view command,
                    std::string_view name) {
  const bool is_read = std::ranges::any_of(session.portals.all(), [&](const auto& entry) {
    return reads(*entry.second, table.relation.oid);
  });
  if (!is_read) return;
  throw_error(kObjectInUse,
              "cannot {} \"{}\" because it is being used by active queries in this session",
              command, name);
}

}  // namespace

void require_unused(const Session::State& session, const Table& table, std::string_view command) {
  if (!keeps_rows(table.relation.kind)) return;
  require_unread(session, table, command, table.relation.name);
  if (!session.transaction.awaits_checks_of(table.relation.oid)) return;
  throw_error(kObjectInUse, "cannot {} \"{}\" because it has pending trigger events", command,
              table.relation.name);
}

void require_indexes_unused(const Session::State& session, const Table& table,
                            std::string_view command) {
  const std::vector<Index>& indexes = table.relation.indexes;
  if (!indexes.empty()) require_unread(session, table, command, indexes.front().name);
}

void hold_named(Session::State& session, std::span<const ViewRoutine> named) {
  for (const ViewRoutine& one : named) {
    const Oid oid = one.routine;
    if (oid < kFirstUserOid) continue;
    session.catalog.lock(*session.transaction, oid, lock::RelationMode::access_share);
    // It may have gone while this waited.
    const bool is_there = session.catalog.routine(oid) || session.names.made_operator(oid) ||
                          session.catalog.made<UserTextConfig>(oid) ||
                          session.catalog.made<UserTextDictionary>(oid);
    if (is_there) continue;
    const std::string_view name = one.name;
    for (const auto& [mark, kind] : {std::pair{kTextConfigRecord, "configuration"},
                                     std::pair{kTextDictionaryRecord, "dictionary"}}) {
      if (!name.starts_with(mark)) continue;
      throw_error(sqlstate::undefined_object, "text search {} \"{}\" does not exist", kind,
                  name.substr(mark.size()));
    }
    throw_error(sqlstate::undefined_function, "function \"{}\" does not exist", name);
  }
}

}  // namespace swizzle::sql
