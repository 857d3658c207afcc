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
      published_(session, options_for(command, name_)),
      read_up_to_(hold_.slot().restart),
      confirmed_(std::max(hold_.slot().confirmed, part.from)) {
  const ChangeReader::Options options{.memory_bytes = decoding_memory(session),
                                      .files = files_.get(),
                                      .committed_from = confirmed_,
                                      .read_until = part.until};
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
  facts_ = {.id = next->id,
            .commit = next->commit,
            .end = next->end,
            .committed_at = next->committed_at_us - kUnixEpochSeconds * kMicrosPerSecond};
  current_.emplace(std::move(*next));
  has_begun_ = false;
  origin_.clear();
}

void SlotStream::tell_next_change() {
  const auto change = value_of(current_->changes.next());
  if (!change) {
    if (has_begun_) ready_.push_back({facts_.end, pgoutput::commit(facts_)});
    current_.reset();
    keep_mark();
    return;
  }
  told_.clear();
  auto place = PublishedChanges::Place::in_transaction;
  try {
    place = published_.tell(change->lsn, change->body, told_);
  } catch (SqlError& error) {
    say_where(error, name_,
              fmt::format("change callback, associated LSN {}", lsn_text(change->lsn)));
    throw;
  }
  if (place == PublishedChanges::Place::nowhere) {
    current_.reset();
    keep_mark();
    return;
  }
  if (told_.empty()) return;
  if (place == PublishedChanges::Place::behind_begin) {
    origin_ = std::move(told_.front());
    return;
  }
  const bool begins = place == PublishedChanges::Place::in_transaction && !has_begun_;
  if (begins) {
    ready_.push_back({change->lsn, pgoutput::begin(facts_)});
    if (!origin_.empty()) ready_.push_back({change->lsn, std::exchange(origin_, {})});
  }
  has_begun_ = has_begun_ || begins;
  for (std::string& message : told_) ready_.push_back({change->lsn, std::move(message)});
}

std::optional<ChangeStream::Message> SlotStream::next() {
  constexpr int kMostInVain = 1000;
  session_.check_cancelled();
  for (int i = 0; ready_.empty() && i < kMostInVain; ++i) {
    if (!current_) {
      take_next_transaction();
      if (!current_) return std::nullopt;
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
