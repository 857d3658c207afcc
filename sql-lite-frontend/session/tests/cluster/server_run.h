#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/runtime/park_mutex.h"
#include "base/simulation/simulated_disk.h"
#include "sql-lite-frontend/session/shared/log_senders.h"
#include "sql-lite-frontend/session/tests/cluster/network.h"
#include "sql-lite-frontend/statement/interruption.h"
#include "storage/engine.h"
#include "storage/standby/following.h"
#include "storage/standby/standby.h"

namespace swizzle::sql::cluster {

inline const std::filesystem::path kHome = "/database";

EngineOptions engine_options();

/// One run of a server on a machine, from its start to its end: a primary or a standby, and a
/// standby that becomes a primary. What the network, the arbiter and the clients would reach by
/// sockets they call; the log, the standby, the timelines and the waits of commits are the
/// server's own.
class ServerRun : public std::enable_shared_from_this<ServerRun> {
 public:
  enum class Role { primary, standby };
  /// Told by a run to its history.
  struct Hooks {
    /// The run on a machine, if it is reachable there.
    std::function<std::shared_ptr<ServerRun>(std::size_t machine)> run_on;
    /// Looks at what readers of a standby see. Inside the gate.
    std::function<void(ServerRun& run)> look;
  };

  ServerRun(std::size_t machine, std::shared_ptr<SimulatedDisk> disk, Network& network,
            std::uint64_t seed, Hooks hooks);
  ServerRun(const ServerRun&) = delete;
  ServerRun& operator=(const ServerRun&) = delete;
  ~ServerRun();

  Result<> open_primary();
  Result<> open_standby(bool serves_readers);
  /// Ends what a standby does, and opens its directory as a primary's.
  Result<> promote();
  /// Parks until everything has ended. `orderly`: with a last checkpoint, where that is possible.
  void stop(bool orderly);
  /// As from a crash of the machine: nothing leaves it any more. stop() cleans up.
  void kill() noexcept;

  /// Of a standby.
  void follow(std::size_t source) {
    if (source_ == source) return;
    source_ = source;
    news_.wake();
  }
  [[nodiscard]] bool has_parted() const { return has_parted_; }
  [[nodiscard]] bool is_dead() const { return is_dead_; }
  [[nodiscard]] bool serves() const { return serves_ && !is_dead_; }
  [[nodiscard]] Role role() const { return role_; }

  /// Keeps the engine open while a caller from elsewhere uses it.
  class Use {
   public:
    explicit Use(std::shared_ptr<ServerRun> of) : run_(std::move(of)) { ++run_->uses_; }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use() { --run_->uses_; }

   private:
    std::shared_ptr<ServerRun> run_;
  };
  [[nodiscard]] Engine& engine() { return *engine_; }
  [[nodiscard]] Standby* standby() { return standby_.get(); }

  /// Waits as a session does behind its commit. False: it is not confirmed.
  bool await_followers(Duration longest);
  /// Sets synchronous_standby_names.
  void wait_for(const std::set<std::size_t>& machines);
  [[nodiscard]] const std::set<std::size_t>& waited_for() const { return waited_for_; }
  [[nodiscard]] LogSenders& senders() { return senders_; }
  static std::string name_of(std::size_t machine) { return "machine" + std::to_string(machine); }

  const std::size_t machine;

 private:
  void spawn(const char* name, std::function<void()> body);
  Result<> open_engine();
  void end_tasks();
  // Of a server that sends.
  struct Identity {
    std::uint64_t log_id;
    std::uint32_t timeline;
    std::string history;
  };
  Result<Identity> identify();
  Result<std::shared_ptr<StreamLink>> start_stream(std::size_t follower, std::uint32_t timeline,
                                                   Lsn from);
  void send_log(StreamLink& link, std::uint32_t timeline, Lsn from);
  // Of a standby.
  void receive();
  Result<> follow_once(std::size_t source);
  Result<> take_log(StreamLink& link, std::size_t source);
  void report(StreamLink& link);
  void redo();
  void read();
  void try_to_serve();
  void close_readers();

  const std::shared_ptr<SimulatedDisk> disk_;
  ParkMutex changing_;  ///< one of promote() and stop() at a time
  Network& network_;
  Random random_;
  const Hooks hooks_;
  Role role_ = Role::standby;
  bool serves_ = false;
  bool stops_ = false;
  bool is_dead_ = false;
  bool has_stopped_ = false;
  bool has_parted_ = false;
  bool serves_readers_ = false;
  std::size_t uses_ = 0;
  std::size_t source_ = SIZE_MAX;
  std::optional<Following> following_;
  Following::Positions told_;
  Inbox<int> news_;  ///< wakes the receiver
  std::unique_ptr<Standby> standby_;
  std::unique_ptr<Engine> engine_;
  LogSenders senders_;
  std::int32_t last_pid_ = 0;
  std::set<std::size_t> waited_for_;
  std::set<Interruption*> sessions_;
  std::set<std::size_t> followers_;  ///< each has one stream, as a slot has
  std::vector<std::shared_ptr<StreamLink>> links_;
  std::vector<std::unique_ptr<Task>> tasks_;
};

}  // namespace swizzle::sql::cluster
