#include "sql-lite-frontend/session/replication/slot_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/runtime/runtime.h"
#include "sql-lite-frontend/execution/rows/temporary_files.h"
#include "sql-lite-frontend/session/replication/slots.h"
#include "sql-lite-frontend/types/datetime/datetime.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

/// Interval between saves of a slot's position. A reader gives its own position when it resumes, so
/// a lost save does not repeat changes.
constexpr Duration kSavesEvery = std::chrono::seconds{1};
constexpr std::size_t kMostMarks = std::size_t{1} << 16U;

}  // namespace

/// Temporary files for large transactions that have not ended.
class SlotStream::Files final : public SpillFiles {
 public:
  explicit Files(TemporaryFiles& files) : files_(files) {}
  Result<std::unique_ptr<Spill>> create() override {
    ASSIGN_OR_RETURN(auto file, files_.create());
    return std::unique_ptr<Spill>(std::make_unique<OneFile>(std::move(file)));
  }

 private:
  class OneFile final : public Spill {
   public:
    explicit OneFile(std::unique_ptr<TemporaryFile> file) : file_(std::move(file)) {}
    File& file() noexcept override { return file_->file(); }

   private:
    std::unique_ptr<TemporaryFile> file_;
  };
  TemporaryFiles& files_;
};

namespace {

/// Adds PostgreSQL's context to an error.
void say_where(SqlError& error, std::string_view slot, std::string_view where) {
  if (error.fields().where.empty())
    error.fields().where =
        fmt::format("slot \"{}\", output plugin \"pgoutput\", in the {}", slot, where);
}

OutputOptions options_for(const ReplicationCommand& command, std::string_view slot) {
  try {
    return output_options(command);
  } catch (SqlError& error) {
    say_where(error, slot, "startup callback");
    throw;
  }
}

std::uint64_t decoding_memory(Session::State& session) {
  return static_cast<std::uint64_t>(session.settings.integer("logical_decoding_work_mem")) << 10U;
}

}  // namespace

SlotStream::Hold::Hold(Session::State& session, std::string name)
    : slots_(session.shared.engine.logical_log().slots()),
      slot_(value_of(slots_.acquire(name, session.options.backend_pid))) {
  session.slots_used = true;
  std::optional<SqlError> refused;
  if (slot_.is_physical()) {
    refused = sql_error(sqlstate::object_not_in_prerequisite_state,
                        "cannot use physical replication slot for logical decoding");
  } else if (slot_.database != session.catalog.of_database().database()) {
    refused = sql_error(sqlstate::object_not_in_prerequisite_state,
                        "replication slot \"{}\" was not created in this database", name);
  } else if (slot_.is_lost) {
    refused = sql_error(sqlstate::object_not_in_prerequisite_state,
                        "cannot read from logical replication slot \"{}\"", name)
                  .with_detail(
                      "This slot has been invalidated because it exceeded the maximum "
                      "reserved size.");
  }
  if (!refused) return;
  slots_.release(name);
  throw std::move(*refused);
}

SlotStream::Hold::~Hold() {
  slots_.release(slot_.name);
}

SlotStream::SlotStream(Session::State& session, std::string_view slot, Part part,
                       const ReplicationCommand& command)
    : session_(session),
      slots_(session.shared.engine.logical_log().slots()),
      name_(slot),
      hold_(session, name_),
      files_(std::make_unique<Files>(session.temporary_files)),
      options_(options_for(command, name_)),
      published_(session, options_),
      read_up_to_(hold_.slot().restart),
      confirmed_(std::max(hold_.slot().confirmed, part.from)) {
  // Once a reader has asked for prepared transactions, the slot has them, as in PostgreSQL.
  Lsn prepared_from = hold_.slot().two_phase_from;
  if (prepared_from == Lsn::none) {
    prepared_from = options_.two_phase ? confirmed_ : Lsn::max;
    if (options_.two_phase) value_of(slots_.enable_two_phase(name_, prepared_from));
  }
  const ChangeReader::Options options{
      .memory_bytes = decoding_memory(session),
      .files = files_.get(),
      .committed_from = confirmed_,
      .read_until = part.until,
      .streams = options_.streaming != OutputOptions::Streaming::off,
      .prepared_from = prepared_from};
  reader_ = session.shared.engine.logical_log().read(read_up_to_, options);
}

SlotStream::~SlotStream() {
  session_.shared.log_senders.remove(session_.options.backend_pid);
}

void SlotStream::keep_mark() {
  read_up_to_ = reader_->position();
  const Mark mark{read_up_to_, reader_->needed_from()};
  // The previous mark needs the log from the same position on, so it suffices.
  if (!marks_.empty() && marks_.back().needed == mark.needed) return;
  marks_.push_back(mark);
  if (marks_.size() < kMostMarks) return;
  // The client confirms nothing: drop every other mark, which only makes the positions coarser.
  std::deque<Mark> fewer;
  for (std::size_t i = 1; i < marks_.size(); i += 2) fewer.push_back(marks_[i]);
  marks_ = std::move(fewer);
}

void SlotStream::take_next_transaction() {
  auto next = value_of(reader_->next());
  if (!next) {
    keep_mark();
    return;
  }
  const auto moment = [](std::int64_t us) { return us - kUnixEpochSeconds * kMicrosPerSecond; };
  facts_ = {.id = next->id,
            .commit = next->commit,
            .end = next->end,
            .committed_at = moment(next->committed_at_us),
            .gid = std::move(next->gid),
            .prepared_end = next->prepared_end,
            .prepared_at = moment(next->prepared_at_us)};
  has_begun_ = false;
  origin_.clear();
  const bool has_changes = next->event == Event::committed || next->event == Event::prepared ||
                           next->event == Event::part;
  if (!has_changes) return take_end(*next);
  streamed_ = next->part != 0 ? &all_streamed_[next->id] : nullptr;
  current_.emplace(std::move(*next));
}

void SlotStream::take_end(const DecodedChanges& event) {
  switch (event.event) {
    case Event::committed_prepared:
    case Event::rolled_back_prepared:
      if (prepared_.erase(event.id) != 0) {
        send(event.end, event.event == Event::committed_prepared
                            ? pgoutput::commit_prepared(facts_)
                            : pgoutput::rollback_prepared(facts_));
      }
      break;
    case Event::part_taken_back:
      take_back_parts(event.part);
      break;
    default:
      if (all_streamed_[event.id].has_begun) send_abort(pgoutput::number_of(event.id));
      all_streamed_.erase(event.id);
      break;
  }
  keep_mark();
}

/// The subscriber does not know a part without messages: it is told of the first that had some.
void SlotStream::take_back_parts(std::uint32_t first) {
  Streamed& streamed = all_streamed_[facts_.id];
  const auto sent = streamed.parts.lower_bound(first);
  if (sent == streamed.parts.end()) return;
  send_abort(number_of_part(*sent));
  streamed.parts.erase(sent, streamed.parts.end());
  // Descriptions of tables may have been in them.
  streamed.told.clear();
}

void SlotStream::send_abort(std::uint32_t number) {
  send(facts_.commit, options_.streaming == OutputOptions::Streaming::parallel
                          ? pgoutput::stream_abort_in_parallel(facts_, number)
                          : pgoutput::stream_abort(facts_, number));
}

/// Each part is a subtransaction for the subscriber, since it can be taken back alone.
std::uint32_t SlotStream::number_of_part(std::uint32_t part) const noexcept {
  return pgoutput::number_of(facts_.id) + part;
}

void SlotStream::send(Lsn lsn, std::string message) {
  ready_.push_back({lsn, std::move(message)});
}

void SlotStream::begin_current(Lsn lsn) {
  if (std::exchange(has_begun_, true)) return;
  if (streamed_ != nullptr) {
    const bool is_first = !std::exchange(streamed_->has_begun, true);
    streamed_->parts.insert(current_->part);
    send(lsn, pgoutput::stream_start(facts_.id,
                                     is_first ? pgoutput::Part::first : pgoutput::Part::later));
  } else if (current_->event == Event::prepared) {
    if (!is_repeated()) send(lsn, pgoutput::begin_prepare(facts_));
  } else {
    send(lsn, pgoutput::begin(facts_));
  }
  if (!origin_.empty() && !is_repeated()) send(lsn, std::exchange(origin_, {}));
}

void SlotStream::end_current() {
  const bool is_prepared = current_->event == Event::prepared;
  if (streamed_ != nullptr) {
    if (has_begun_) send(facts_.commit, pgoutput::stream_stop());
    if (current_->event != Event::part) {
      has_begun_ = streamed_->has_begun;
      if (has_begun_) {
        send(facts_.end,
             is_prepared ? pgoutput::stream_prepare(facts_) : pgoutput::stream_commit(facts_));
      }
      if (has_begun_) published_.add_told(streamed_->told);
      all_streamed_.erase(facts_.id);
    }
  } else if (has_begun_ && !is_repeated()) {
    send(facts_.end, is_prepared ? pgoutput::prepare(facts_) : pgoutput::commit(facts_));
  }
  if (is_prepared && has_begun_) prepared_.insert(facts_.id);
  streamed_ = nullptr;
  current_.reset();
  keep_mark();
}

PublishedChanges::Place SlotStream::tell(const ChangeBuffer::Change& change) {
  told_.clear();
  // Of a transaction that the subscriber has, nothing is sent.
  PublishedChanges::ToldTables nothing;
  std::optional<PublishedChanges::PartScope> scope;
  if (streamed_ != nullptr) scope.emplace(published_, streamed_->told);
  if (is_repeated()) scope.emplace(published_, nothing);
  try {
    return published_.tell(change.lsn, change.body, told_);
  } catch (SqlError& error) {
    say_where(error, name_,
              fmt::format("change callback, associated LSN {}", lsn_text(change.lsn)));
    throw;
  }
}

void SlotStream::tell_next_change() {
  using Place = PublishedChanges::Place;
  if (streamed_ != nullptr && streamed_->is_left_out) return end_current();
  const auto change = value_of(current_->changes.next());
  if (!change) return end_current();
  const Place place = tell(*change);
  if (place == Place::nowhere) {
    if (streamed_ != nullptr) {
      streamed_->is_left_out = true;
      return;
    }
    current_.reset();
    keep_mark();
    return;
  }
  if (told_.empty()) return;
  if (place == Place::behind_begin) {
    origin_ = std::move(told_.front());
    return;
  }
  if (place == Place::alone) {
    // Not within a part.
    if (streamed_ != nullptr && std::exchange(has_begun_, false))
      send(change->lsn, pgoutput::stream_stop());
  } else {
    begin_current(change->lsn);
  }
  if (is_repeated()) return;
  const bool is_of_part = streamed_ != nullptr && place == Place::in_transaction;
  for (std::string& message : told_) {
    send(change->lsn, is_of_part ? pgoutput::numbered(message, number_of_part(current_->part))
                                 : std::move(message));
  }
}

std::optional<ChangeStream::Message> SlotStream::next() {
  constexpr int kMostInVain = 1000;
  session_.check_cancelled();
  for (int i = 0; ready_.empty() && i < kMostInVain; ++i) {
    if (!current_) {
      take_next_transaction();
      if (!current_ && ready_.empty()) return std::nullopt;
      if (!current_) continue;
    }
    tell_next_change();
  }
  if (ready_.empty()) return std::nullopt;
  handed_out_of_ = facts_.id;
  Message message = std::move(ready_.front());
  ready_.pop_front();
  return message;
}

bool SlotStream::awaits_more(const std::function<void()>& wake) {
  if (!ready_.empty() || !is_at_end()) return false;
  if (!follower_) follower_ = session_.shared.engine.logical_log().follower(wake);
  return follower_->awaits_more_than(reader_->end());
}

void SlotStream::show(const Progress& progress) {
  session_.shared.log_senders.put({.pid = session_.options.backend_pid,
                                   .application = session_.activity.application.load(),
                                   .catches_up = !is_at_end(),
                                   .sent = progress.sent,
                                   .written = progress.written,
                                   .flushed = progress.flushed,
                                   .replayed = progress.replayed,
                                   .replied_at = progress.replied_at});
}

Duration SlotStream::timeout() const {
  return std::chrono::milliseconds{session_.settings.integer("wal_sender_timeout")};
}

void SlotStream::confirm(Lsn lsn) {
  if (lsn <= confirmed_) return;
  confirmed_ = lsn;
  Lsn needed = Lsn::none;
  while (!marks_.empty() && marks_.front().position <= lsn) {
    needed = marks_.front().needed;
    marks_.pop_front();
  }
  const TimePoint now = Runtime::current().now();
  const bool saves = needed != Lsn::none && now - saved_at_ >= kSavesEvery;
  if (saves) saved_at_ = now;
  value_of(slots_.advance(name_, needed, confirmed_,
                          saves ? LogSlots::Save::now : LogSlots::Save::soon));
}

Lsn advance_slot(Session::State& session, std::string_view slot, Lsn upto) {
  LogicalLog& log = session.shared.engine.logical_log();
  const SlotStream::Hold hold(session, std::string{slot});
  const swizzle::Slot& acquired = hold.slot();
  const Lsn to = std::min(upto, log.durable());
  if (to < acquired.confirmed) {
    throw_error(sqlstate::object_not_in_prerequisite_state,
                "cannot advance replication slot to {}, minimum is {}", lsn_text(to),
                lsn_text(acquired.confirmed));
  }
  // Read the log for the beginnings of transactions that have not ended at that position.
  SlotStream::Files files(session.temporary_files);
  const auto reader = log.read(acquired.restart, {.memory_bytes = decoding_memory(session),
                                                  .files = &files,
                                                  .committed_from = Lsn::max,
                                                  .read_until = to});
  do {
    session.check_cancelled();
    value_of(reader->next());
  } while (!reader->is_at_end());
  value_of(log.slots().advance(acquired.name, reader->needed_from(), to, LogSlots::Save::now));
  return to;
}

}  // namespace swizzle::sql
