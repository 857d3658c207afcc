#include "storage/standby/standby_engine.h"

#include <fmt/format.h>

#include <utility>

#include "storage/engine.h"
#include "storage/engine_parts.h"
#include "storage/txn/loads/tree_factory.h"
#include "storage/txn/restart/restart_prepared.h"

namespace swizzle {
namespace {

/// Readers may be kept out for so long at a time while others are waited for.
constexpr Duration kLongestStall = std::chrono::milliseconds{50};
/// Between two tries to find nobody inside, at least and at most.
constexpr Duration kShortestPause = std::chrono::milliseconds{50};
constexpr Duration kLongestPause = std::chrono::milliseconds{500};
/// Readers that are cancelled may take so long to end, and are cancelled again then.
constexpr Duration kToEnd = std::chrono::seconds{1};

/// Pages that could not be redone when the others were: readers are refused. Changed only while
/// nobody reads.
class UnredonePages final : public LackingPages {
 public:
  [[nodiscard]] bool contains(PageId page) const noexcept override { return pages_.contains(page); }
  Result<Lsn> read(PageId page, std::byte* /*into*/) override {
    return fail(sqlstate::data_corrupted,
                fmt::format("page {} could not be redone yet", raw(page)));
  }
  void erase(PageId /*page*/) noexcept override {}
  void replace(const std::vector<DirtyPage>& pages) {
    pages_.clear();
    for (const DirtyPage& page : pages) pages_.insert(page.page);
  }

 private:
  std::unordered_set<PageId> pages_;
};

UnredonePages& unredone_of(EngineParts& parts) noexcept {
  return static_cast<UnredonePages&>(*parts.unredone);
}

EngineOptions reading_options(EngineOptions options) {
  // There are no writers that a reader would have to be kept from.
  options.locking = false;
  options.pool_preload = false;
  options.archive = {};
  options.archive_command.clear();
  return options;
}

Result<> open_reading_store(EngineParts& parts, const Checkpoint& at) {
  ASSIGN_OR_RETURN(parts.space,
                   SpaceMap::load(parts.files, parts.directory, *parts.volume, at.begin, at.begin));
  parts.repair = std::make_unique<PageRepair>(*parts.volume, *parts.log);
  const auto mend = [&parts](PageId page, Lsn newest, std::byte* into) {
    return parts.repair->mend(page, newest, into);
  };
  parts.pending = std::make_unique<PendingPages>(PendingPageMap{});
  parts.page_redo = std::make_unique<PageRedo>(PageRedo::Parts{
      *parts.volume, *parts.log, *parts.repair, *parts.pending, parts.given_up.get(), false});
  auto unredone = std::make_unique<UnredonePages>();
  unredone->replace(at.dirty);
  parts.unredone = std::move(unredone);
  parts.store = std::make_unique<DataFile>(
      *parts.volume, *parts.space, mend, [&parts] { return parts.log->durable(); },
      parts.given_up.get(), parts.unredone.get());
  return {};
}

/// No task is started: nothing is written.
Result<> open_reading_trees(EngineParts& parts) {
  parts.registry = std::make_unique<TransactionRegistry>(*parts.log);
  parts.tree_log = std::make_unique<WalTreeLog>(*parts.log);
  parts.flusher = std::make_unique<LogFlusher>(*parts.log);
  parts.transactions = std::make_unique<TransactionPool>(parts);
  parts.reclaimer = std::make_unique<VersionReclaimer>(*parts.transactions);
  ASSIGN_OR_RETURN(auto factory,
                   make_tree_factory(parts.options, *parts.store, *parts.tree_log, parts.ghosts));
  parts.tidier = std::make_unique<LeafTidier>(parts);
  parts.trees = std::make_unique<TreeTable>(std::move(factory), *parts.tidier);
  parts.ghosts.know(*parts.trees);
  parts.reaper = std::make_unique<TreeReaper>(parts);
  ASSIGN_OR_RETURN(auto slots,
                   LogSlots::open(parts.files, parts.directory, parts.volume->database_id()));
  parts.logical = std::make_unique<LogicalLog>(parts, std::move(slots));
  return parts.trees->open_directory(parts.control->current().directory_root);
}

}  // namespace

Result<std::unique_ptr<Engine>> StandbyEngine::open(const Control& reached,
                                                    const EngineOptions& options) {
  const Checkpoint& at = reached.checkpoint;
  if (options.pool_mode == PoolMode::main_memory)
    return fail(sqlstate::feature_not_supported,
                "a standby in pool mode main_memory cannot be read");
  std::unique_ptr<Engine> engine(new Engine(
      std::make_unique<Engine::Parts>(files_.files, files_.directory, reading_options(options))));
  EngineParts& parts = *engine->parts_;
  parts.replay_gate = gate_.get();
  parts.oldest_log = &files_.oldest_log;
  engine->own_gate_ = gate_;
  engine->gate_.store(gate_.get(), std::memory_order_release);
  parts.volume = files_.volume;
  parts.written_lsns = files_.written_lsns;
  parts.given_up = files_.given_up;
  parts.control = files_.control;
  parts.log = wal::Log::read_only(files_.files, files_.log, at.begin, reached.timeline);
  RETURN_IF_ERROR(open_reading_store(parts, at));
  RETURN_IF_ERROR(open_reading_trees(parts));
  parts.registry->start_ids_at(at.next_txn);
  RETURN_IF_ERROR(parts.losers.take_up(at.active));
  ASSIGN_OR_RETURN(parts.prepared_there, list_prepared(parts, at.active));
  engine_ = &parts;
  at_ = at.begin;
  timeline_ = reached.timeline;
  return engine;
}

bool StandbyEngine::close_gate(const std::function<bool()>& goes_on) {
  Runtime& runtime = Runtime::current();
  const TimePoint began = runtime.now();
  Duration pause = kShortestPause;
  while (goes_on()) {
    const std::optional<Duration> patience = readers_.patience();
    const bool is_over = patience && runtime.now() - began >= *patience;
    if (is_over) readers_.cancel();
    if (gate_->close(is_over ? kToEnd : kLongestStall)) return true;
    if (is_over) continue;
    // Those who come go on meanwhile, and short ones among them with what is replayed.
    TimePoint next = runtime.now() + pause;
    if (patience) next = std::min(next, began + *patience);
    runtime.sleep_until(next);
    pause = std::min(pause * 2, kLongestPause);
  }
  return false;
}

void StandbyEngine::close_gate_for_good(Duration patience) {
  while (!gate_->close(patience)) {
    readers_.cancel();
    patience = kToEnd;
  }
}

void StandbyEngine::extend_log(Lsn end) noexcept {
  engine_->log->extend(end, timeline_);
}

Lsn StandbyEngine::kept_for_others() const {
  return engine_->logical->kept_from();
}

void StandbyEngine::note(const Recovered& step) {
  for (const auto& [page, pending] : step.pending) outdated_.insert(page);
  for (const Analysis::MapChange& change : step.map_changes) outdated_.insert(change.page);
  map_changes_.insert(map_changes_.end(), step.map_changes.begin(), step.map_changes.end());
  changed_.insert(step.trees.begin(), step.trees.end());
}

Result<> StandbyEngine::move_to(const Control& reached) {
  const Checkpoint& at = reached.checkpoint;
  EngineParts& parts = *engine_;
  // Their changes may be committed now.
  changed_.merge(parts.losers.changed_trees());
  parts.losers.forget();
  parts.trees->factory().pool().drop_outdated(outdated_);
  unredone_of(parts).replace(at.dirty);
  bring_up_to_date(*parts.space, std::exchange(map_changes_, {}));
  parts.log->extend(at.begin, reached.timeline);
  parts.registry->start_ids_at(at.next_txn);
  if (changed_.contains(TreeId::directory)) RETURN_IF_ERROR(parts.trees->forget_replaced());
  RETURN_IF_ERROR(parts.losers.take_up(at.active));
  ASSIGN_OR_RETURN(parts.prepared_there, list_prepared(parts, at.active));
  RETURN_IF_ERROR(readers_.moved(changed_));
  outdated_.clear();
  changed_.clear();
  at_ = at.begin;
  timeline_ = reached.timeline;
  gate_->open();
  return {};
}

}  // namespace swizzle
