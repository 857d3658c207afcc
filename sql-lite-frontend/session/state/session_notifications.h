#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/query/parse/parser.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session/shared/notifications.h"
#include "sql-lite-frontend/statement/lasting_share.h"

namespace swizzle::sql {

/// LISTEN, UNLISTEN and NOTIFY of one session: its transaction's notifications and changes of
/// channels, and the notifications that it has received.
class SessionNotifications {
 public:
  explicit SessionNotifications(Session::State& session) : session_(session) {}
  SessionNotifications(const SessionNotifications&) = delete;
  SessionNotifications& operator=(const SessionNotifications&) = delete;

  void notify(std::string_view channel, std::string_view payload);
  /// LISTEN and UNLISTEN, which take effect at commit.
  void resolve(const ast::Node& statement);
  void unlisten_all();
  /// True if the transaction has notifications; has_resolved(): LISTEN or UNLISTEN.
  [[nodiscard]] bool has_said() const noexcept { return !pending_.said().empty(); }
  [[nodiscard]] bool has_resolved() const noexcept { return pending_.has_resolutions(); }
  [[nodiscard]] PendingNotifications::Mark mark() const noexcept { return pending_.mark(); }
  void roll_back_to(PendingNotifications::Mark mark) {
    pending_.roll_back_to(mark);
    said_share_.lower(pending_.bytes());
  }
  void forget() { roll_back_to({}); }
  /// Delivers the transaction's notifications to their listeners. Pre: the transaction is durable.
  void deliver();
  void apply_resolutions();

  [[nodiscard]] std::vector<std::string> channels() const;
  /// True if notifications have arrived.
  [[nodiscard]] bool has_any() const noexcept { return listener_ && listener_->has_any(); }
  std::deque<NotificationPtr> take() { return listener_->take(); }

 private:
  /// Charges the memory of so many channels. Throws SqlError 53200.
  void count_channels(std::size_t channels);

  Session::State& session_;
  LastingShare channels_share_;
  LastingShare said_share_;  ///< of the transaction's notifications
  PendingNotifications pending_;
  /// Made by the first LISTEN.
  std::unique_ptr<Notifications::Listener> listener_;
};

}  // namespace swizzle::sql
