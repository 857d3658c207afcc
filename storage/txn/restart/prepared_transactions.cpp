#include "storage/txn/restart/prepared_transactions.h"

#include <fmt/format.h>

#include <algorithm>

#include "storage/txn/transaction_state.h"

namespace swizzle {
namespace {

constexpr SqlState kDuplicateObject{"42710"};

}  // namespace

PreparedTransactions::PreparedTransactions() = default;
PreparedTransactions::~PreparedTransactions() = default;

Result<PreparedTransactions::Entry*> PreparedTransactions::reserve(PreparedTransaction transaction,
                                                                   std::size_t most) {
  const std::lock_guard hold(mutex_);
  if (entries_.contains(transaction.gid))
    return fail(kDuplicateObject,
                fmt::format("transaction identifier \"{}\" is already in use", transaction.gid));
  if (entries_.size() >= most)
    return fail(
        Error{sqlstate::out_of_memory, "maximum number of prepared transactions reached"}.with_hint(
            fmt::format("Increase \"max_prepared_transactions\" (currently {}).", most)));
  auto entry = std::make_unique<Entry>();
  entry->shown = std::move(transaction);
  entry->shown.state = PreparedTransaction::State::busy;
  const std::string gid = entry->shown.gid;
  return entries_.emplace(gid, std::move(entry)).first->second.get();
}

void PreparedTransactions::put(Entry& entry, std::unique_ptr<TransactionState> state) {
  const std::lock_guard hold(mutex_);
  state->prepared = &entry;
  entry.shown.state = PreparedTransaction::State::waiting;
  entry.state = std::move(state);
}

Result<std::unique_ptr<TransactionState>> PreparedTransactions::take(std::string_view gid) {
  const std::lock_guard hold(mutex_);
  const auto found = entries_.find(gid);
  if (found == entries_.end())
    return fail(sqlstate::undefined_object,
                fmt::format("prepared transaction with identifier \"{}\" does not exist", gid));
  Entry& entry = *found->second;
  if (entry.state == nullptr)
    return fail(sqlstate::object_not_in_prerequisite_state,
                fmt::format("prepared transaction with identifier \"{}\" is busy", gid));
  entry.shown.state = PreparedTransaction::State::busy;
  return std::move(entry.state);
}

void PreparedTransactions::forget(Entry& entry) noexcept {
  const std::lock_guard hold(mutex_);
  entries_.erase(entries_.find(entry.shown.gid));
}

std::vector<PreparedTransaction> PreparedTransactions::list() const {
  std::vector<PreparedTransaction> all;
  const std::lock_guard hold(mutex_);
  for (const auto& [gid, entry] : entries_) all.push_back(entry->shown);
  return all;
}

std::size_t PreparedTransactions::count() const {
  const std::lock_guard hold(mutex_);
  return entries_.size();
}

std::string PreparedTransactions::gid_of(TxnId id) const {
  const std::lock_guard hold(mutex_);
  for (const auto& [gid, entry] : entries_)
    if (entry->shown.id == id) return gid;
  return {};
}

bool PreparedTransactions::has_dropped(TreeId tree) const {
  const std::lock_guard hold(mutex_);
  return std::ranges::any_of(entries_, [&](const auto& named) {
    const TransactionState* const state = named.second->state.get();
    return state != nullptr &&
           std::ranges::any_of(state->dropped, [&](const TransactionState::DroppedTree& dropped) {
             return dropped.id == tree;
           });
  });
}

std::set<TreeId> PreparedTransactions::created_trees() const {
  std::set<TreeId> trees;
  const std::lock_guard hold(mutex_);
  for (const auto& [gid, entry] : entries_)
    if (entry->state != nullptr)
      trees.insert(entry->state->created.begin(), entry->state->created.end());
  return trees;
}

void PreparedTransactions::abandon() noexcept {
  const std::lock_guard hold(mutex_);
  for (const auto& [gid, entry] : entries_) {
    if (entry->state == nullptr) continue;
    entry->state->abandon();
    entry->state.reset();
  }
  entries_.clear();
}

}  // namespace swizzle
