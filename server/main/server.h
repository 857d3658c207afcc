#pragma once

#include <csignal>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/fibers/fiber_runtime.h"
#include "base/fibers/turn_watch.h"
#include "base/io/posix_file_system.h"
#include "server/console/console.h"
#include "server/main/data_directory.h"
#include "server/main/listener.h"
#include "server/main/process_signals.h"
#include "server/main/server_settings.h"
#include "server/observability/metrics_endpoint.h"
#include "server/observability/server_metrics.h"
#include "server/session/server_context.h"
#include "server/subscriptions/apply_launcher.h"
#include "server/subscriptions/publisher_connection.h"
#include "sql-lite-frontend/session.h"
#include "storage/engine.h"
#include "storage/segment_closer.h"

namespace swizzle {
class Standby;
}

namespace swizzle::server {

class ClosedDoor;
class ServerRestore;
struct RestoreRequest;
struct StandbyControl;
struct StandbySettings;

/// A running server: from the data directory's lock to the last connection.
class Server {
 public:
  /// `overrides` come from the command line and win over the settings file, at reload too. With a
  /// request the directory is made first, of backups, if it is not there.
  static Result<std::unique_ptr<Server>> start(const DataDirectory& directory,
                                               std::vector<SettingAssignment> overrides,
                                               std::shared_ptr<ServerLog> log,
                                               const RestoreRequest* request);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  /// Serves until a signal stops the server. Returns the process's exit code.
  int run();

  /// Blocks the signals that run() waits for. Call before any thread is started.
  static void block_signals();

 private:
  Server(DataDirectory directory, std::vector<SettingAssignment> overrides,
         std::shared_ptr<ServerLog> log);

  /// Reads rules and keys; `directory` is where their relative paths begin.
  static Result<DoorPolicy> make_policy(const ServerSettings& settings,
                                        const DataDirectory& directory);
  /// Settings and rules, which open() reads before anything else happens.
  struct Configuration {
    std::vector<SettingAssignment> file;
    ServerSettings settings;
    std::shared_ptr<const DoorPolicy> policy;
  };
  Result<Configuration> read_configuration() const;
  Result<> open();
  /// Prepares the restore, if there is one, and reads the configuration again. A signal may end it:
  /// is_stopping_.
  Result<> prepare_restore(ClosedDoor& door, Configuration& configuration);
  /// Reads the lists of stop words in the directory, if one is set.
  Result<> read_stop_words(const std::string& directory) const;
  /// Becomes the user that the settings name, or warns that it does not.
  Result<> leave_root(const std::string& name, const std::vector<ListeningSocket>& sockets) const;
  Result<EngineOptions> repair_options(const ServerSettings& settings);
  Result<> open_database(const ServerSettings& settings,
                         const std::vector<SettingAssignment>& file);
  /// Follows another server until it is promoted, or asked to stop: is_stopping_.
  struct Following {
    const std::vector<ListeningSocket>& metrics_sockets;
    const ServerSettings& settings;
    const std::vector<SettingAssignment>& file;
    const std::shared_ptr<const DoorPolicy>& policy;
    std::optional<ClosedDoor>& door;
  };
  Result<> follow(const Following& with);
  Result<> open_standby(Standby& standby, StandbyControl& control, const Following& with);
  void close_standby(Standby& standby);
  /// Keeps the sessions for the promoted server, and closes the database under them.
  void hold_sessions(Standby& standby);
  /// Opens the promoted database under the sessions.
  Result<> open_promoted(const ServerSettings& settings);
  /// Pre: nothing is redone any more.
  void end_readers();
  Result<> open_for_writing(const ServerSettings& settings,
                            const std::vector<SettingAssignment>& file,
                            std::shared_ptr<const DoorPolicy> policy);
  Result<> open_context(const ServerSettings& settings, std::shared_ptr<const DoorPolicy> policy);
  Result<> open_sql(const ServerSettings& settings, const std::vector<SettingAssignment>& file);
  /// Pre: they have ended, and nobody is let in any more.
  void close_sessions();
  [[nodiscard]] Result<StandbySettings> read_standby_settings() const;
  Result<> promote_left_standby();
  void open_metrics(std::vector<ListeningSocket> sockets);
  Result<> reload();
  /// Applies limits of memory, temporary files and slots, at the start and after a reload.
  void apply_limits(const ServerSettings& settings);
  void close_segments(const ServerSettings& settings);
  /// Applies the limit of the log that slots keep.
  void limit_slots();
  Result<> store_setting(const std::optional<std::string>& name,
                         const std::optional<std::string>& value);
  void on_hangup();
  /// Waits for the next signal.
  /// Called by the timer: looks after clients, and during a shutdown checks whether all have left.
  void await_turn();
  /// Ends the connections that read the log of a server that stops, once all others have left:
  /// those that read logical changes at once, those of standbys when they have all of the log, so
  /// that one of them can go on where it stopped.
  void end_followers();
  [[nodiscard]] bool have_followers_all(const std::set<std::uint32_t>& followers);
  /// Cancels statements of clients that have disconnected.
  void look_for_clients();
  /// Closes unused sessions of the console.
  void look_after_console();
  /// Ends transactions that keep too much of the log.
  void end_long_transactions();
  [[nodiscard]] Duration turn_between_looks() const;
  void begin_stop(StopMode mode);
  int close();

  DataDirectory directory_;
  std::vector<SettingAssignment> overrides_;

  TimePoint next_look_{};
  TimePoint next_look_at_console_{};
  std::mutex altered_mutex_;  ///< one ALTER SYSTEM at a time

  bool is_stopping_ = false;
  /// A server that stops waits for its standbys until then; none: not yet.
  std::optional<TimePoint> followers_end_at_;

  // In the order of construction; destroyed in the opposite order.
  struct Events;
  std::unique_ptr<Events> events_;
  std::unique_ptr<ServerRestore> restore_;  ///< until the database is open
  std::unique_ptr<PidFile> pid_file_;
  PosixFileSystem files_;
  std::shared_ptr<ServerLog> log_;
  Duration recovery_{};
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<SegmentCloser> segment_closer_;
  PublisherConnections publishers_;
  std::unique_ptr<sql::Database> database_;
  std::unique_ptr<ServerContext> context_;
  std::unique_ptr<FiberRuntime> runtime_;
  std::unique_ptr<ApplyLauncher> apply_launcher_;
  std::unique_ptr<TurnWatch> turn_watch_;
  std::unique_ptr<ServerMetrics> metrics_;
  std::unique_ptr<Console> console_;
  std::unique_ptr<HttpServer> metrics_server_;
  std::unique_ptr<Acceptor> acceptor_;
  struct ReadersDoor;
  std::unique_ptr<ReadersDoor> readers_door_;
};

}  // namespace swizzle::server
