// Transaction: the interface of its working state.
#include <fmt/format.h>

#include <utility>

#include "storage/engine_parts.h"
#include "storage/txn/transaction_access.h"
#include "storage/txn/transaction_state.h"

namespace swizzle {

namespace {

constexpr SqlState kConfigurationLimitExceeded{"53400"};

Result<Lsn> commit_and_retire(TransactionState& state, Transaction::Durability durability) {
  INVARIANT(state.is_open);
  EngineParts& engine = state.engine;
  auto dropped = std::move(state.dropped);
  state.dropped.clear();
  // Before the commit; otherwise the ghosts of their rows could be removed as unneeded.
  for (const auto& tree : dropped) engine.trees->retire(tree.id, Lsn::max);
  auto committed = state.commit(durability);
  // A snapshot after the commit's record does not show the tree. Records that others have logged
  // since do not count: they may not be durable for long, and no snapshot would reach them.
  for (const auto& tree : dropped)
    committed ? engine.trees->retire(tree.id, Lsn{raw(*committed) + 1})
              : engine.trees->gone(tree.id);
  if (!committed) {
    // The transaction is prepared as before.
    state.dropped = std::move(dropped);
    return committed;
  }
  engine.transactions->count_commit();
  if (!dropped.empty()) engine.reaper->wake();
  if (state.prepared != nullptr) engine.prepared.forget(*std::exchange(state.prepared, nullptr));
  return committed;
}

}  // namespace

std::unique_ptr<Transaction> TransactionAccess::begin(EngineParts& engine, Isolation isolation,
                                                      Access access) {
  std::unique_ptr<TransactionState> state;
  // Waits only for other transactions of the system itself, which end soon.
  while ((state = engine.transactions->take_state(TransactionPlace::internal)) == nullptr)
    Runtime::current().sleep_until(Runtime::current().now() + std::chrono::milliseconds{1});
  state->begin(isolation, access);
  return handle(std::move(state));
}

Result<std::unique_ptr<Transaction>> TransactionAccess::try_begin(EngineParts& engine,
                                                                  Isolation isolation,
                                                                  Access access,
                                                                  TransactionPlace place) {
  std::unique_ptr<TransactionState> state = engine.transactions->take_state(place);
  if (state == nullptr) [[unlikely]] {
    return fail(Error{kConfigurationLimitExceeded, "too many transactions are open"}.with_hint(
        fmt::format("At most {} can be open at a time. Look in pg_stat_activity for sessions "
                    "that are idle in transaction, and limit their time with "
                    "idle_in_transaction_session_timeout.",
                    TransactionRegistry::kOrdinarySlots)));
  }
  state->begin(isolation, access);
  return handle(std::move(state));
}

Transaction::Transaction(std::unique_ptr<TransactionState> state) noexcept
    : state_(std::move(state)) {}

Transaction::~Transaction() = default;

std::unique_ptr<Transaction> TransactionAccess::handle(std::unique_ptr<TransactionState> state) {
  void* place = state->handle.release();
  if (place == nullptr) place = ::operator new(sizeof(Transaction));
  return std::unique_ptr<Transaction>(new (place) Transaction(std::move(state)));
}

void Transaction::operator delete(Transaction* ended, std::destroying_delete_t) {
  const bool is_open = ended->state_ != nullptr && ended->state_->is_open;
  const bool is_prepared = is_open && ended->state_->prepared != nullptr;
  if (is_open && !is_prepared) ended->rollback();
  std::unique_ptr<TransactionState> state = std::move(ended->state_);
  ended->~Transaction();
  if (state == nullptr) {
    // It has been prepared, and another handle may have the state already.
    ::operator delete(ended);
    return;
  }
  state->handle.reset(ended);
  EngineParts& engine = state->engine;
  if (!is_prepared) {
    engine.transactions->give_state(std::move(state));
    return;
  }
  state->publish = nullptr;
  state->release_snapshot();
  PreparedTransactions::Entry& place = *state->prepared;
  engine.prepared.put(place, std::move(state));
}

TxnId Transaction::id() const noexcept {
  return state_->slot.chain.id.load(std::memory_order_relaxed);
}
std::vector<std::string> Transaction::take_passed_over() noexcept {
  return std::exchange(state_->passed_over, {});
}

std::uint64_t Transaction::leaf_requests() const noexcept {
  return state_->leaf_requests;
}
Isolation Transaction::isolation() const noexcept {
  return state_->isolation;
}

Access Transaction::access() const noexcept {
  return state_->access;
}

void Transaction::restart(Isolation isolation, Access access) noexcept {
  INVARIANT(state_->is_open && state_->prepared == nullptr);
  state_->rollback();
  state_->begin(isolation, access);
}

void Transaction::begin_statement() {
  state_->begin_statement();
}

bool Transaction::shows_all_before(Lsn moment) const noexcept {
  return !keeps_snapshot(state_->isolation) || !state_->own.is_taken || state_->own.lsn >= moment;
}

void Transaction::take_snapshot() {
  if (keeps_snapshot(state_->isolation)) state_->take_own();
}

void Transaction::promise_no_writes() noexcept {
  state_->reads_only = true;
}

bool Transaction::try_safe_snapshot() {
  using Safety = lock::SerializableConflicts::Safety;
  if (state_->isolation != Isolation::serializable_snapshot) return true;
  state_->reads_only = true;
  state_->take_own();
  const Safety safety = state_->conflicts.safety();
  if (safety != Safety::unsafe) return safety == Safety::safe;
  state_->conflicts.rolled_back(state_->engine.registry->visible_end());
  state_->release_snapshot();
  return false;
}

ReadView Transaction::begin_inner(ReadView::Sees sees) {
  return state_->begin_inner(sees);
}

void Transaction::end_inner(const ReadView& outer) noexcept {
  state_->end_inner(outer);
}

ReadView Transaction::hold_view() {
  return state_->hold_view();
}

void Transaction::release_view(const ReadView& view) noexcept {
  state_->release_view(view);
}

bool Transaction::keeps_views() const noexcept {
  return !state_->held_views.empty() || state_->outer_views != 0;
}

ReadView Transaction::exchange_view(const ReadView& view) noexcept {
  return std::exchange(state_->now, view);
}

void Transaction::work_for(lock::OwnerLabel label, const std::string* doing) noexcept {
  state_->work_for(label, doing);
}

void Transaction::count_locks_in(LockMemory& memory) noexcept {
  state_->count_locks_in(memory);
}

Result<bool> Transaction::lock_relation(lock::RelationId relation, lock::RelationMode mode,
                                        WaitPolicy wait) {
  if (!state_->engine.options.locking) return true;
  ASSIGN_OR_RETURN(const lock::Acquired acquired,
                   state_->locks.acquire_relation(relation, mode, state_->wait(wait)));
  return acquired == lock::Acquired::granted;
}

bool Transaction::try_share_relation(lock::RelationId relation) noexcept {
  return state_->locks.try_share_relation(relation);
}

Result<> Transaction::wait_for_holders(lock::RelationId relation, lock::RelationMode mode) {
  if (!state_->engine.options.locking) return {};
  RETURN_IF_ERROR(state_->locks.wait_for_holders(relation, mode, state_->wait(WaitPolicy::wait)));
  return {};
}

void Transaction::before_release(std::function<void()> publish) {
  state_->publish = std::move(publish);
}

void Transaction::set_lock_timeout(Duration timeout) noexcept {
  state_->lock_timeout = timeout;
}
void Transaction::set_deadlock_timeout(Duration timeout) noexcept {
  state_->locks.set_deadlock_timeout(timeout);
}
void Transaction::cancel() noexcept {
  state_->locks.cancel();
}
void Transaction::clear_cancel() noexcept {
  state_->locks.clear_cancel();
}

Transaction::Mark Transaction::mark() const noexcept {
  return {state_->undo != nullptr ? state_->undo->count() : 0,
          std::to_underlying(state_->locks.savepoint())};
}

Result<> Transaction::rollback_to(Mark mark) {
  state_->undo_to(mark.undo_position);
  state_->take_back_noted(mark.undo_position);
  std::erase_if(state_->dropped, [&](const TransactionState::DroppedTree& tree) {
    return tree.undo_records > mark.undo_position;
  });
  // Rows that a serializable transaction has read stay locked, also after a rollback to the
  // savepoint.
  if (!state_->locks_reads())
    state_->locks.release_to(lock::LockMark{static_cast<std::uint32_t>(mark.lock_position)});
  // Wakes the transactions that wait because of undone changes.
  if (state_->marks_rows) state_->locks.lock_transaction(state_->undo->covers);
  return {};
}

Result<> Transaction::commit(Durability durability) {
  if (state_->prepared != nullptr) durability = Durability::synchronous;
  RETURN_IF_ERROR(commit_and_retire(*state_, durability));
  return {};
}

Result<Lsn> Transaction::commit_unforced() {
  return commit_and_retire(*state_, Durability::unforced);
}

void Transaction::depend_on(Lsn commit) noexcept {
  state_->locks.note_read(commit);
}

void Transaction::rollback() noexcept {
  INVARIANT(state_->is_open);
  EngineParts& engine = state_->engine;
  state_->rollback();
  engine.transactions->count_rollback();
  if (state_->prepared == nullptr) return;
  // The client that has prepared it forgets it once it is told of the end, so the end must be
  // durable.
  engine.log->flush_to(engine.log->tail());
  engine.prepared.forget(*std::exchange(state_->prepared, nullptr));
}

}  // namespace swizzle
