#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/runtime/runtime.h"
#include "server/session/interrupts.h"

namespace swizzle::sql {
class Session;
}

namespace swizzle::server {

struct ConnectionLimits {
  std::uint32_t max_connections = 10'000;
  /// Connections reserved for superusers.
  std::uint32_t reserved = 3;
  /// Connections that have not logged in yet, beside the others. Beyond that the oldest of them
  /// must leave.
  std::uint32_t max_authenticating = 1'000;
};

/// The rank of a client, for the connection limits.
enum class Rank : std::uint8_t { ordinary, superuser };

/// All connections of the server: counts them, finds them for a cancel request, and reaches them
/// all when the server stops. Thread-safe; no call waits while it holds the mutex.
class SessionRegistry {
 public:
  static constexpr std::size_t kLongKeyBytes = 32;
  static constexpr std::size_t kShortKeyBytes = 4;

  explicit SessionRegistry(ConnectionLimits limits) noexcept : limits_(limits) {}
  SessionRegistry(const SessionRegistry&) = delete;
  SessionRegistry& operator=(const SessionRegistry&) = delete;
  ~SessionRegistry();

  /// A connection's entry in the registry; removed when destroyed.
  class Place {
   public:
    Place(Place&& other) noexcept
        : registry_(std::exchange(other.registry_, nullptr)), id_(other.id_) {}
    Place& operator=(Place&&) = delete;
    ~Place() {
      if (registry_ != nullptr) registry_->leave(id_);
    }
    /// Returns the number for pg_backend_pid() and BackendKeyData; unique among live connections.
    [[nodiscard]] std::uint32_t id() const noexcept { return id_; }

    /// Counts the connection as logged in. 53300 when there are too many.
    Result<> admit(Rank rank) { return registry_->admit(id_, rank); }
    /// Makes a fresh cancel key of `bytes`; from here on cancel requests reach `session`. `socket`
    /// is its client's.
    Bytes attach(sql::Session& session, int socket, std::size_t key_bytes) {
      return registry_->attach(id_, session, socket, key_bytes);
    }
    /// From here on cancel requests are ignored. Call before the session is destroyed.
    void detach() noexcept { registry_->detach(id_); }
    /// Counts it as one of a standby, which outlasts clients in end_all().
    void note_follower() { registry_->note_follower(id_); }
    /// Counts it as one that reads logical changes: a server that stops does not wait for its end.
    void note_change_reader() { registry_->note_change_reader(id_); }

   private:
    friend class SessionRegistry;
    Place(SessionRegistry& registry, std::uint32_t id) noexcept : registry_(&registry), id_(id) {}
    SessionRegistry* registry_;
    std::uint32_t id_;
  };

  /// `interrupts` must live as long as the place. 53300 when too many connections that have not
  /// logged in were asked to leave and are still there; 57P03 while the server stops.
  Result<Place> enter(Interrupts& interrupts);

  /// Handles a cancel request: acts if the key is right, without telling the client.
  void cancel(std::uint32_t id, Bytes key) noexcept;

  /// Cancels statements that have run for `at_least` and whose clients have disconnected.
  void cancel_abandoned(Duration at_least) noexcept;

  /// Ends a session's transaction that keeps too much of the log, if it is still open.
  void end_transaction(std::uint32_t id, TxnId transaction) noexcept;

  /// Refuses new connections with 57P03 from here on.
  void close_door() noexcept;
  enum class Whom : std::uint8_t {
    everybody,
    clients,         ///< all but standbys
    change_readers,  ///< those that read logical changes
  };
  /// Asks connections to end, and refuses new ones.
  void end_all(EndReason reason, Whom whom = Whom::everybody) noexcept;
  [[nodiscard]] std::size_t size() const noexcept;
  /// Connections of standbys.
  [[nodiscard]] std::set<std::uint32_t> followers() const;
  /// Number of connections that read logical changes.
  [[nodiscard]] std::size_t change_readers() const noexcept;

 private:
  struct Entry {
    Interrupts* interrupts = nullptr;
    sql::Session* session = nullptr;
    int socket = -1;  ///< open while there is a session
    bool is_admitted = false;
    bool is_follower = false;
    bool is_change_reader = false;
    std::uint64_t arrival = 0;
    std::array<std::byte, kLongKeyBytes> key{};
    std::size_t key_bytes = 0;
  };

  Result<> admit(std::uint32_t id, Rank rank);
  Bytes attach(std::uint32_t id, sql::Session& session, int socket, std::size_t key_bytes);
  void detach(std::uint32_t id) noexcept;
  void note_follower(std::uint32_t id);
  void note_change_reader(std::uint32_t id);
  void leave(std::uint32_t id) noexcept;
  /// Asks the connection that has waited for its login longest to leave. Pre: the mutex is held.
  void make_room_at_door() noexcept;

  const ConnectionLimits limits_;
  mutable std::mutex mutex_;
  std::unordered_map<std::uint32_t, Entry> entries_;
  /// Connections that have not logged in yet and may stay, in the order of arrival.
  std::map<std::uint64_t, std::uint32_t> door_;
  std::uint64_t arrivals_ = 0;
  std::uint32_t last_id_ = 1000;
  std::uint32_t admitted_ = 0;
  bool door_closed_ = false;
};

}  // namespace swizzle::server
