#include "server/standby/log_receiver.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <utility>

namespace swizzle::server {
namespace {

/// Between 1970, in which clocks count, and 2000, in which the protocol does.
constexpr std::int64_t kEpochMicros = 946'684'800'000'000;
constexpr Duration kRedoesEvery = std::chrono::seconds{5};
constexpr Duration kRedoesForReadersEvery = std::chrono::milliseconds{200};
constexpr Duration kLooksForLogEvery = std::chrono::milliseconds{250};
constexpr Duration kLooksForReadersEvery = std::chrono::milliseconds{20};
/// So much that is received and not redone is redone at once.
constexpr std::uint64_t kMuchToRedo = Standby::kMostAtOnce / 2;
constexpr int kMessagesBeforeFlush = 16;
constexpr Duration kBeforeNextTimeline = std::chrono::milliseconds{200};
constexpr Duration kNoTimeout = std::chrono::hours{24 * 365};

std::string lsn_words(Lsn lsn) {
  return fmt::format("{:X}/{:X}", raw(lsn) >> 32U, raw(lsn) & UINT32_MAX);
}

bool may_pass(const Error& error) {
  // A connection that is lost, and a disk that is full, may be better in a while.
  return error.state() == SqlState{"08006"} || error.state() == sqlstate::disk_full;
}

}  // namespace

LogReceiver::LogReceiver(Standby& standby, StandbySettings settings, Hooks hooks)
    : standby_(standby),
      following_(standby),
      settings_(std::move(settings)),
      hooks_(std::move(hooks)) {
  receiving_ = std::thread{[this] { receive(); }};
  redoing_ = std::thread{[this] { redo(); }};
}

LogReceiver::~LogReceiver() {
  interrupt_.raise();
  receiving_.join();
  redoing_.join();
}

std::optional<Error> LogReceiver::take_error() {
  const std::lock_guard lock{mutex_};
  return std::exchange(error_, std::nullopt);
}

void LogReceiver::give_up(Error error) {
  {
    const std::lock_guard lock{mutex_};
    if (error_) return;
    error_ = std::move(error);
  }
  interrupt_.raise();
  hooks_.failed();
}

LogReceiver::Status LogReceiver::status() const {
  Status status;
  status.is_connected = is_connected_.load();
  status.primary_end = Lsn{primary_end_.load()};
  status.received = standby_.received();
  status.durable = standby_.durable();
  status.redone = standby_.redone();
  status.replayed = standby_.replayed();
  status.timeline = standby_.timeline();
  const std::int64_t heard = heard_at_.load();
  if (heard != 0)
    status.heard_before = Runtime::current().now().time_since_epoch() - Duration{heard};
  return status;
}

void LogReceiver::receive() {
  while (!interrupt_.is_raised()) {
    if (settings_.primary.empty()) {
      if (!restore()) interrupt_.wait_for(settings_.retry_interval);
      continue;
    }
    auto ended = follow_once();
    is_connected_ = false;
    {
      const std::lock_guard lock{mutex_};
      connection_.reset();
    }
    if (interrupt_.is_raised()) break;
    if (!ended) {
      if (!may_pass(ended.error())) return give_up(std::move(ended).error());
      spdlog::error("{}", ended.error().message());
      if (!ended.error().detail().empty()) spdlog::error("DETAIL: {}", ended.error().detail());
    } else {
      spdlog::info("the primary has ended the replication");
    }
    // The primary may have removed what the archive still has, or be gone.
    if (!ended && restore()) continue;
    // A timeline that has ended goes on in the next one, at once.
    interrupt_.wait_for(ended ? std::min(settings_.retry_interval, kBeforeNextTimeline)
                              : settings_.retry_interval);
  }
  if (auto flushed = standby_.flush(); !flushed) give_up(std::move(flushed).error());
}

bool LogReceiver::restore() {
  if (settings_.restore_command.empty()) return false;
  const Lsn before = standby_.received();
  auto restored = standby_.restore_log(settings_.restore_command);
  if (!restored) {
    spdlog::error("could not restore the log from the archive: {}", restored.error().message());
    return false;
  }
  if (*restored) {
    spdlog::info("restored the log from the archive, from {} to {}", lsn_words(before),
                 lsn_words(standby_.received()));
  }
  return *restored;
}

bool LogReceiver::is_due(TimePoint due) const {
  if (hooks_.is_paused && hooks_.is_paused()) return false;
  const std::uint64_t behind = raw(standby_.durable()) - raw(standby_.redone());
  return behind >= kMuchToRedo || Runtime::current().now() >= due;
}

Result<> LogReceiver::redo_step() {
  ASSIGN_OR_RETURN(const bool has_redone,
                   standby_.redo_some([this] { return !interrupt_.is_raised(); }));
  if (has_redone && hooks_.stepped) return hooks_.stepped();
  return {};
}

void LogReceiver::redo() {
  const auto now = [] { return Runtime::current().now(); };
  const bool is_read = settings_.serves_readers;
  TimePoint due = now();
  bool is_first = true;
  while (!interrupt_.is_raised()) {
    if (!is_first && !is_due(due)) {
      interrupt_.wait_for(is_read ? kLooksForReadersEvery : kLooksForLogEvery);
      continue;
    }
    const Lsn before = standby_.redone();
    const Lsn replayed_before = standby_.replayed();
    const TimePoint began = now();
    auto redone = is_first && hooks_.stepped ? hooks_.stepped() : redo_step();
    is_first = false;
    // Readers wait for steps: these take a fifth of the time at most.
    const Duration least = is_read ? kRedoesForReadersEvery : kRedoesEvery;
    due = now() + (is_read ? std::max(least, 4 * (now() - began)) : least);
    if (standby_.replayed() != replayed_before) interrupt_.nudge();
    if (redone) {
      if (standby_.redone() == before) interrupt_.wait_for(kLooksForLogEvery);
      continue;
    }
    if (!may_pass(redone.error())) return give_up(std::move(redone).error());
    spdlog::error("redo waits: {}", redone.error().message());
    interrupt_.wait_for(settings_.retry_interval);
  }
}

Result<> LogReceiver::follow_once() {
  ASSIGN_OR_RETURN(const auto link, PrimaryLink::connect(settings_.primary, interrupt_));
  RETURN_IF_ERROR(follow_history(*link));
  const Lsn from = standby_.received();
  RETURN_IF_ERROR(link->start_log(settings_.slot, from, standby_.timeline()));
  spdlog::info("started streaming WAL from primary at {} on timeline {}", lsn_words(from),
               standby_.timeline());
  {
    const std::lock_guard lock{mutex_};
    connection_ = Connection{.started_at = from,
                             .started_timeline = standby_.timeline(),
                             .slot = settings_.slot,
                             .address = link->address()};
  }
  is_connected_ = true;
  return stream(*link);
}

/// That it is the same database, and that it goes on from where this one is.
Result<> LogReceiver::follow_history(PrimaryLink& link) {
  ASSIGN_OR_RETURN(const PrimaryLink::System primary, link.identify());
  ASSIGN_OR_RETURN(const std::string history, link.history(primary.timeline));
  RETURN_IF_ERROR(following_.begin(primary.id, primary.timeline, history));
  primary_end_ = raw(primary.durable);
  return {};
}

Result<> LogReceiver::stream(PrimaryLink& link) {
  const auto now = [] { return Runtime::current().now(); };
  TimePoint heard = now();
  bool has_asked = false;
  const Duration timeout = settings_.timeout > Duration::zero() ? settings_.timeout : kNoTimeout;
  constexpr Duration kLongestWait = std::chrono::seconds{1};
  must_report_ = true;
  while (!interrupt_.is_raised()) {
    if (must_report_) RETURN_IF_ERROR(report(link, false));
    ASSIGN_OR_RETURN(const PrimaryLink::Received first,
                     link.receive(std::min(kLongestWait, timeout / 4)));
    if (first.arrival == PrimaryLink::Arrival::end) return {};
    if (first.arrival == PrimaryLink::Arrival::message) {
      heard = now();
      has_asked = false;
      heard_at_ = heard.time_since_epoch().count();
      RETURN_IF_ERROR(take(link, first.bytes));
      ASSIGN_OR_RETURN(const bool goes_on, take_messages(link));
      RETURN_IF_ERROR(standby_.flush());
      if (!goes_on) return {};
    } else if (now() - heard > timeout) {
      return fail(SqlState{"08006"}, "terminating walreceiver due to timeout");
    } else if (now() - heard > timeout / 2 && !has_asked) {
      has_asked = true;
      RETURN_IF_ERROR(report(link, true));
    }
    const bool has_news =
        standby_.durable() != told_durable_ || standby_.replayed() != told_replayed_;
    const bool is_due = settings_.status_interval > Duration::zero() &&
                        now() - told_at_ >= settings_.status_interval;
    must_report_ = must_report_ || has_news || is_due;
  }
  // The last positions, so that the primary knows what is here.
  RETURN_IF_ERROR(standby_.flush());
  return report(link, false);
}

Result<bool> LogReceiver::take_messages(PrimaryLink& link) {
  for (int i = 1; i < kMessagesBeforeFlush; ++i) {
    ASSIGN_OR_RETURN(const PrimaryLink::Received next, link.receive(Duration::zero()));
    if (next.arrival == PrimaryLink::Arrival::end) return false;
    if (next.arrival == PrimaryLink::Arrival::none) break;
    RETURN_IF_ERROR(take(link, next.bytes));
  }
  return true;
}

Result<> LogReceiver::take(PrimaryLink& link, Bytes message) {
  constexpr std::size_t kKeepaliveBytes = 1 + 8 + 8 + 1;
  const char kind = message.empty() ? '\0' : static_cast<char>(message[0]);
  if (kind == 'w') return take_log(message);
  if (kind != 'k' || message.size() < kKeepaliveBytes) {
    return fail(SqlState{"08P01"},
                fmt::format("invalid replication message type {}", static_cast<int>(kind)));
  }
  note_message(Lsn{load_big_endian<std::uint64_t>(message.data() + 1)}, message.subspan(9));
  const bool wants_reply = message[kKeepaliveBytes - 1] != std::byte{0};
  return wants_reply ? report(link, false) : Result<>{};
}

Result<> LogReceiver::take_log(Bytes message) {
  constexpr std::size_t kLogHead = 1 + 8 + 8 + 8;
  if (message.size() < kLogHead)
    return fail(SqlState{"08P01"}, "invalid WAL message received from primary");
  const Lsn at{load_big_endian<std::uint64_t>(message.data() + 1)};
  note_message(Lsn{load_big_endian<std::uint64_t>(message.data() + 9)}, message.subspan(17));
  return following_.take(at, message.subspan(kLogHead));
}

void LogReceiver::note_message(Lsn end, Bytes sent_at) {
  const std::lock_guard lock{mutex_};
  connection_->sent_us =
      static_cast<std::int64_t>(load_big_endian<std::uint64_t>(sent_at.data())) + kEpochMicros;
  connection_->heard_us = Runtime::current().wall_clock_us();
  if (connection_->latest_end != end) connection_->latest_end_us = connection_->sent_us;
  connection_->latest_end = end;
  primary_end_ = raw(end);
}

std::optional<LogReceiver::Connection> LogReceiver::connection() const {
  const std::lock_guard lock{mutex_};
  return connection_;
}

Result<> LogReceiver::report(PrimaryLink& link, bool wants_reply) {
  std::array<std::byte, 1 + 4 * 8 + 1> message{};
  message[0] = std::byte{'r'};
  const Following::Positions here = following_.positions();
  store_big_endian(message.data() + 1, raw(here.received));
  store_big_endian(message.data() + 9, raw(here.durable));
  store_big_endian(message.data() + 17, raw(here.replayed));
  store_big_endian(message.data() + 25,
                   static_cast<std::uint64_t>(Runtime::current().wall_clock_us() - kEpochMicros));
  message[33] = wants_reply ? std::byte{1} : std::byte{0};
  RETURN_IF_ERROR(link.send(message));
  told_durable_ = here.durable;
  told_replayed_ = here.replayed;
  told_at_ = Runtime::current().now();
  must_report_ = false;
  return {};
}

}  // namespace swizzle::server
