#include "sql-lite-frontend/session/tests/cluster/server_run.h"

#include <fmt/format.h>

#include <mutex>
#include <utility>

#include "base/invariant.h"
#include "sql-lite-frontend/session/transactions/commit_wait.h"
#include "storage/logical/logical_log.h"
#include "storage/replay_gate.h"
#include "storage/standby/sent_log.h"

namespace swizzle::sql::cluster {
namespace {

constexpr Duration kSilence = std::chrono::milliseconds{300};
constexpr Duration kReportsEvery = std::chrono::milliseconds{60};

}  // namespace

EngineOptions engine_options() {
  EngineOptions options;
  options.pool_bytes = std::uint64_t{48} * 8704;
  options.log_segment_bytes = std::uint64_t{64} << 10U;
  options.log_buffer_bytes = std::uint64_t{64} << 10U;
  options.checkpoint_log_bytes = std::uint64_t{100} << 10U;
  return options;
}

ServerRun::ServerRun(std::size_t of, std::shared_ptr<SimulatedDisk> disk, Network& network,
                     std::uint64_t seed, Hooks hooks)
    : machine(of),
      disk_(std::move(disk)),
      network_(network),
      random_(seed),
      hooks_(std::move(hooks)) {}

ServerRun::~ServerRun() {
  INVARIANT(tasks_.empty());
}

void ServerRun::spawn(const char* name, std::function<void()> body) {
  tasks_.push_back(Runtime::current().spawn(name, std::move(body)));
}

Result<> ServerRun::open_primary() {
  const std::lock_guard hold(changing_);
  if (has_stopped_) return fail(sqlstate::internal_error, "the server has ended");
  return open_engine();
}

Result<> ServerRun::open_engine() {
  ASSIGN_OR_RETURN(engine_, Engine::open(*disk_, kHome, engine_options()));
  role_ = Role::primary;
  wait_for({});
  serves_ = true;
  return {};
}

Result<> ServerRun::open_standby(bool serves_readers) {
  ASSIGN_OR_RETURN(standby_, Standby::open(*disk_, kHome));
  following_.emplace(*standby_);
  serves_readers_ = serves_readers;
  spawn("receiver", [this] { receive(); });
  spawn("redo", [this] { redo(); });
  return {};
}

void ServerRun::kill() noexcept {
  is_dead_ = true;
  for (Interruption* session : sessions_) session->cancel(std::nullopt);
}

void ServerRun::end_tasks() {
  serves_ = false;
  stops_ = true;
  news_.wake();
  if (engine_ && engine_->is_standby()) engine_->own_replay_gate()->shut();
  while (uses_ > 0) {
    for (Interruption* session : sessions_) session->cancel(std::nullopt);
    pause(ms(2));
  }
  for (const auto& link : links_) {
    link->to_sender.wake();
    link->to_follower.wake();
  }
  // A task may have started another one meanwhile.
  while (!tasks_.empty()) {
    const auto last = std::move(tasks_.back());
    tasks_.pop_back();
    last->join();
  }
  links_.clear();
  stops_ = false;
}

void ServerRun::close_readers() {
  engine_.reset();
  if (standby_) standby_->forget_engine();
}

void ServerRun::stop(bool orderly) {
  const std::lock_guard hold(changing_);
  if (std::exchange(has_stopped_, true)) return;
  end_tasks();
  if (role_ == Role::primary && orderly) static_cast<void>(engine_->close());
  close_readers();
  standby_.reset();
}

Result<> ServerRun::promote() {
  const std::lock_guard hold(changing_);
  if (has_stopped_) return fail(sqlstate::internal_error, "the server has ended");
  end_tasks();
  close_readers();
  RETURN_IF_ERROR(standby_->promote());
  following_.reset();
  standby_.reset();
  return open_engine();
}

// ---- commits ----

bool ServerRun::await_followers(Duration longest) {
  // Outlives this call for the timer's sake.
  const auto asked = std::make_shared<Interruption>();
  sessions_.insert(asked.get());
  Simulation::running()->call_at(now() + longest, [asked] { asked->cancel(std::nullopt); });
  const auto waited = await_durable_there(senders_, engine_->logical_log(),
                                          LogSenders::Level::flushed, {.pid = 1, .asked = *asked});
  sessions_.erase(asked.get());
  return waited == LogSenders::Waited::confirmed && !is_dead_;
}

void ServerRun::wait_for(const std::set<std::size_t>& machines) {
  waited_for_ = machines;
  std::string names;
  for (const std::size_t one : machines) names += (names.empty() ? "" : ", ") + name_of(one);
  const std::string text =
      machines.empty()
          ? "*"
          : fmt::format("{} {} ({})", random_.one_in(2) ? "FIRST" : "ANY", machines.size(), names);
  auto rule = SyncRule::parse(text);
  INVARIANT(rule.has_value());
  senders_.set_rule(*std::move(rule));
}

// ---- the log is sent ----

Result<ServerRun::Identity> ServerRun::identify() {
  const Use use{shared_from_this()};
  LogicalLog& log = engine_->logical_log();
  const std::uint32_t timeline = log.timeline();
  ASSIGN_OR_RETURN(const wal::TimelineHistory history, log.history(timeline));
  return Identity{log.log_id(), timeline, timeline == 1 ? std::string{} : history.text()};
}

Result<std::shared_ptr<StreamLink>> ServerRun::start_stream(std::size_t follower,
                                                            std::uint32_t timeline, Lsn from) {
  if (!serves()) return fail(SqlState{"08006"}, "nobody answers");
  if (!followers_.insert(follower).second) return fail(SqlState{"55006"}, "the slot is active");
  auto link = std::make_shared<StreamLink>(network_, machine, follower);
  links_.push_back(link);
  spawn("sender", [this, link, follower, timeline, from] {
    send_log(*link, timeline, from);
    link->is_closed = true;
    followers_.erase(follower);
  });
  return link;
}

void ServerRun::send_log(StreamLink& link, std::uint32_t timeline, Lsn from) {
  LogicalLog& log = engine_->logical_log();
  SentLog sent{log, timeline, from};
  if (!sent.check_start()) return;
  if (sent.is_at_end() && !engine_->is_standby() && !engine_->checkpoint()) return;
  const std::int32_t pid = ++last_pid_;
  StreamLink::Report reported;
  std::int64_t reports = 0;
  const auto show = [&] {
    senders_.put({.pid = pid,
                  .application = name_of(link.follower),
                  .catches_up = !sent.is_at_end(),
                  .sent = sent.position(),
                  .written = reported.received,
                  .flushed = reported.durable,
                  .replayed = reported.replayed,
                  .replied_at = reports});
  };
  const auto follower = log.follower([&link] { link.to_sender.wake(); });
  TimePoint heard = now();
  while (!stops_ && now() - heard < kSilence) {
    const auto piece = sent.next();
    if (!piece) break;
    if (*piece && !is_dead_)
      link.send_log({.at = (*piece)->at, .bytes = std::string{as_text((*piece)->bytes)}});
    show();
    if (sent.is_over()) {
      if (!is_dead_) link.send_log({.at = sent.position(), .bytes = {}, .is_end = true});
      break;
    }
    TimePoint until = now();
    if (sent.is_at_end()) {
      sent.end_with_mark();
      if (follower->awaits_more_than(sent.position())) until += kReportsEvery;
    }
    while (const auto report = link.to_sender.take(until)) {
      if (is_dead_) continue;
      heard = until = now();
      reported = *report;
      ++reports;
      show();
    }
  }
  senders_.remove(pid);
}

// ---- the log is received ----

void ServerRun::receive() {
  while (!stops_) {
    const std::size_t source = source_;
    if (source != SIZE_MAX) {
      const auto followed = follow_once(source);
      if (!followed && followed.error().state() == sqlstate::object_not_in_prerequisite_state) {
        has_parted_ = true;
        return;
      }
    }
    if (!stops_) news_.take(now() + ms(random_.between(5, 40)));
  }
}

Result<> ServerRun::follow_once(std::size_t source) {
  const auto lost = [] { return fail(SqlState{"08006"}, "the connection is lost"); };
  if (!network_.pass(machine, source) || stops_) return lost();
  const auto other = hooks_.run_on(source);
  if (!other || !other->serves()) return lost();
  ASSIGN_OR_RETURN(const Identity identity, other->identify());
  if (!network_.pass(source, machine) || stops_ || is_dead_) return lost();
  RETURN_IF_ERROR(following_->begin(identity.log_id, identity.timeline, identity.history));
  if (!network_.pass(machine, source) || stops_ || is_dead_) return lost();
  ASSIGN_OR_RETURN(const auto link,
                   other->start_stream(machine, standby_->timeline(), standby_->received()));
  links_.push_back(link);
  auto ended = take_log(*link, source);
  std::erase(links_, link);
  return ended;
}

Result<> ServerRun::take_log(StreamLink& link, std::size_t source) {
  TimePoint heard = now();
  report(link);
  TimePoint told = now();
  while (!stops_ && source_ == source) {
    auto log = link.to_follower.take(now() + ms(20));
    if (is_dead_) continue;
    for (int more = 0; log; ++more) {
      heard = now();
      if (log->is_end) return standby_->flush();
      RETURN_IF_ERROR(following_->take(log->at, as_bytes(log->bytes)));
      // As an answer to whoever asks, at any time.
      if (random_.one_in(4)) report(link);
      if (more == 4) break;
      log = link.to_follower.take(now());
    }
    // A report that is on its way when the power fails arrives.
    RETURN_IF_ERROR(standby_->flush());
    if (is_dead_) continue;
    const Following::Positions here = following_->positions();
    const bool has_news = here.durable != told_.durable || here.replayed != told_.replayed;
    if (has_news || now() - told >= kReportsEvery) {
      report(link);
      told = now();
    }
    if (link.is_closed && now() - heard > kReportsEvery) break;
  }
  return standby_->flush();
}

void ServerRun::report(StreamLink& link) {
  if (is_dead_) return;
  told_ = following_->positions();
  link.send_report({told_.received, told_.durable, told_.replayed});
}

void ServerRun::redo() {
  while (!stops_) {
    pause(ms(random_.between(5, random_.one_in(10) ? 300 : 40)));
    try_to_serve();
    if (random_.one_in(3)) read();
    const auto redone = standby_->redo_some([this] { return !stops_; });
    INVARIANT(redone.has_value());
  }
}

void ServerRun::try_to_serve() {
  if (engine_ || !serves_readers_) return;
  StandbyReaders readers;
  readers.patience = [] { return std::optional<Duration>{ms(100)}; };
  readers.cancel = [] {};
  readers.moved = [](const std::set<TreeId>&) { return Result<>{}; };
  auto opened = standby_->open_engine(engine_options(), std::move(readers));
  if (!opened) return;
  engine_ = *std::move(opened);
  serves_ = !stops_;
}

void ServerRun::read() {
  if (!engine_ || stops_) return;
  tasks_.push_back(Runtime::current().spawn("reader", [this] {
    if (stops_ || !engine_->replay_gate()->enter()) return;
    hooks_.look(*this);
    engine_->replay_gate()->leave();
  }));
}

}  // namespace swizzle::sql::cluster
