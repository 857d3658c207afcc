#pragma once

#include <functional>

#include "sql-lite-frontend/catalog/subscription.h"
#include "sql-lite-frontend/publisher.h"
#include "sql-lite-frontend/session/state/session_state.h"

namespace swizzle::sql {

/// The first copy of a subscription's table.
struct TableCopy {
  Session& session;
  PublisherDoor& door;
  const Subscription& subscription;
  TablePtr table;
  /// Called repeatedly while rows come. May throw.
  std::function<void()> waits;
};

/// Copies the published rows by a connection of its own, from the snapshot of a temporary slot, in
/// one transaction with the table's state `copied`: an error or a crash leaves nothing of it.
/// Returns that state.
std::expected<SubscribedTable, Diagnostic> copy_table(const TableCopy& copy);

}  // namespace swizzle::sql
