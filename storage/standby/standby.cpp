#include "storage/standby/standby.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "base/runtime/park_mutex.h"
#include "base/runtime/runtime.h"
#include "storage/btree/node_layout.h"
#include "storage/btree/records.h"
#include "storage/engine.h"
#include "storage/engine_parts.h"
#include "storage/logical/slots.h"
#include "storage/recovery/backup/backup_end.h"
#include "storage/recovery/backup/unfinished.h"
#include "storage/recovery/checkpoint/control_file.h"
#include "storage/recovery/page_redo.h"
#include "storage/recovery/page_repair.h"
#include "storage/recovery/recovery.h"
#include "storage/recovery/redo_batches.h"
#include "storage/recovery/restore_state.h"
#include "storage/space/given_up_pages.h"
#include "storage/space/untidy_pages.h"
#include "storage/space/volume.h"
#include "storage/space/written_lsns_file.h"
#include "storage/standby/lsn_words.h"
#include "storage/standby/standby_engine.h"
#include "wal/archive_command.h"
#include "wal/log.h"
#include "wal/received_log.h"
#include "wal/timeline.h"

namespace swizzle {
namespace {

/// The file that says up to where pages may be ahead of the last redone position, in decimal: redo
/// has to reach that far before the pages are of one time again.
constexpr const char* kRedoGoalName = "standby-redo";
constexpr std::uint64_t kWrittenLsnBytes = std::uint64_t{16} << 20U;

Result<std::optional<Lsn>> read_goal(FileSystem& files, const std::filesystem::path& directory) {
  const auto path = directory / kRedoGoalName;
  ASSIGN_OR_RETURN(const bool exists, files.exists(path));
  if (!exists) return std::optional<Lsn>{};
  ASSIGN_OR_RETURN(const auto file, files.open(path, OpenMode::read_only, {}));
  ASSIGN_OR_RETURN(const std::uint64_t size, file->size());
  constexpr std::uint64_t kLongest = 32;
  std::string text(std::min(size, kLongest), '\0');
  RETURN_IF_ERROR(file->read_at(0, std::as_writable_bytes(std::span{text})));
  std::uint64_t goal = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), goal);
  if (error != std::errc{} || end == text.data() + text.size() || *end != '\n') {
    return fail(sqlstate::data_corrupted, fmt::format("file \"{}\" is damaged", path.native()));
  }
  return std::optional{Lsn{goal}};
}

Result<> write_goal(FileSystem& files, const std::filesystem::path& directory, Lsn goal) {
  const auto path = directory / kRedoGoalName;
  auto unfinished = path;
  unfinished += ".tmp";
  const std::string text = fmt::format("{}\n", raw(goal));
  {
    ASSIGN_OR_RETURN(const auto file, files.open(unfinished, OpenMode::open_or_create, {}));
    RETURN_IF_ERROR(file->truncate(0));
    RETURN_IF_ERROR(file->write_at(0, as_bytes(text)));
    RETURN_IF_ERROR(file->sync());
  }
  RETURN_IF_ERROR(files.rename(unfinished, path));
  return files.sync_directory(directory);
}

wal::LogOptions log_options_of(const std::filesystem::path& directory, const Control& control) {
  wal::LogOptions options;
  options.directory = directory / kLogDirectory;
  options.database_id = control.log_id;
  options.segment_bytes = control.log_segment_bytes;
  return options;
}

/// Looks for records that may have changed a page.
class ChangesSought final : public wal::OpeningVisitor {
 public:
  void begin(Lsn /*from*/, Lsn /*limit*/) override {}
  void visit(const wal::Record& record) override {
    const bool is_none = record.header.kind == wal::RecordKind::flush_mark ||
                         record.header.kind == static_cast<wal::RecordKind>(RecordKind::checkpoint);
    found_ = found_ || !is_none;
  }
  [[nodiscard]] bool found() const noexcept { return found_; }

 private:
  bool found_ = false;
};

/// True if no page can be newer than the checkpoint: the server was stopped in good order, and has
/// written nothing since.
Result<bool> is_at_checkpoint(const Control& control, const wal::ReceivedLog& log) {
  if (control.shutdown != Control::Shutdown::clean) return false;
  const Lsn begin = control.checkpoint.begin;
  ChangesSought changes;
  ASSIGN_OR_RETURN(const wal::ReceivedLog::Whole whole,
                   log.read(begin, raw(log.end()) - raw(begin), &changes));
  const bool is_last_seen = whole.last == begin || whole.end != whole.last;
  return is_last_seen && !changes.found();
}

/// Slots of the primary that this one was: the log has not been kept for them.
Result<> remove_slots(FileSystem& files, const std::filesystem::path& directory) {
  ASSIGN_OR_RETURN(const bool exists, files.exists(directory / LogSlots::kFileName));
  if (!exists) return {};
  spdlog::warn("replication slots of this directory are dropped: it was a primary's");
  RETURN_IF_ERROR(files.remove(directory / LogSlots::kFileName));
  return files.sync_directory(directory);
}

}  // namespace

struct Standby::State {
  State(FileSystem& in, std::filesystem::path at) : files(in), directory(std::move(at)) {}

  [[nodiscard]] std::filesystem::path log_directory() const { return directory / kLogDirectory; }
  [[nodiscard]] wal::LogOptions log_options() const { return log_options_of(directory, reached); }
  Result<> open();
  Result<bool> redo(LogAnalysis& analysis, Lsn end, const RedoBatches::GoesOn& goes_on);
  Result<> complete(const Recovered& recovered, const PendingPages& pending, Lsn end);
  Result<> begin_timeline(std::uint32_t number);
  [[nodiscard]] Lsn kept_for_others();
  void show_log(const wal::ReceivedLog::Whole& whole);

  FileSystem& files;
  const std::filesystem::path directory;
  std::uint64_t log_id = 0;
  /// For the start after a promotion. The volume refers to it.
  UntidyPages untidy{has_space_to_give_back};
  std::shared_ptr<Volume> volume;
  std::shared_ptr<ControlFile> control;
  std::shared_ptr<WrittenLsnsFile> written_lsns;
  std::shared_ptr<GivenUpPages> given_up;
  std::unique_ptr<wal::ReceivedLog> log;
  std::atomic<std::uint32_t> timeline{1};
  std::atomic<std::uint64_t> redone{0};
  std::atomic<std::uint64_t> replayed{0};
  std::atomic<std::int64_t> replayed_at_us{0};
  /// The log is there from this position on.
  std::atomic<std::uint64_t> oldest_log{0};
  /// As they were found; the engine has its own.
  std::unique_ptr<LogSlots> slots;
  /// Of the thread that redoes: what the last step has reached, and the goal of the next one.
  Control reached;
  Lsn goal = Lsn::none;
  /// Null unless the database is open for reading. Of the thread that redoes.
  std::unique_ptr<StandbyEngine> engine;
  ParkMutex control_writes;  ///< protects control, which both threads write
};

Result<> Standby::State::open() {
  RETURN_IF_ERROR(require_finished(files, directory));
  RETURN_IF_ERROR(require_all_pages(files, directory));
  RETURN_IF_ERROR(require_restored(files, directory));
  ASSIGN_OR_RETURN(volume, Volume::open(files, directory));
  ASSIGN_OR_RETURN(control, ControlFile::open(files, directory));
  if (control->current().logging == Control::Logging::off) {
    return fail(sqlstate::object_not_in_prerequisite_state,
                "a database without a log cannot follow another");
  }
  WrittenLsns& lsns = volume->written_lsns();
  lsns.set_most_bytes(kWrittenLsnBytes);
  ASSIGN_OR_RETURN(written_lsns,
                   WrittenLsnsFile::open(files, directory, volume->database_id(), lsns));
  ASSIGN_OR_RETURN(given_up, GivenUpPages::open(files, directory, volume->database_id(), lsns));
  untidy.load(files, directory, volume->database_id());
  volume->set_untidy_pages(&untidy);
  log_id = control->current().log_id;
  timeline = control->current().timeline;
  reached = control->current();
  const Lsn begin = reached.checkpoint.begin;
  ASSIGN_OR_RETURN(log, wal::ReceivedLog::open(files, log_options(), begin, timeline));
  ASSIGN_OR_RETURN(const auto known_goal, read_goal(files, directory));
  // Pages of a base copy, or of a server that ended in a crash, may be as new as the log.
  ASSIGN_OR_RETURN(const bool is_settled, is_at_checkpoint(reached, *log));
  goal = known_goal.value_or(is_settled ? begin : log->end());
  if (!known_goal) RETURN_IF_ERROR(write_goal(files, directory, goal));
  RETURN_IF_ERROR(begin_as_database(files, directory, *control));
  reached.shutdown = control->current().shutdown;
  redone = replayed = raw(begin);
  oldest_log = raw(reached.checkpoint.keep_from);
  if (!known_goal) RETURN_IF_ERROR(remove_slots(files, directory));
  ASSIGN_OR_RETURN(slots, LogSlots::open(files, directory, volume->database_id()));
  return {};
}

/// Position from which servers that follow this one need the log.
Lsn Standby::State::kept_for_others() {
  return engine == nullptr ? slots->kept_from(Lsn{redone.load()}, 0) : engine->kept_for_others();
}

/// Notes that the pages have everything before `whole.end`. Servers that follow this one get the
/// flush mark, too: otherwise the record before it would be their last, which waits for the next.
void Standby::State::show_log(const wal::ReceivedLog::Whole& whole) {
  replayed = raw(whole.end);
  if (engine != nullptr) engine->extend_log(whole.end);
}

/// As a restart does before it opens in pool mode main_memory. What was not committed is redone,
/// too, and stands in the checkpoint until it has ended.
Result<bool> Standby::State::redo(LogAnalysis& analysis, Lsn end,
                                  const RedoBatches::GoesOn& goes_on) {
  const auto part = wal::Log::read_only(files, log_options(), end);
  PageRepair repair(*volume, *part);
  ASSIGN_OR_RETURN(Recovered recovered,
                   recover(files, directory, *volume, reached, *part, analysis));
  if (engine != nullptr) {
    if (!engine->close_gate(goes_on)) return false;
    engine->note(recovered);
  }
  if (end > goal) {
    RETURN_IF_ERROR(write_goal(files, directory, end));
    goal = end;
  }
  PendingPages pending(std::move(recovered.pending));
  PageRedo redo({*volume, *part, repair, pending, given_up.get(), false});
  RETURN_IF_ERROR(redo.write_all(reached.checkpoint.begin, {}, goes_on));
  // The pages that are written are ahead of the checkpoint, as after a crash.
  if (!goes_on()) return false;
  RETURN_IF_ERROR(complete(recovered, pending, end));
  if (engine != nullptr) RETURN_IF_ERROR(engine->move_to(reached));
  if (recovered.ended_at_us != 0) replayed_at_us = recovered.ended_at_us;
  return true;
}

/// A checkpoint at `end`, of a database in which nothing happens meanwhile.
Result<> Standby::State::complete(const Recovered& recovered, const PendingPages& pending,
                                  Lsn end) {
  const Lsn kept_before = reached.checkpoint.keep_from;
  Checkpoint checkpoint;
  checkpoint.begin = checkpoint.redo_from = end;
  checkpoint.next_txn = recovered.next_txn;
  checkpoint.taken_at_us = Runtime::current().wall_clock_us();
  // Those that could not be read now are tried again.
  checkpoint.dirty = pending.list();
  for (const DirtyPage& page : checkpoint.dirty)
    checkpoint.redo_from = std::min(checkpoint.redo_from, page.since);
  checkpoint.keep_from = checkpoint.redo_from;
  checkpoint.active = recovered.losers;
  checkpoint.active.insert(checkpoint.active.end(), recovered.prepared.begin(),
                           recovered.prepared.end());
  for (const ActiveTransaction& active : checkpoint.active)
    checkpoint.keep_from = std::min(checkpoint.keep_from, active.first);
  const SpaceMap::Snapshot map = recovered.space->snapshot([end] { return end; });
  RETURN_IF_ERROR(recovered.space->persist(map));
  RETURN_IF_ERROR(given_up->persist());
  RETURN_IF_ERROR(written_lsns->persist());
  if (auto saved = untidy.save(files, directory, volume->database_id()); !saved)
    spdlog::warn("the list of leaves with space to reclaim is not saved: {}",
                 saved.error().message());
  const Lsn kept_now = checkpoint.keep_from;
  reached.checkpoint = std::move(checkpoint);
  reached.shutdown = Control::Shutdown::none;
  {
    const std::lock_guard hold(control_writes);
    reached.timeline = timeline.load();
    RETURN_IF_ERROR(control->write(reached));
  }
  recovered.space->checkpoint_done();
  redone.store(raw(end));
  // The other copy of the control file leads to the same rows (rule R1).
  const Lsn keep = std::min({kept_before, kept_now, kept_for_others()});
  oldest_log.store(raw(keep));
  return log->release_before(keep);
}

/// Both copies of the control file say it: whichever is left after a crash is of the new timeline.
Result<> Standby::State::begin_timeline(std::uint32_t number) {
  const std::lock_guard hold(control_writes);
  Control next = control->current();
  next.timeline = number;
  next.shutdown = Control::Shutdown::none;
  for (std::size_t copies = 0; copies < ControlFile::kFileNames.size(); ++copies)
    RETURN_IF_ERROR(control->write(next));
  timeline.store(number);
  return {};
}

Result<Lsn> Standby::log_end(FileSystem& files, const std::filesystem::path& directory) {
  ASSIGN_OR_RETURN(const auto control, ControlFile::open(files, directory));
  return wal::ReceivedLog::find_whole_end(files, log_options_of(directory, control->current()),
                                          control->current().checkpoint.begin);
}

Standby::Standby(std::unique_ptr<State> state) : state_(std::move(state)) {}
Standby::~Standby() = default;

Result<std::unique_ptr<Standby>> Standby::open(FileSystem& files,
                                               const std::filesystem::path& directory) {
  auto state = std::make_unique<State>(files, directory);
  RETURN_IF_ERROR(state->open());
  return std::unique_ptr<Standby>{new Standby{std::move(state)}};
}

Result<bool> Standby::is_in(FileSystem& files, const std::filesystem::path& directory) {
  return files.exists(directory / kRedoGoalName);
}

std::uint64_t Standby::log_id() const noexcept {
  return state_->log_id;
}
std::uint32_t Standby::timeline() const noexcept {
  return state_->timeline.load();
}
Lsn Standby::received() const noexcept {
  return state_->log->end();
}
Lsn Standby::durable() const noexcept {
  return state_->log->durable();
}
Lsn Standby::redone() const noexcept {
  return Lsn{state_->redone.load()};
}
Lsn Standby::replayed() const noexcept {
  return Lsn{state_->replayed.load()};
}
std::int64_t Standby::replayed_at_us() const noexcept {
  return state_->replayed_at_us.load();
}

Result<> Standby::append(Bytes bytes) {
  return state_->log->append(bytes);
}
Result<> Standby::flush() {
  return state_->log->flush();
}

Result<bool> Standby::restore_log(const std::string& restore_command) {
  State& state = *state_;
  ASSIGN_OR_RETURN(
      const auto history,
      wal::TimelineHistory::read(state.files, state.log_directory(), state.timeline.load()));
  return state.log->restore(wal::restore_by_command(restore_command), history,
                            [this] { return redone(); });
}

Result<> Standby::follow_timeline(std::uint32_t timeline, std::string_view history) {
  const std::uint32_t own = state_->timeline.load();
  ASSIGN_OR_RETURN(const auto theirs, wal::TimelineHistory::parse(timeline, history));
  const auto parted = theirs.end_of(own);
  // The beginning of a record that was never whole belongs to nobody.
  if (parted && received() > *parted) RETURN_IF_ERROR(state_->log->cut(redone()));
  if (!parted || received() > *parted) {
    Error error{
        sqlstate::object_not_in_prerequisite_state,
        timeline < own
            ? fmt::format("highest timeline {} of the primary is behind recovery timeline {}",
                          timeline, own)
            : fmt::format("the log of this server is not a part of timeline {}, which the "
                          "primary is on",
                          timeline)};
    if (parted) {
      error = std::move(error).with_detail(
          fmt::format("Timeline {} was left at {}, and the log here goes on to {}: what lies "
                      "between was never replicated.",
                      own, lsn_words(*parted), lsn_words(received())));
    }
    return fail(std::move(error).with_hint(
        "Keep the directory if something in it is missed, and make a new standby: swizzled init "
        "-D DIRECTORY --standby-of CONNINFO."));
  }
  if (timeline == own) return {};
  RETURN_IF_ERROR(theirs.write(state_->files, state_->log_directory()));
  RETURN_IF_ERROR(state_->begin_timeline(timeline));
  state_->log->set_timeline(timeline);
  return {};
}

Result<bool> Standby::redo_some(const std::function<bool()>& goes_on) {
  State& state = *state_;
  const Lsn begin = state.reached.checkpoint.begin;
  if (state.engine != nullptr && state.engine->is_behind(begin))
    RETURN_IF_ERROR(state.engine->move_to(state.reached));
  if (durable() <= begin || durable() < state.goal) return false;
  const std::uint64_t to_goal = raw(state.goal) > raw(begin) ? raw(state.goal) - raw(begin) : 0;
  const std::uint64_t most = state.engine == nullptr ? kMostAtOnce : kMostWithReaders;
  const RecoveryObserver nobody;
  LogAnalysis analysis(state.reached.checkpoint, nobody);
  // One record behind the goal, since the last record is left for the next time: a checkpoint needs
  // one behind it. A flush mark at the goal will do, since no page has anything of it.
  ASSIGN_OR_RETURN(const wal::ReceivedLog::Whole whole,
                   state.log->read(begin, std::max(most, to_goal + 1), &analysis));
  const Lsn end = whole.last;
  if (whole.end < state.goal) return false;
  bool has_redone = false;
  if (end > begin) {
    ASSIGN_OR_RETURN(has_redone, state.redo(analysis, end, goes_on));
  }
  if (state.redone.load() == raw(end)) state.show_log(whole);
  return has_redone;
}

Result<std::unique_ptr<Engine>> Standby::open_engine(const EngineOptions& options,
                                                     StandbyReaders readers) {
  State& state = *state_;
  if (replayed() < state.goal)
    return fail(Error{sqlstate::object_not_in_prerequisite_state,
                      "consistent recovery state has not been yet reached"});
  const StandbyEngine::Files files{state.files,         state.directory, state.volume,
                                   state.written_lsns,  state.given_up,  state.control,
                                   state.log_options(), state.oldest_log};
  state.engine = std::make_unique<StandbyEngine>(files, std::move(readers));
  auto engine = state.engine->open(state.reached, options);
  if (!engine) {
    state.engine.reset();
    return engine;
  }
  // A server that follows this one had the flush mark before this one was started anew.
  const Lsn at = state.reached.checkpoint.begin;
  ASSIGN_OR_RETURN(const wal::ReceivedLog::Whole whole, state.log->read(at, 1, nullptr));
  state.show_log(whole);
  return engine;
}

void Standby::keep_readers_out(Duration patience) {
  state_->engine->close_gate_for_good(patience);
}

void Standby::forget_engine() noexcept {
  state_->engine.reset();
}

Result<> Standby::promote() {
  State& state = *state_;
  ASSIGN_OR_RETURN(const Lsn end, state.log->cut(state.reached.checkpoint.begin));
  if (end < state.goal) {
    return fail(Error{sqlstate::data_corrupted,
                      fmt::format("the log ends at {}, but pages have been redone up to {}",
                                  lsn_words(end), lsn_words(state.goal))}
                    .with_hint("Let the standby receive the log once more, or make a new one."));
  }
  ASSIGN_OR_RETURN(
      const auto history,
      wal::TimelineHistory::read(state.files, state.log_directory(), state.timeline.load()));
  const wal::TimelineHistory promoted = history.next(end);
  RETURN_IF_ERROR(promoted.write(state.files, state.log_directory()));
  RETURN_IF_ERROR(state.begin_timeline(promoted.timeline()));
  RETURN_IF_ERROR(state.files.remove(state.directory / kRedoGoalName));
  RETURN_IF_ERROR(state.files.sync_directory(state.directory));
  spdlog::info("timeline {} begins at {}", promoted.timeline(), lsn_words(end));
  return {};
}

}  // namespace swizzle
