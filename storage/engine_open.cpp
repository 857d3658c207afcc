// Creation and opening of a database. Opening brings the files' content to the state of the log.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <bit>

#include "storage/btree/damage.h"
#include "storage/btree/node_layout.h"
#include "storage/directory_rebuild.h"
#include "storage/engine.h"
#include "storage/engine_parts.h"
#include "storage/recovery/backup/backup_end.h"
#include "storage/recovery/backup/digest_archive.h"
#include "storage/recovery/backup/older_places.h"
#include "storage/recovery/backup/repair_backup.h"
#include "storage/recovery/backup/unfinished.h"
#include "storage/recovery/control_rebuild.h"
#include "storage/recovery/new_log.h"
#include "storage/recovery/recovery.h"
#include "storage/recovery/restore_state.h"
#include "storage/standby/standby.h"
#include "storage/txn/loads/tree_factory.h"
#include "storage/txn/restart/restart_prepared.h"
#include "storage/txn/rows/overflow.h"
#include "wal/archive_command.h"

namespace swizzle {
namespace {

/// Limit of a writer's wait for the checkpointer to free log on a full disk.
constexpr Duration kPatienceForRoom = std::chrono::seconds{10};
/// Limit of the log between two checkpoints: the next start reads as much before it opens.
constexpr std::uint64_t kMostAnalysed = std::uint64_t{64} << 20U;
/// Memory for copies of log records that wait for their pages.
constexpr std::uint64_t kLeastForRedo = std::uint64_t{1} << 20U;
constexpr std::uint64_t kMostForRedo = std::uint64_t{256} << 20U;

wal::LogOptions log_options(const std::filesystem::path& directory, const EngineOptions& options,
                            std::uint64_t database_id) {
  wal::LogOptions log;
  log.directory = directory / kLogDirectory;
  log.database_id = database_id;
  log.segment_bytes = options.log_segment_bytes;
  log.buffer_bytes = options.log_buffer_bytes;
  log.insert = options.log_insert;
  log.completion_bytes = std::min(log.completion_bytes, options.log_segment_bytes / 4);
  log.archive = options.archive;
  if (!log.archive && !options.archive_command.empty())
    log.archive = wal::archive_by_command(options.archive_command);
  log.archive_backlog_segments = options.archive_backlog_segments;
  log.release_patience = kPatienceForRoom;
#ifdef SWIZZLE_PLANTED_FAULTS
  if (options.fault == StorageFault::skip_log_sync) log.fault = wal::PlantedFault::skip_sync;
  if (options.fault == StorageFault::lose_last_block)
    log.fault = wal::PlantedFault::lose_last_block;
#endif
  return log;
}

/// Returns the number of hash buckets for locks and versions. A statement that writes a million
/// rows adds as many to both, each after a search of its bucket, so a large database gets more
/// buckets; their memory is committed at first use.
std::size_t buckets_for(const EngineOptions& options) noexcept {
  constexpr std::uint64_t kPoolBytesEach = 256;
  constexpr std::size_t kFewest = std::size_t{1} << 17U;
  constexpr std::size_t kMost = std::size_t{1} << 20U;
  return std::clamp<std::size_t>(std::bit_floor(options.pool_bytes / kPoolBytesEach), kFewest,
                                 kMost);
}

lock::LockOptions lock_options(const EngineOptions& options) {
  lock::LockOptions locks;
  locks.variant = options.lock_variant;
  locks.escalation_threshold = options.lock_escalation_threshold;
  locks.buckets = std::max(locks.buckets, buckets_for(options));
  return locks;
}

Result<> require_empty(FileSystem& files, const std::filesystem::path& directory) {
  ASSIGN_OR_RETURN(const bool exists, files.exists(directory));
  if (!exists) return files.create_directory(directory);
  ASSIGN_OR_RETURN(const std::vector<std::string> names, files.list(directory));
  if (names.empty()) return {};
  return fail(Error{sqlstate::object_not_in_prerequisite_state,
                    fmt::format("directory \"{}\" exists but is not empty", directory.string())}
                  .with_hint("Choose another directory, or remove what is in this one."));
}

}  // namespace

EngineParts::EngineParts(FileSystem& in, std::filesystem::path at, EngineOptions with)
    : files(in),
      directory(std::move(at)),
      options(with),
      locks(lock_options(with)),
      versions(buckets_for(with)),
      ghosts(versions, locks, conflicts.marks()),
      losers(*this) {}

EngineParts::~EngineParts() {
  if (preload != nullptr) preload->stop();
  losers.stop();
  if (redo != nullptr) redo->stop();
  if (restore != nullptr) restore->stop();
  if (tidier != nullptr) tidier->stop();
  if (reaper != nullptr) reaper->stop();
  if (reclaimer != nullptr) reclaimer->stop();
  if (checkpointer != nullptr) checkpointer->stop();
  if (cleaner != nullptr) cleaner->stop();
  prepared.abandon();
  losers.abandon();
}

Engine::Engine(std::unique_ptr<Parts> parts)
    : salvages_(parts->options.salvage), parts_(std::move(parts)) {}
Engine::~Engine() = default;

Result<> Engine::create(FileSystem& files, const std::filesystem::path& directory,
                        const EngineOptions& options) {
  RETURN_IF_ERROR(require_empty(files, directory));
  const std::uint64_t id = Runtime::current().random() | 1U;
  RETURN_IF_ERROR(files.create_directory(directory / kLogDirectory));
  RETURN_IF_ERROR(files.sync_directory(directory));
  ASSIGN_OR_RETURN(auto log, wal::Log::create(files, log_options(directory, options, id)));
  RETURN_IF_ERROR(Volume::create(files, directory, id));
  RETURN_IF_ERROR(SpaceMap::create(files, directory, id, log->begin()));
  Control control;
  control.database_id = control.log_id = id;
  control.log_segment_bytes = options.log_segment_bytes;
  control.logging = options.logging ? Control::Logging::on : Control::Logging::off;
  control.checkpoint.begin = control.checkpoint.redo_from = control.checkpoint.keep_from =
      log->begin();
  log->close();
  // Last, because the control file makes the directory a database.
  return ControlFile::create(files, directory, control);
}

namespace {

/// Refuses a log that ends before the last checkpoint: it has lost durable records, because its
/// newest segments are missing or it is an older copy.
Result<> require_checkpoint_in_log(const Control& control, const wal::Log& log) {
  const Checkpoint& checkpoint = control.checkpoint;
  const bool was_taken = checkpoint.taken_at_us != 0 && control.logging == Control::Logging::on;
  if (!was_taken || log.begin() > checkpoint.begin) return {};
  return fail(Error{sqlstate::data_corrupted,
                    fmt::format("the log ends at LSN {}, where the record of the last checkpoint "
                                "should be: the log from there on is missing",
                                raw(log.begin()))});
}

/// Opens the log. Errors say how the database can be opened without it.
Result<> open_log(EngineParts& parts, LogAnalysis& analysis) {
  const Control& control = parts.control->current();
  ASSIGN_OR_RETURN(const auto restored, read_restore_state(parts.files, parts.directory));
  std::optional<wal::OlderLog> older = restored ? restored->older_log : std::nullopt;
  if (older) {
    ASSIGN_OR_RETURN(older->segments,
                     open_older_segments(parts.files, parts.directory, kLogDirectory, *restored,
                                         parts.options.restore));
  }
  wal::LogOptions options = log_options(parts.directory, parts.options, control.log_id);
  if (options.archive)
    options.archive =
        archive_with_digests(parts.files, options.directory, std::move(options.archive));
  const auto open = [&]() -> Result<> {
    ASSIGN_OR_RETURN(parts.log, wal::Log::open(parts.files, options, control.checkpoint.begin,
                                               &analysis, control.timeline, older));
    return require_checkpoint_in_log(control, *parts.log);
  };
  auto opened = open();
  if (opened || (opened.error().state() != sqlstate::data_corrupted &&
                 opened.error().state() != sqlstate::undefined_file))
    return opened;
  return fail(std::move(opened).error().with_hint(way_on_without_log(control)));
}

void log_outcome(const Recovered& recovered, Duration took) {
  spdlog::info(
      "analysed {} log records in {:.2f} s: {} pages lack changes and are redone when they are "
      "read; "
      "{} transactions to undo, {} prepared",
      recovered.records_analysed, std::chrono::duration<double>{took}.count(),
      recovered.pending.size(), recovered.losers.size(), recovered.prepared.size());
}

/// Transactions without an end in the log.
struct Unended {
  std::vector<ActiveTransaction> losers;
  std::vector<ActiveTransaction> prepared;
};

/// Chooses the checkpoint before the last if the last one's space map is damaged: it leads to the
/// same rows, by more of the log.
Result<> choose_checkpoint(EngineParts& parts) {
  if (parts.control->current().logging == Control::Logging::off) return {};
  const auto has_map = [&parts](const Control& control) {
    return SpaceMap::has_copy_for(parts.files, parts.directory, parts.volume->database_id(),
                                  control.checkpoint.begin);
  };
  ASSIGN_OR_RETURN(const bool is_served, has_map(parts.control->current()));
  if (is_served || parts.control->older() == nullptr) return {};
  ASSIGN_OR_RETURN(const bool older_is_served, has_map(*parts.control->older()));
  if (!older_is_served) return {};
  parts.control->fall_back();
  spdlog::warn(
      "the space map of the last checkpoint is missing or damaged; starting from the checkpoint "
      "before, at LSN {}",
      raw(parts.control->current().checkpoint.begin));
  return {};
}

/// Refuses a standby: its pages may be of different times, and its own writes need a new timeline.
Result<> require_no_standby(const EngineParts& parts) {
  ASSIGN_OR_RETURN(const bool is_standby, Standby::is_in(parts.files, parts.directory));
  if (!is_standby) return {};
  return fail(sqlstate::object_not_in_prerequisite_state,
              fmt::format("directory \"{}\" belongs to a standby that has not been promoted",
                          parts.directory.native()));
}

/// Opens the backups that have pages of the database, if a restore on demand is not complete.
Result<> open_backups(EngineParts& parts) {
  ASSIGN_OR_RETURN(parts.unrestored, UnrestoredPages::open(parts.files, parts.directory,
                                                           parts.volume->database_id()));
  if (parts.unrestored == nullptr) return {};
  // There no page would be written, and the pages would be read again at each start.
  if (parts.options.pool_mode == PoolMode::main_memory)
    return fail(sqlstate::feature_not_supported,
                "a database that is being restored on demand cannot be opened in pool mode "
                "main_memory");
  parts.volume->set_absent_pages(parts.unrestored.get());
  return {};
}

/// Opens the control file. It is not made anew from the log of a database that was restored on
/// demand: that log does not begin with the database.
Result<> open_control(EngineParts& parts) {
  ASSIGN_OR_RETURN(const auto restored, read_restore_state(parts.files, parts.directory));
  if (restored) {
    ASSIGN_OR_RETURN(parts.control, ControlFile::open(parts.files, parts.directory));
    return {};
  }
  ASSIGN_OR_RETURN(parts.control,
                   open_or_rebuild_control(parts.files, parts.directory, *parts.volume,
                                           parts.directory / kLogDirectory));
  return {};
}

/// Opens the backups that damaged pages are rebuilt from. The database is opened without them if
/// they are not what they should be.
Result<> open_repair_backup(EngineParts& parts) {
  const auto& backups = parts.options.repair_backups;
  if (backups.empty() || !parts.options.logging) {
    const auto fetched = parts.directory / RepairBackup::kFetchedName;
    ASSIGN_OR_RETURN(const bool is_left, parts.files.exists(fetched));
    return is_left ? remove_with_content(parts.files, fetched) : Result<>{};
  }
  wal::RestoreSegment fetch = parts.options.restore;
  if (!fetch && !parts.options.restore_command.empty())
    fetch = wal::restore_by_command(parts.options.restore_command);
  auto opened = RepairBackup::open(
      {parts.files, parts.directory, kLogDirectory, parts.volume->database_id(), *parts.log},
      backups, fetch);
  if (!opened) {
    spdlog::warn("damaged pages cannot be rebuilt from a backup: {}", opened.error().message());
    return {};
  }
  parts.repair_copies = *std::move(opened);
  parts.repair->use_copies(parts.repair_copies.get());
  return {};
}

/// Rebuilds pages that were given up before there was a backup for it. Pre: nobody reads yet.
Result<> mend_given_up(EngineParts& parts) {
  if (parts.repair_copies == nullptr || parts.given_up == nullptr) return {};
  AlignedBuffer page(kPageBytes);
  for (const PageId id : parts.given_up->list()) {
    if (!parts.space->is_allocated(id)) continue;
    const Lsn needed = parts.volume->written_lsns().of(id);
    const auto pending = parts.pending->find(id);
    const Lsn newest = pending.page == nullptr ? needed : std::max(needed, pending.page->newest);
    auto rebuilt = parts.repair->rebuild(id, newest, page.data());
    if (rebuilt && load<PageHeader>(page.data()).lsn < newest) continue;
    if (!rebuilt) {
      spdlog::warn("page {} stays given up: {}", raw(id), rebuilt.error().message());
      continue;
    }
    seal_page(page.data());
    const PageImage image{id, page.data()};
    RETURN_IF_ERROR(parts.volume->write_pages({&image, 1}));
    parts.given_up->take_back(id);
  }
  return {};
}

/// Opens the files and determines which changes the pages lack.
Result<Unended> open_files(EngineParts& parts, const RecoveryObserver& observer) {
  const TimePoint begin = Runtime::current().now();
  RETURN_IF_ERROR(require_finished(parts.files, parts.directory));
  RETURN_IF_ERROR(require_all_pages(parts.files, parts.directory));
  RETURN_IF_ERROR(require_no_standby(parts));
  ASSIGN_OR_RETURN(parts.volume, Volume::open(parts.files, parts.directory));
  RETURN_IF_ERROR(open_backups(parts));
  RETURN_IF_ERROR(open_control(parts));
  RETURN_IF_ERROR(choose_checkpoint(parts));
  const Control& control = parts.control->current();
  if (!parts.options.logging && control.logging == Control::Logging::on)
    return fail(sqlstate::invalid_parameter_value,
                "logging cannot be switched off for a database that was created with it");
  // Without a log, LSNs restart at each start.
  if (parts.options.logging) {
    constexpr std::uint64_t kShareOfPool = 64;
    parts.volume->written_lsns().set_most_bytes(parts.options.pool_bytes / kShareOfPool);
    ASSIGN_OR_RETURN(parts.written_lsns, WrittenLsnsFile::open(parts.files, parts.directory,
                                                               parts.volume->database_id(),
                                                               parts.volume->written_lsns()));
    ASSIGN_OR_RETURN(parts.given_up,
                     GivenUpPages::open(parts.files, parts.directory, parts.volume->database_id(),
                                        parts.volume->written_lsns()));
    parts.untidy = std::make_unique<UntidyPages>(has_space_to_give_back);
    parts.untidy->load(parts.files, parts.directory, parts.volume->database_id());
    parts.volume->set_untidy_pages(parts.untidy.get());
  }
  // An opened backup becomes a database, and cannot be used for a restore any more.
  RETURN_IF_ERROR(begin_as_database(parts.files, parts.directory, *parts.control));
  LogAnalysis analysis(control.checkpoint, observer);
  RETURN_IF_ERROR(open_log(parts, analysis));
  parts.repair = std::make_unique<PageRepair>(*parts.volume, *parts.log);
  RETURN_IF_ERROR(open_repair_backup(parts));
  const auto mend = [&parts](PageId page, Lsn newest, std::byte* into) {
    return parts.repair->mend(page, newest, into);
  };
  parts.analysed_from = control.checkpoint.begin;
  ASSIGN_OR_RETURN(Recovered recovered, recover(parts.files, parts.directory, *parts.volume,
                                                control, *parts.log, analysis));
  if (control.shutdown != Control::Shutdown::clean)
    log_outcome(recovered, Runtime::current().now() - begin);
  parts.space = std::move(recovered.space);
  parts.pending = std::make_unique<PendingPages>(std::move(recovered.pending));
  if (parts.unrestored) parts.unrestored->find_lacking(*parts.space);
  // In pool mode main_memory pages are redone before there is a tidier, and written.
  const auto redone = [&parts](const std::byte* page) {
    if (parts.tidier) parts.tidier->redone(page);
  };
  parts.page_redo = std::make_unique<PageRedo>(PageRedo::Parts{.volume = *parts.volume,
                                                               .log = *parts.log,
                                                               .repair = *parts.repair,
                                                               .pending = *parts.pending,
                                                               .given_up = parts.given_up.get(),
                                                               .absent = parts.unrestored.get(),
                                                               .redone = redone});
  RETURN_IF_ERROR(mend_given_up(parts));
  // Pool mode main_memory: pages are loaded through the tree and never written out, so redo them on
  // disk first.
  if (parts.options.pool_mode == PoolMode::main_memory)
    RETURN_IF_ERROR(parts.page_redo->write_all(parts.analysed_from, observer));
  // Pages changed without a log cannot be rebuilt from one.
  parts.store = std::make_unique<DataFile>(
      *parts.volume, *parts.space,
      parts.options.logging ? DataFile::Rebuild{mend} : DataFile::Rebuild{},
      parts.options.logging ? DataFile::LogEnd{[&parts] { return parts.log->tail(); }}
                            : DataFile::LogEnd{},
      parts.given_up.get(), parts.options.logging ? parts.page_redo.get() : nullptr);
  if (!parts.options.logging) {
    parts.log->close();
    parts.log = wal::Log::none();
  }
  parts.registry = std::make_unique<TransactionRegistry>(*parts.log);
  parts.registry->start_ids_at(recovered.next_txn);
  return Unended{std::move(recovered.losers), std::move(recovered.prepared)};
}

/// They are hints, so a failure keeps no checkpoint from being taken.
void save_untidy_pages(EngineParts& parts) {
  if (!parts.untidy) return;
  if (auto saved = parts.untidy->save(parts.files, parts.directory, parts.volume->database_id());
      !saved)
    spdlog::warn("the list of leaves with space to reclaim is not saved: {}",
                 saved.error().message());
}

Result<> open_trees(EngineParts& parts, const Unended& unended) {
  parts.tree_log = std::make_unique<WalTreeLog>(*parts.log);
  parts.flusher = std::make_unique<LogFlusher>(*parts.log);
#ifdef SWIZZLE_PLANTED_FAULTS
  parts.tree_log->plant(parts.options.fault);
  parts.flusher->plant(parts.options.fault);
#endif
  parts.transactions = std::make_unique<TransactionPool>(parts);
  parts.reclaimer = std::make_unique<VersionReclaimer>(*parts.transactions);
  ASSIGN_OR_RETURN(auto factory,
                   make_tree_factory(parts.options, *parts.store, *parts.tree_log, parts.ghosts));
  BufferPool& pool = factory->pool();
  parts.tidier = std::make_unique<LeafTidier>(parts);
  parts.trees = std::make_unique<TreeTable>(std::move(factory), *parts.tidier);
  parts.ghosts.know(*parts.trees);
  parts.reaper = std::make_unique<TreeReaper>(parts);
  parts.cleaner =
      std::make_unique<Cleaner>(pool.arena(), *parts.volume, *parts.flusher, pool.layout(),
                                Cleaner::Options{.on_failure = [](const Error& error) {
                                  panic("pages cannot be written", error);
                                }});
  pool.on_dirty_pressure([](void* cleaner) { static_cast<Cleaner*>(cleaner)->nudge(); },
                         parts.cleaner.get());
  ASSIGN_OR_RETURN(auto slots,
                   LogSlots::open(parts.files, parts.directory, parts.volume->database_id()));
  parts.logical = std::make_unique<LogicalLog>(parts, std::move(slots));
  parts.checkpointer = std::make_unique<Checkpointer>(
      Checkpointer::Parts{*parts.log, pool.arena(), *parts.space, *parts.control,
                          [&parts](Lsn begin) { return parts.registry->active_at(begin); },
                          [&parts] { return parts.registry->peek_next_id(); },
                          [&parts]() -> Result<> {
                            // Log that slots no longer need is kept until their positions are
                            // saved.
                            if (auto saved = parts.logical->slots().save();
                                !saved && saved.error().state() != sqlstate::disk_full)
                              return saved;
                            // Save the list before the log is released that proves these pages old.
                            if (parts.given_up) RETURN_IF_ERROR(parts.given_up->persist());
                            if (parts.unrestored) RETURN_IF_ERROR(parts.unrestored->persist());
                            if (parts.preload) parts.preload->save(Preload::When::at_checkpoint);
                            save_untidy_pages(parts);
                            return parts.written_lsns ? parts.written_lsns->persist() : Result<>{};
                          },
                          [&parts](TxnId id) { return parts.prepared.gid_of(id); },
                          [&parts] { return parts.logical->kept_from(); },
                          [&parts] { return parts.pending->list(); },
                          [&parts] {
                            if (auto redone = parts.redo->finish(); !redone)
                              spdlog::warn("pages wait for redo: {}", redone.error().message());
                          }},
      Checkpointer::Options{
          .log_bytes = std::min(kMostAnalysed, parts.options.checkpoint_log_bytes),
          .redo_bytes = parts.options.checkpoint_log_bytes,
          .interval = std::chrono::seconds{parts.options.checkpoint_seconds},
          .on_failure = [](const Error& error) { panic("a checkpoint cannot be taken", error); }});
  parts.device_check = std::make_unique<DeviceCheck>(*parts.log, pool.layout());
#ifdef SWIZZLE_PLANTED_FAULTS
  const bool looks = parts.options.fault != StorageFault::page_before_log;
#else
  constexpr bool looks = true;
#endif
  if (looks) parts.volume->set_image_check(parts.device_check.get());
  parts.cleaner->start();
  const BackgroundRestore::OldRecords old_records{parts.control->current().checkpoint.redo_from,
                                                  parts.analysed_from};
  const bool uses_runs = parts.unrestored != nullptr && old_records.need_runs();
  parts.redo = std::make_unique<BackgroundRedo>(
      BackgroundRedo::Parts{*parts.pending, *parts.log, parts.analysed_from, pool,
                            uses_runs ? RedoBatches::Pages::listed : RedoBatches::Pages::all},
      BackgroundRedo::Options{
          .memory_bytes = std::clamp(parts.options.pool_bytes / 4, kLeastForRedo, kMostForRedo),
          .tasks = parts.options.recovery_tasks});
  parts.redo->start();
  if (parts.unrestored)
    parts.restore = std::make_unique<BackgroundRestore>(
        BackgroundRestore::Parts{*parts.unrestored, *parts.pending, *parts.redo, pool,
                                 *parts.cleaner, *parts.page_redo, parts.files, parts.directory,
                                 *parts.log,
                                 [&parts]() -> Result<Lsn> {
                                   RETURN_IF_ERROR(parts.checkpointer->take());
                                   return parts.checkpointer->last().keep_from;
                                 }},
        old_records);
  // Pool mode main_memory has all pages in memory anyway.
  if (parts.options.pool_preload && parts.options.pool_mode != PoolMode::main_memory)
    parts.preload = std::make_unique<Preload>(Preload::Parts{
        parts.files, parts.directory, parts.volume->database_id(), *parts.trees, pool});

  Control control = parts.control->current();
  if (control.directory_root != PageId::none) {
    auto opened = parts.trees->open_directory(control.directory_root);
    if (opened || !is_unreadable(opened.error())) return opened;
    spdlog::warn("the tree of trees cannot be read: {}", opened.error().message());
    return rebuild_directory(parts,
                             std::array{std::span<const ActiveTransaction>{unended.losers},
                                        std::span<const ActiveTransaction>{unended.prepared}});
  }
  ASSIGN_OR_RETURN(control.directory_root, parts.trees->create_directory());
  parts.log->flush_to(parts.log->tail());
  RETURN_IF_ERROR(parts.control->write(control));
  return parts.trees->open_directory(control.directory_root);
}

/// Resumes the drops of trees that committed but whose pages were not all freed.
Result<> take_up_drops(EngineParts& parts) {
  ASSIGN_OR_RETURN(const auto rows, parts.trees->list());
  for (const TreeTable::Listed& row : rows) {
    if (row.status != TreeTable::Listed::Status::dropped) continue;
    if (parts.prepared.has_dropped(row.id) || parts.losers.has_dropped(row.id)) continue;
    ASSIGN_OR_RETURN(const bool is_there, parts.trees->finds_dropped(row.id, row.root));
    if (is_there) parts.trees->retire(row.id, Lsn::none);
  }
  return {};
}

/// Creates the trees that the engine itself uses, in the database's first transaction.
Result<> create_own_trees(Engine& engine) {
  const auto transaction = engine.begin();
  ASSIGN_OR_RETURN(const TreeId tree, engine.create_tree(*transaction));
  INVARIANT(tree == kOverflowTree);
  return transaction->commit();
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::open(FileSystem& files,
                                             const std::filesystem::path& directory,
                                             const EngineOptions& options,
                                             RecoveryObserver observer) {
  std::unique_ptr<Engine> engine(new Engine(std::make_unique<Parts>(files, directory, options)));
  RETURN_IF_ERROR(engine->open_parts(std::move(observer)));
  return engine;
}

void Engine::close_for_promotion() noexcept {
  INVARIANT(is_standby());
  parts_.reset();
}

Result<> Engine::open_promoted(FileSystem& files, const std::filesystem::path& directory,
                               const EngineOptions& options,
                               const std::function<Result<>()>& before) {
  INVARIANT(is_standby() && parts_ == nullptr);
  parts_ = std::make_unique<Parts>(files, directory, options);
  auto opened = open_parts({});
  if (opened) opened = before();
  if (!opened) {
    parts_.reset();
    return opened;
  }
  // Release: as replay_gate() says. Those who have found the gate wait there.
  gate_.store(nullptr, std::memory_order_release);
  own_gate_->open();
  return {};
}

Result<> Engine::open_parts(RecoveryObserver observer) {
  Parts& parts = *parts_;
  ASSIGN_OR_RETURN(const Unended unended, open_files(parts, observer));
  RETURN_IF_ERROR(open_trees(parts, unended));
  RETURN_IF_ERROR(take_up_prepared(parts, unended.prepared));
  RETURN_IF_ERROR(parts.losers.take_up(unended.losers));
  // The log that undo needs has been reserved.
  parts.log->recovered();
  // Without locking nothing protects the losers' rows: undo them before the engine opens.
  if (!parts.options.locking) parts.losers.finish();
  RETURN_IF_ERROR(take_up_drops(parts));
  ASSIGN_OR_RETURN(const auto trees, parts.trees->list());
  const bool is_new = std::ranges::none_of(trees, [&parts](const TreeTable::Listed& row) {
    return row.status == TreeTable::Listed::Status::live && !parts.losers.has_created(row.id);
  });
  if (is_new) parts.losers.finish();
  if (is_new) RETURN_IF_ERROR(create_own_trees(*this));
  if (auto taken = parts.checkpointer->take(); !taken) {
    // The last checkpoint, from which this start recovered, remains in use.
    if (taken.error().state() != sqlstate::disk_full) return fail(std::move(taken).error());
    spdlog::warn("no checkpoint after the start: {}", taken.error().message());
  }
  parts.checkpointer->start(*parts.cleaner);
  parts.reclaimer->start();
  parts.reaper->start();
  parts.tidier->start();
  if (parts.preload) parts.preload->start();
  if (parts.restore) parts.restore->start();
  parts.losers.start();
  return {};
}

}  // namespace swizzle
