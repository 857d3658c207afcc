#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/catalog/catalog.h"
#include "sql-lite-frontend/catalog/subscription.h"

/// Records of subscriptions, of their tables, and of the positions up to which their publishers'
/// changes have been applied. They are in the catalog's tree, and read when they are needed, since
/// the catalog does not keep them in memory.
namespace swizzle::sql {

/// Returns the subscriptions of the database that the transaction sees, by ascending oid.
std::vector<Subscription> read_subscriptions(Catalog& catalog, Transaction& transaction);
/// The same for a database whose catalog is not open.
std::vector<Subscription> read_subscriptions(Tree tree, Oid database, Transaction& transaction);
std::optional<Subscription> find_subscription(Catalog& catalog, Transaction& transaction,
                                              std::string_view name);
std::optional<Subscription> read_subscription(Catalog& catalog, Transaction& transaction, Oid oid);
/// Locks the record until the transaction ends. Returns its newest version; nothing if it has been
/// dropped.
std::optional<Subscription> lock_subscription(Catalog& catalog, Transaction& transaction, Oid oid);

/// Throws 42710 if the name is taken. Keeps the owner from being dropped.
void insert_subscription(CatalogView& catalog, Transaction& transaction,
                         const Subscription& subscription);
/// Pre: `old` is the newest version, and locked.
void replace_subscription(CatalogView& catalog, Transaction& transaction, const Subscription& old,
                          const Subscription& subscription);
/// Removes its tables and its position as well. Pre: locked.
void remove_subscription(Catalog& catalog, Transaction& transaction,
                         const Subscription& subscription);

/// Returns the tables of one subscription, or (kNoOid) of all.
std::vector<SubscribedTable> read_subscribed_tables(Catalog& catalog, Transaction& transaction,
                                                    Oid subscription);
/// The same for a database whose catalog is not open.
std::vector<SubscribedTable> read_subscribed_tables(Tree tree, Oid database,
                                                    Transaction& transaction, Oid subscription);
/// Adds the table, or changes its state. Returns false, and does nothing, if `must_exist` and the
/// table is not of the subscription any more.
enum class TableRecord { may_be_new, must_exist };
bool put_subscribed_table(Catalog& catalog, Transaction& transaction, const SubscribedTable& table,
                          TableRecord record);
/// Removes the position of its copy as well.
void remove_subscribed_table(Catalog& catalog, Transaction& transaction, Oid subscription,
                             Oid table);
/// Removes a dropped table from all subscriptions. Throws 22023 if its first copy is not complete:
/// then the publisher may have a slot for it.
void forget_subscribed_table(Catalog& catalog, Transaction& transaction, Oid table,
                             std::string_view name);

/// Returns the position of the publisher's log before which everything has been applied; none at
/// the beginning.
Lsn read_applied_position(Catalog& catalog, Transaction& transaction, const FollowerId& follower);
void put_applied_position(Catalog& catalog, Transaction& transaction, const FollowerId& follower,
                          Lsn lsn);
void remove_applied_position(Catalog& catalog, Transaction& transaction,
                             const FollowerId& follower);

// A publisher's prepared transaction leaves a mark, which others see once it has committed here.
// `number` is the publisher's.
void put_prepared_mark(Catalog& catalog, Transaction& transaction, Oid subscription,
                       std::uint32_t number);
[[nodiscard]] bool has_prepared_mark(Catalog& catalog, Transaction& transaction, Oid subscription,
                                     std::uint32_t number);
void remove_prepared_mark(Catalog& catalog, Transaction& transaction, Oid subscription,
                          std::uint32_t number);

}  // namespace swizzle::sql
