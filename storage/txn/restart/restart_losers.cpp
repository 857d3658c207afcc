#include "storage/txn/restart/restart_losers.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/runtime/asked_to_end.h"
#include "base/runtime/long_work.h"
#include "storage/btree/damage.h"
#include "storage/engine_parts.h"
#include "storage/txn/loads/tree_factory.h"
#include "storage/txn/rows/overflow.h"
#include "storage/txn/transaction_state.h"
#include "storage/txn/undo/patient_rollback.h"

namespace swizzle {
namespace {

bool always(const BackgroundTask& /*task*/, const Error* /*failure*/) {
  return true;
}

bool until_stopped(const BackgroundTask& task, const Error* /*failure*/) {
  return !task.is_stopping();
}

/// For a stop, which does not wait for what only somebody's hand can mend.
bool while_hopeful(const BackgroundTask& /*task*/, const Error* failure) {
  return failure == nullptr || PatientRollback::passes(*failure);
}

}  // namespace

struct RestartLosers::Loser {
  std::unique_ptr<TransactionState> state;
  ChangesFound found;
  ActiveTransaction log;
  /// Trees that are closed to others because of it.
  std::vector<AnyTree*> closed;
  /// The record with which undo goes on.
  std::atomic<Lsn> next{Lsn::none};
  /// False if all its trees are closed without a look at its records.
  bool was_read = true;

  [[nodiscard]] bool has_closed(TreeId tree) const noexcept {
    return std::ranges::any_of(closed, [tree](AnyTree* one) { return one->id() == tree; });
  }
};

RestartLosers::RestartLosers(EngineParts& engine) : engine_(engine) {}
RestartLosers::~RestartLosers() = default;

Result<> RestartLosers::take_up(std::span<const ActiveTransaction> losers) {
  for (const ActiveTransaction& each : losers) RETURN_IF_ERROR(take_up(each));
  return {};
}

Result<> RestartLosers::take_up(const ActiveTransaction& of) {
  auto loser = std::make_unique<Loser>();
  loser->log = of;
  loser->next = of.last;
  ASSIGN_OR_RETURN(loser->state, state_of_unended(engine_, of, Lsn::none));
  TransactionState& state = *loser->state;
  state.slot.chain.is_undoing.store(true, std::memory_order_relaxed);
  const bool is_standby = engine_.replay_gate != nullptr;
  Result<> taken;
  if (closes_all_trees(of)) {
    loser->was_read = false;
    for (const OpenChanges::OfTree& tree : of.changes.trees) loser->found.trees.insert(tree.tree);
    loser->found.large = loser->found.trees;
    loser->found.owed_bytes = of.changes.undo_bytes;
    taken = lock_trees(*loser);
  } else {
    taken = read_changes(*loser);
  }
  if (taken) taken = engine_.log->reserve_rollback_space(loser->found.owed_bytes);
  // Nothing else is in such a tree.
  for (const ChangesFound::Root& root : loser->found.roots)
    if (taken && !is_standby) taken = engine_.trees->destroy(root.tree, root.page);
  if (!taken) {
    // On a standby others go on with the index of versions.
    is_standby ? state.forget() : state.abandon();
    return taken;
  }
  close_trees(*loser);
  const std::lock_guard hold(mutex_);
  losers_.push_back(std::move(loser));
  count_.store(losers_.size(), std::memory_order_release);
  return {};
}

/// Returns true if the checkpoint and the log after it tell all that is to be known of the loser
/// before it is undone. The directory and large values are read, since trees that others read have
/// rows there.
bool RestartLosers::closes_all_trees(const ActiveTransaction& of) const {
  const OpenChanges& changes = of.changes;
  // On a standby they end when the primary says so: a tree would be closed for as long as that.
  if (engine_.replay_gate != nullptr || !engine_.options.locking) return false;
  if (!changes.is_known || changes.undo_bytes <= most_read_bytes.load()) return false;
  return std::ranges::all_of(changes.trees, [](const OpenChanges::OfTree& tree) {
    return tree.tree != TreeId::directory && tree.tree != kOverflowTree &&
           tree.records > most_open_rows.load();
  });
}

/// Reads the loser's records from the newest to the oldest.
Result<> RestartLosers::read_changes(Loser& loser) {
  std::unique_ptr<UndoLog> backward = engine_.transactions->take_undo();
  const bool is_standby = engine_.replay_gate != nullptr;
  ChangesBackward changes(engine_, *backward,
                          is_standby ? ChangesBackward::kAnyNumber : most_open_rows.load());
  auto taken = changes.read(loser.log.last);
  loser.found = changes.found();
  if (taken) taken = lock_trees(loser);
  if (taken) taken = ChangesForward(*loser.state, {}, loser.found).take_all(*backward);
  engine_.transactions->give_undo(std::move(backward));
  return taken;
}

/// The locks that keep loads away, and all who want the whole tree. At the crash the transaction
/// had them, so nobody is in the way.
Result<> RestartLosers::lock_trees(Loser& loser) {
  if (!engine_.options.locking) return {};
  lock::LockOwner& locks = loser.state->locks;
  locks.lock_transaction(loser.state->undo->covers);
  for (const TreeId tree : loser.found.trees) {
    if (loser.found.created.contains(tree)) continue;
    const lock::TableMode mode = loser.found.loaded.contains(tree)
                                     ? lock::TableMode::exclusive
                                     : lock::TableMode::intent_exclusive;
    RETURN_IF_ERROR(locks.acquire_table(tree, mode, lock::kNoWait));
  }
  return {};
}

/// Others do not find the trees that it created, and see none of the records that it loaded.
void RestartLosers::close_trees(Loser& loser) {
  if (loser.found.large.empty()) return;
  engine_.ghosts.keep_all(true);
  for (const TreeId id : loser.found.large) {
    if (loser.found.created.contains(id) || loser.found.loaded.contains(id)) continue;
    const auto tree = engine_.trees->find(id);
    if (!tree) continue;
    (*tree)->birth().close();
    loser.closed.push_back(*tree);
  }
}

void RestartLosers::start() {
  if (count() == 0) return;
  task_.start("rollback", [this] { work(until_stopped); });
}

void RestartLosers::finish() {
  work(always);
}

void RestartLosers::finish_for_stop() {
  work(while_hopeful);
}

void RestartLosers::wait_until_done() const {
  constexpr Duration kPause = std::chrono::milliseconds{1};
  while (count() != 0 && !is_asked_to_end())
    Runtime::current().sleep_until(Runtime::current().now() + kPause);
}

void RestartLosers::work(GoesOn goes_on) {
  while (goes_on(task_, nullptr)) {
    Loser* const loser = next();
    if (loser == nullptr || !undo(*loser, goes_on)) return;
    end(*loser);
  }
}

/// Those that close no tree come first: they are through in a moment.
RestartLosers::Loser* RestartLosers::next() const {
  const std::lock_guard hold(mutex_);
  const auto found = std::ranges::min_element(
      losers_, {}, [](const auto& loser) { return loser->found.large.size(); });
  return found == losers_.end() ? nullptr : found->get();
}

bool RestartLosers::undo(Loser& loser, GoesOn goes_on) {
  const UnendedScope to_its_end;
  TransactionState& state = *loser.state;
  if (loser.found.large.empty()) {
    state.undo_to(0);
    return true;
  }
  wal::Reader reader = engine_.log->reader(wal::ReadPattern::random);
  UndoChain steps(reader, loser.next.load());
  const auto may_wait = [&](const Error& failure) { return goes_on(task_, &failure); };
  while (goes_on(task_, nullptr)) {
    std::optional<UndoStep> step;
    const auto read_step = [&]() -> Result<> {
      ASSIGN_OR_RETURN(step, steps.next());
      return {};
    };
    if (!patiently(read_step, may_wait)) return false;
    if (!step) return true;
    state.slot.chain.is_undoing.store(true, std::memory_order_relaxed);
    if (!patiently([&] { return undo_step(loser, *step); }, may_wait)) return false;
    loser.next.store(step->undo_next);
    unending_yield_point(kUnknownWork);
  }
  return false;
}

/// The undo log has the rows of the open trees, the newest on top, in the order of the steps.
Result<> RestartLosers::undo_step(Loser& loser, const UndoStep& step) {
  TransactionState& state = *loser.state;
  if (step.kind == RecordKind::page_image) return {};
  const bool is_kept =
      step.kind == RecordKind::load_begun || !loser.found.large.contains(step.tree);
  if (!is_kept) return undo_closed_step(loser, step);
  const auto undo_newest = [&] { state.undo_to(state.undo->count() - 1); };
  while (state.undo->count() != 0 && state.undo->newest()->previous_lsn == step.lsn) undo_newest();
  INVARIANT(state.undo->count() != 0);
  undo_newest();
  return {};
}

/// Its rows become undo records one at a time: each finds its leaf as its change left it, since all
/// newer changes are undone.
Result<> RestartLosers::undo_closed_step(Loser& loser, const UndoStep& step) {
  TransactionState& state = *loser.state;
  ASSIGN_OR_RETURN(const std::vector<UndoneRow> rows, rows_of(step));
  for (const UndoneRow& row : rows) {
    if (row.may_be_done) {
      ASSIGN_OR_RETURN(const bool is_back, is_undone(engine_, step, row));
      if (is_back) continue;
    }
    ChangesBackward change(engine_, *state.undo);
    // Until its last row is back, undo comes back to the record.
    const Lsn previous = &row == &rows.back() ? step.undo_next : step.lsn;
    if (auto added = change.add_row(step, row, previous); !added) {
      if (!is_unreadable(added.error())) return added;
      report_row_given_up(step.tree, added.error());
      continue;
    }
    engine_.versions.add(*state.undo->newest(), PageId::none);
    state.undo_to(state.undo->count() - 1);
    state.slot.chain.is_undoing.store(true, std::memory_order_relaxed);
  }
  return {};
}

void RestartLosers::end(Loser& loser) {
  std::unique_ptr<Loser> own;
  bool is_last_large = true;
  {
    const std::lock_guard hold(mutex_);
    const auto at = std::ranges::find(losers_, &loser, &std::unique_ptr<Loser>::get);
    own = std::move(*at);
    losers_.erase(at);
    for (AnyTree* const tree : own->closed) {
      const bool is_closed = std::ranges::any_of(
          losers_, [&](const auto& other) { return other->has_closed(tree->id()); });
      if (!is_closed) tree->birth().open();
    }
    for (const auto& other : losers_) is_last_large = is_last_large && other->found.large.empty();
  }
  if (is_last_large) engine_.ghosts.keep_all(false);
  const TxnId id = own->log.id;
  own->state->rollback();
  if (own->found.owed_bytes != 0) engine_.log->release_rollback_space(own->found.owed_bytes);
  engine_.transactions->count_rollback();
  engine_.transactions->give_state(std::move(own->state));
  count_.fetch_sub(1, std::memory_order_release);
  if (!own->found.large.empty()) spdlog::info("transaction {} is rolled back", raw(id));
  if (count() == 0) spdlog::info("all transactions that the stop interrupted are rolled back");
}

void RestartLosers::forget() noexcept {
  const std::lock_guard hold(mutex_);
  for (const auto& loser : losers_) {
    loser->state->forget();
    engine_.transactions->give_state(std::move(loser->state));
  }
  losers_.clear();
  count_.store(0, std::memory_order_release);
}

void RestartLosers::abandon() noexcept {
  const std::lock_guard hold(mutex_);
  for (const auto& loser : losers_) loser->state->abandon();
  losers_.clear();
  count_.store(0, std::memory_order_release);
}

lock::TransactionLock RestartLosers::holder_of(TreeId tree, Changed what) const {
  const std::lock_guard hold(mutex_);
  for (const auto& loser : losers_) {
    const bool has =
        what == Changed::rows ? loser->found.trees.contains(tree) : loser->has_closed(tree);
    if (has) return loser->state->undo->covers.load(std::memory_order_relaxed);
  }
  return lock::TransactionLock::none;
}

std::set<TreeId> RestartLosers::changed_trees() const {
  std::set<TreeId> trees;
  const std::lock_guard hold(mutex_);
  for (const auto& loser : losers_)
    trees.insert(loser->found.trees.begin(), loser->found.trees.end());
  return trees;
}

bool RestartLosers::has_dropped(TreeId tree) const {
  const std::lock_guard hold(mutex_);
  return std::ranges::any_of(losers_, [&](const auto& loser) {
    return std::ranges::any_of(loser->state->dropped,
                               [&](const auto& dropped) { return dropped.id == tree; });
  });
}

bool RestartLosers::has_created(TreeId tree) const {
  const std::lock_guard hold(mutex_);
  return std::ranges::any_of(
      losers_, [&](const auto& loser) { return loser->found.created.contains(tree); });
}

std::vector<RestartRollback> RestartLosers::list() const {
  std::vector<RestartRollback> all;
  const std::lock_guard hold(mutex_);
  for (const auto& loser : losers_) {
    const std::uint64_t first = raw(loser->log.first);
    const std::uint64_t last = raw(loser->log.last);
    // Undo goes on behind the first record at the latest.
    const std::uint64_t next = std::max(raw(loser->next.load()), first);
    all.push_back({.id = loser->log.id,
                   .log_bytes = last - first,
                   .undone_bytes = last - std::min(next, last),
                   .closed_trees = loser->closed.size(),
                   .was_read = loser->was_read});
  }
  return all;
}

}  // namespace swizzle
