#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "sql-lite-frontend/statement/transactions/pending_mark.h"

namespace swizzle::sql {

/// Message of one NOTIFY to the listeners of its channel.
struct Notification {
  std::int32_t sender = 0;  ///< its backend pid
  std::string channel;
  std::string payload;
};
using NotificationPtr = std::shared_ptr<const Notification>;

/// Listeners by channel, and the notifications that they have not received yet. Thread-safe.
/// Channels belong to a database.
class Notifications {
 public:
  /// Limit for the notifications that wait for listeners, in all.
  static constexpr std::size_t kCapacityBytes = std::size_t{256} << 20U;
  /// Limit of a payload: it is shorter than this, as in PostgreSQL.
  static constexpr std::size_t kPayloadBytes = 8000;

  /// A session's queue of notifications. The notifying session calls `wake`, under the mutex,
  /// whenever something has arrived: it must neither wait nor call back.
  class Listener {
   public:
    Listener(Notifications& hub, std::string database, std::function<void()> wake)
        : hub_(hub), database_(std::move(database)), wake_(std::move(wake)) {}
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    ~Listener() {
      unlisten_all();
      static_cast<void>(take());
    }

    void listen(const std::string& channel);
    void unlisten(const std::string& channel);
    void unlisten_all();
    [[nodiscard]] std::vector<std::string> channels() const;
    [[nodiscard]] std::size_t channel_count() const;
    [[nodiscard]] bool has_any() const noexcept {
      // Acquire: the notifications come with the flag.
      return has_any_.load(std::memory_order_acquire);
    }
    /// Removes and returns the notifications that have arrived, in order.
    std::deque<NotificationPtr> take();

   private:
    friend class Notifications;
    Notifications& hub_;
    const std::string database_;
    const std::function<void()> wake_;
    std::set<std::string> channels_;       ///< under the hub's mutex
    std::deque<NotificationPtr> arrived_;  ///< under the hub's mutex
    std::atomic<bool> has_any_{false};
  };

  /// Sends to all listeners of `database`, at once, so that notifications of two transactions are
  /// never mixed.
  void publish(const std::string& database, std::span<const NotificationPtr> said);
  /// Returns the used share of the capacity.
  [[nodiscard]] double usage() const;
  /// Makes a notification, whose memory counts until its last listener has received it.
  NotificationPtr make(std::int32_t sender, std::string_view channel, std::string_view payload);

 private:
  using Channel = std::pair<std::string, std::string>;  ///< database, name

  mutable std::mutex mutex_;
  std::map<Channel, std::set<Listener*>> listeners_;
  /// Shared, since notifications may outlive this object.
  std::shared_ptr<std::atomic<std::size_t>> bytes_ = std::make_shared<std::atomic<std::size_t>>();
};

/// NOTIFY, LISTEN and UNLISTEN of a transaction. They take effect when it commits; a rollback to a
/// savepoint drops the later ones.
class PendingNotifications {
 public:
  enum class Resolution : std::uint8_t { listen, unlisten, unlisten_all };
  using Mark = PendingMark;

  /// Adds a notification; a repeated one is ignored.
  void say(NotificationPtr notification);
  /// Returns the memory that the notifications take, and that such a one would take.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] static std::size_t bytes_of(std::size_t channel, std::size_t payload) noexcept;
  void resolve(Resolution resolution, std::string_view channel) {
    resolved_.emplace_back(resolution, channel);
  }
  [[nodiscard]] Mark mark() const noexcept { return {said_.size(), resolved_.size()}; }
  void roll_back_to(Mark mark);
  void clear() { roll_back_to({}); }
  [[nodiscard]] std::span<const NotificationPtr> said() const noexcept { return said_; }
  [[nodiscard]] bool has_resolutions() const noexcept { return !resolved_.empty(); }
  void apply_resolutions(Notifications::Listener& listener) const;

 private:
  std::vector<NotificationPtr> said_;
  std::size_t bytes_ = 0;  ///< of said_
  /// Channel, NUL, payload of each notification.
  std::unordered_set<std::string> distinct_;
  std::vector<std::pair<Resolution, std::string>> resolved_;
};

}  // namespace swizzle::sql
