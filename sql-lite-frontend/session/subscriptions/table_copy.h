#pragma once

#include <functional>
#include <string>

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
  std::string slot;  ///< to be created at the publisher
  /// Called repeatedly while rows come. May throw.
  std::function<void()> waits;
};

/// Copies the published rows by a connection of its own, from the snapshot of a slot that it
/// creates. The rows, the table's state `finished` and its position commit together: an error or a
/// crash leaves the slot alone. Returns the position; the slot has all changes from there on.
std::expected<Lsn, Diagnostic> copy_table(const TableCopy& copy);

}  // namespace swizzle::sql
