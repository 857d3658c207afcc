// Locks on catalog objects, and the treatment of definitions that have changed since they were
// found.
#include <algorithm>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/catalog/catalog.h"
#include "sql-lite-frontend/catalog/catalog_keys.h"
#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

/// Exceeded only if others change definitions as fast as a statement looks names up.
constexpr int kMostAttempts = 100;

}  // namespace

void CatalogView::Resolution::begin(CatalogView& view, Transaction& transaction) {
  view_ = &view;
  outer_ = view.resolution_;
  view.resolution_ = nullptr;
  // The first attempts may have locked an object whose name belongs to another now: do not keep
  // these locks.
  if (attempts_++ < 2) held_.clear();
  for (const Held& held : held_) view.lock(transaction, held.oid, held.mode);
  version_ = view.catalog_.version();
  mark_ = view.mark();
  view.resolution_ = this;
}

void CatalogView::Resolution::end() noexcept {
  if (view_ != nullptr) view_->resolution_ = outer_;
  view_ = nullptr;
}

bool CatalogView::Resolution::holds(Oid oid, lock::RelationMode mode) const noexcept {
  return std::ranges::any_of(held_, [&](const Held& held) {
    return held.oid == oid &&
           (held.mode == mode || held.mode == lock::RelationMode::access_exclusive);
  });
}

/// Once the statement has written, only changes during the wait count: it has locked all objects
/// found by then, and may have worked for long.
void CatalogView::look_again_if_moved(std::uint64_t before) const {
  if (resolution_ == nullptr || resolution_->attempts_ > kMostAttempts) return;
  const bool has_changed = changes_.size() != resolution_->mark_;
  if (catalog_.version() != (has_changed ? before : resolution_->version_))
    throw DefinitionsMoved{};
}

void CatalogView::lock(Transaction& transaction, Oid oid, lock::RelationMode mode) {
  const std::uint64_t before = catalog_.version();
  value_of(transaction.lock_relation(lock::RelationId{oid}, mode));
  if (resolution_ == nullptr || resolution_->holds(oid, mode)) return;
  resolution_->held_.push_back({oid, mode});
  look_again_if_moved(before);
}

void CatalogView::hold(Transaction& transaction, Oid oid) {
  const TypeId type{oid};
  // A relation's row type exists as long as the relation: lock that.
  const bool is_of_relation = is_composite(type) && !this->type(oid);
  lock(transaction, is_of_relation ? oid - kFirstComposite : oid, lock::RelationMode::access_share);
}

TablePtr CatalogView::lock_for_change(Transaction& transaction, const TablePtr& table,
                                      lock::RelationMode mode) {
  yield_point(kUnknownWork);
  const Oid oid = table->relation.oid;
  const std::uint64_t before = catalog_.version();
  lock(transaction, oid, mode);
  // Weak modes let several definitions in: their changes of the one record take turns.
  const std::string lock = object_key(catalog_.database(), RecordKind::lock, oid);
  ValueBuffer buffer;
  const bool found =
      value_of(catalog_.tree().get(transaction, as_bytes(lock), buffer, ReadMode::for_update));
  const TablePtr newest = this->table(oid);
  if (newest != table) look_again_if_moved(before);
  if (!found || !newest) {
    throw_error(sqlstate::undefined_table, "relation \"{}\" does not exist", table->relation.name);
  }
  return newest;
}

TypePtr CatalogView::lock_type(Transaction& transaction, const UserType& type,
                               lock::RelationMode mode) {
  lock(transaction, type.oid, mode);
  TypePtr newest = this->type(type.oid);
  if (!newest) throw_error(sqlstate::undefined_object, "type \"{}\" does not exist", type.name);
  return newest;
}

RoutinePtr CatalogView::lock_routine(Transaction& transaction, const Routine& routine) {
  lock(transaction, routine.oid, lock::RelationMode::access_exclusive);
  RoutinePtr newest = this->routine(routine.oid);
  if (!newest) {
    throw_error(sqlstate::undefined_function, "function \"{}\" does not exist", routine.name);
  }
  return newest;
}

}  // namespace swizzle::sql
