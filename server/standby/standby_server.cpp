#include "server/standby/standby_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <boost/asio/post.hpp>
#include <mutex>
#include <utility>

#include "base/invariant.h"
#include "server/main/service_notice.h"
#include "server/observability/role_answers.h"

namespace swizzle::server {
namespace {

/// A second descriptor of each, so that the sockets are there after the promotion.
std::vector<Descriptor> copies_of(const std::vector<ListeningSocket>& sockets) {
  std::vector<Descriptor> copies;
  for (const ListeningSocket& socket : sockets) {
    spdlog::info("metrics at http://{}/", socket.name);
    copies.emplace_back(::fcntl(socket.descriptor.get(), F_DUPFD_CLOEXEC, 0));
  }
  return copies;
}

void add_metric(std::string& text, std::string_view name, std::string_view help, double value) {
  text += fmt::format("# HELP {0} {1}\n# TYPE {0} gauge\n{0} {2}\n", name, help, value);
}

std::uint64_t between(Lsn from, Lsn to) noexcept {
  return raw(to) > raw(from) ? raw(to) - raw(from) : 0;
}

std::string metrics_of(const LogReceiver::Status& now) {
  std::string text;
  const auto number = [](std::uint64_t value) { return static_cast<double>(value); };
  add_metric(text, "swizzle_standby", "1 while the server follows another one.", 1);
  add_metric(text, "swizzle_standby_connected", "1 while it receives the log.",
             now.is_connected ? 1 : 0);
  add_metric(text, "swizzle_standby_timeline", "Timeline of its log.", now.timeline);
  add_metric(text, "swizzle_standby_received_lsn", "End of the log here.",
             number(raw(now.received)));
  add_metric(text, "swizzle_standby_flushed_lsn", "End of the durable log here.",
             number(raw(now.durable)));
  add_metric(text, "swizzle_standby_replayed_lsn", "Position that the pages have reached.",
             number(raw(now.redone)));
  add_metric(text, "swizzle_standby_primary_lsn", "End of the primary's log, as it said last.",
             number(raw(now.primary_end)));
  add_metric(text, "swizzle_standby_lag_bytes", "Log of the primary that is not durable here.",
             number(between(now.durable, now.primary_end)));
  add_metric(text, "swizzle_standby_replay_lag_bytes", "Durable log that is not redone.",
             number(between(now.redone, now.durable)));
  if (now.heard_before) {
    add_metric(text, "swizzle_standby_silence_seconds", "Time since the primary said something.",
               std::chrono::duration<double>{*now.heard_before}.count());
  }
  return text;
}

}  // namespace

struct StandbyServer::State {
  boost::asio::io_context& events;
  ProcessSignals& signals;
  const ReadSettings read_settings;
  std::unique_ptr<Standby> standby{};
  /// Replaced by the main thread alone, under the mutex; sessions read it under that.
  std::unique_ptr<LogReceiver> receiver{};
  std::mutex receiver_mutex{};
  StandbySettings followed_by{};  ///< of the receiver
  std::optional<End> end{};
  const StandbySessions sessions;
  StandbyControl control{};
  /// Of the thread that redoes: it is open, or cannot be.
  bool has_tried = false;
  std::atomic<bool> is_open{false};

  void receive(StandbySettings settings) {
    // Ended without the mutex: a step that waits for a session which waits for the mutex would wait
    // for ever.
    put_receiver(nullptr);
    if (settings.primary.empty()) {
      spdlog::warn(
          "primary_conninfo is not set: the server follows nobody until it is, or until it "
          "is promoted");
    }
    followed_by = settings;
    control.patience = settings.readers_patience ? settings.readers_patience->count() : -1;
    LogReceiver::Hooks hooks{
        .failed = [this] { boost::asio::post(events, [this] { events.stop(); }); },
        .stepped = {},
        .is_paused = [this] { return control.is_paused.load(); }};
    if (settings.serves_readers) hooks.stepped = [this] { return try_to_open(); };
    put_receiver(std::make_unique<LogReceiver>(*standby, std::move(settings), std::move(hooks)));
  }
  void put_receiver(std::unique_ptr<LogReceiver> next) {
    const std::unique_ptr<LogReceiver> last = [&] {
      const std::lock_guard lock{receiver_mutex};
      return std::exchange(receiver, std::move(next));
    }();
  }
  std::optional<StandbyControl::Receiving> receiving() {
    const std::lock_guard lock{receiver_mutex};
    if (receiver == nullptr) return std::nullopt;
    auto connection = receiver->connection();
    if (!connection) return std::nullopt;
    return StandbyControl::Receiving{receiver->status(), *std::move(connection)};
  }
  Result<> try_to_open() {
    if (has_tried) return {};
    auto opened = sessions.open(*standby);
    if (!opened && opened.error().state() == sqlstate::object_not_in_prerequisite_state) return {};
    has_tried = true;
    if (!opened) {
      spdlog::error("hot standby is not possible: {}", opened.error().message());
      return {};
    }
    is_open = true;
    boost::asio::post(events, [this] { sessions.let_in(); });
    return {};
  }
};

StandbyServer::StandbyServer(boost::asio::io_context& events, ProcessSignals& signals,
                             ReadSettings read_settings, StandbySessions sessions)
    : state_(new State{.events = events,
                       .signals = signals,
                       .read_settings = std::move(read_settings),
                       .sessions = std::move(sessions)}) {
  state_->control.receiving = [state = state_.get()] { return state->receiving(); };
}

StandbyControl& StandbyServer::control() noexcept {
  return state_->control;
}

StandbyServer::~StandbyServer() = default;

Result<StandbyServer::End> StandbyServer::run(FileSystem& files, const DataDirectory& directory,
                                              const std::vector<ListeningSocket>& metrics) {
  State& state = *state_;
  ASSIGN_OR_RETURN(StandbySettings settings, state.read_settings());
  ASSIGN_OR_RETURN(state.standby, Standby::open(files, directory.engine()));
  spdlog::info("entering standby mode");
  state.receive(std::move(settings));
  {
    std::optional<HttpServer> http;
    if (!metrics.empty()) {
      http.emplace(state.events, copies_of(metrics),
                   [this](std::string_view target) { return answer(target); });
    }
    state.signals.read({.reload = [this] { reload(); },
                        .promote =
                            [this] {
                              spdlog::info("received promote request");
                              end(End::promoted);
                            },
                        .stop = [this](StopMode) { end(End::stopped); }});
    notify_service_manager("READY=1");
    state.events.run();
  }
  state.signals.end();
  auto error = state.receiver->take_error();
  state.put_receiver(nullptr);
  const bool is_promoted = state.end == End::promoted;
  if (state.is_open) is_promoted ? state.sessions.hold() : state.sessions.close();
  if (is_promoted) RETURN_IF_ERROR(state.standby->promote());
  state.standby.reset();
  if (state.end) return *state.end;
  INVARIANT(error.has_value());
  return fail(std::move(*error));
}

void StandbyServer::end(End end) {
  state_->end = end;
  state_->events.stop();
}

void StandbyServer::reload() {
  auto settings = state_->read_settings();
  if (!settings) return spdlog::error("nothing reloaded: {}", settings.error().message());
  spdlog::info("settings reloaded");
  if (*settings != state_->followed_by) state_->receive(std::move(*settings));
  if (state_->is_open) state_->sessions.reload();
}

HttpResponse StandbyServer::answer(std::string_view target) const {
  const std::string_view path = target.substr(0, target.find('?'));
  const LogReceiver::Status now = state_->receiver->status();
  if (path == "/metrics") {
    return {.content_type = "text/plain; version=0.0.4; charset=utf-8", .body = metrics_of(now)};
  }
  const std::string words = fmt::format("standby of timeline {}: {}, {} bytes behind", now.timeline,
                                        now.is_connected ? "receiving" : "not connected",
                                        between(now.durable, now.primary_end));
  // For people the same as for balancers, which ask for a server that serves clients.
  if (auto role =
          role_answer(path == "/" ? "/health" : target,
                      {.role = state_->is_open ? ServerRole::hot_standby : ServerRole::warm_standby,
                       .replay_lag_bytes = between(now.replayed, now.primary_end),
                       .write_lag_bytes = between(now.received, now.primary_end)},
                      words))
    return *std::move(role);
  constexpr unsigned kNotFound = 404;
  return {.status = kNotFound, .body = "not found\n"};
}

}  // namespace swizzle::server
