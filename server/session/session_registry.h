#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
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
  /// Of those, kept for superusers.
  std::uint32_t reserved = 3;
  /// Connections that have not logged in yet, beside the others. One more, and the one that has
  /// taken longest has to leave.
  std::uint32_t max_authenticating = 1'000;
};

/// The rank of a client, for the connection limits.
enum class Rank : std::uint8_t { ordinary, superuser };

/// All connections of the server: counts them, finds them for a cancel request, and reaches them
/// all when the server stops. Thread-safe; nobody waits while holding its mutex.
class SessionRegistry {
 public:
  static constexpr std::size_t kLongKeyBytes = 32;
  static constexpr std::size_t kShortKeyBytes = 4;

  explicit SessionRegistry(ConnectionLimits limits) noexcept : limits_(limits) {}
  SessionRegistry(const SessionRegistry&) = delete;
  SessionRegistry& operator=(const SessionRegistry&) = delete;
  ~SessionRegistry();

  /// A connection's place in the registry; leaves when destroyed.
  class Place {
   public:
    Place(Place&& other) noexcept
        : registry_(std::exchange(other.registry_, nullptr)), id_(other.id_) {}
    Place& operator=(Place&&) = delete;
    ~Place() {
      if (registry_ != nullptr) registry_->leave(id_);
    }
    /// Returns the number that pg_backend_pid() and BackendKeyData give; unique among live
    /// connections.
    [[nodiscard]] std::uint32_t id() const noexcept { return id_; }

    /// Counts the connection as logged in. 53300 when there are too many.
    Result<> admit(Rank rank) { return registry_->admit(id_, rank); }
    /// Makes a fresh cancel key of `bytes`; from here on cancel requests reach `session`.
    /// `socket` is where its client is.
    Bytes attach(sql::Session& session, int socket, std::size_t key_bytes) {
      return registry_->attach(id_, session, socket, key_bytes);
    }
    /// Cancel requests reach nobody from here on. Before the session is destroyed.
    void detach() noexcept { registry_->detach(id_); }

   private:
    friend class SessionRegistry;
    Place(SessionRegistry& registry, std::uint32_t id) noexcept : registry_(&registry), id_(id) {}
    SessionRegistry* registry_;
    std::uint32_t id_;
  };

  /// `interrupts` must live until the place is left. 53300 when too many are at the door and have
  /// not left yet although they were asked to, 57P03 while the server stops.
  Result<Place> enter(Interrupts& interrupts);

  /// A cancel request: acts if the key is right, and tells nobody whether it was.
  void cancel(std::uint32_t id, Bytes key) noexcept;

  /// Cancels statements that have run for `at_least` and whose clients have gone.
  void cancel_abandoned(Duration at_least) noexcept;

  /// Ends a session's transaction that keeps too much of the log, if it is still open.
  void end_transaction(std::uint32_t id, TxnId transaction) noexcept;

  /// New connections get 57P03 from here on.
  void close_door() noexcept;
  /// Asks every connection to end.
  void end_all(EndReason reason) noexcept;
  [[nodiscard]] std::size_t size() const noexcept;

 private:
  struct Entry {
    Interrupts* interrupts = nullptr;
    sql::Session* session = nullptr;
    int socket = -1;  ///< open while there is a session
    bool is_admitted = false;
    std::uint64_t arrival = 0;
    std::array<std::byte, kLongKeyBytes> key{};
    std::size_t key_bytes = 0;
  };

  Result<> admit(std::uint32_t id, Rank rank);
  Bytes attach(std::uint32_t id, sql::Session& session, int socket, std::size_t key_bytes);
  void detach(std::uint32_t id) noexcept;
  void leave(std::uint32_t id) noexcept;
  /// Asks the one that has been at the door for longest to leave. Under the mutex.
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
