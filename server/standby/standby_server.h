#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/io/file.h"
#include "base/result.h"
#include "server/main/data_directory.h"
#include "server/main/listener.h"
#include "server/main/process_signals.h"
#include "server/observability/http_server.h"
#include "server/standby/log_receiver.h"
#include "server/standby/standby_settings.h"
#include "storage/standby/standby.h"

namespace swizzle::server {

/// Sessions that read a standby: what the server opens and closes for them.
struct StandbySessions {
  /// Opens the database for reading. By the thread that redoes, between two steps. 55000: not yet.
  std::function<Result<>(Standby& standby)> open;
  /// Lets clients in, once it is open. By the main thread.
  std::function<void()> let_in;
  /// Ends the sessions, and closes the database. By the main thread, when nothing is redone.
  std::function<void()> close;
  /// Closes the database for a promotion; the sessions wait. By the main thread, as above.
  std::function<void()> hold;
  /// Reads settings and rules again. By the main thread, while it is open.
  std::function<void()> reload;
};

/// Controls of the server that follows, for its sessions. Thread-safe.
struct StandbyControl {
  std::atomic<bool> is_paused{false};
  /// As max_standby_streaming_delay says, in nanoseconds; negative: for ever.
  std::atomic<std::int64_t> patience{0};
  /// The receiver's state and connection; nothing while it is not connected.
  struct Receiving {
    LogReceiver::Status status;
    LogReceiver::Connection connection;
  };
  std::function<std::optional<Receiving>()> receiving;
};

/// A server while it is a standby: follows its primary, and obeys signals. Of the main thread.
class StandbyServer {
 public:
  using ReadSettings = std::function<Result<StandbySettings>()>;
  /// `signals` are read while run() runs `events`.
  StandbyServer(boost::asio::io_context& events, ProcessSignals& signals,
                ReadSettings read_settings, StandbySessions sessions);
  StandbyServer(const StandbyServer&) = delete;
  StandbyServer& operator=(const StandbyServer&) = delete;
  ~StandbyServer();

  [[nodiscard]] StandbyControl& control() noexcept;

  enum class End : std::uint8_t { promoted, stopped };
  /// Returns when a signal ends it: USR1 promotes, so that an engine can open the directory. The
  /// metrics port answers meanwhile. An error: it cannot follow.
  Result<End> run(FileSystem& files, const DataDirectory& directory,
                  const std::vector<ListeningSocket>& metrics);

 private:
  struct State;
  void end(End end);
  void reload();
  HttpResponse answer(std::string_view target) const;

  std::unique_ptr<State> state_;
};

}  // namespace swizzle::server
