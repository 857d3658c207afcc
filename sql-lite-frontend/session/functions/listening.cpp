#include "sql-lite-frontend/session/functions/listening.h"

#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/types/function_registry.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

constexpr SqlState kProgramLimitExceeded{"54000"};
/// A name in the list of the session and in that of all, with its entries, and a resolution.
constexpr std::size_t kChannelBytes = 512;
/// Size of an identifier, with PostgreSQL's closing NUL.
constexpr std::size_t kNameBytes = 64;

Value notify(Execution& execution, Arguments arguments) {
  const auto text_of = [&](std::size_t at) {
    return arguments[at].is_null() ? std::string_view{} : arguments[at].as_text();
  };
  session_of(execution).notifications.notify(text_of(0), text_of(1));
  return make_text(execution.row_arena, "");
}

Value queue_usage(Execution& execution, Arguments) {
  return Value::from_float8(session_of(execution).shared.notifications.usage());
}

class ChannelCursor final : public SetCursor {
 public:
  explicit ChannelCursor(std::vector<std::string> channels) : channels_(std::move(channels)) {}
  std::optional<Value> next(FunctionContext& context) override {
    if (next_ == channels_.size()) return std::nullopt;
    return make_text(context.arena, channels_[next_++]);
  }

 private:
  std::vector<std::string> channels_;
  std::size_t next_ = 0;
};

std::unique_ptr<SetCursor> listening_channels(FunctionContext& context, Arguments) {
  const auto* session = session_of(context.session);
  std::vector<std::string> channels;
  if (session != nullptr) channels = session->notifications.channels();
  return std::make_unique<ChannelCursor>(std::move(channels));
}

}  // namespace

void SessionNotifications::notify(std::string_view channel, std::string_view payload) {
  if (channel.empty()) {
    throw SqlError{sqlstate::invalid_parameter_value, "channel name cannot be empty"};
  }
  if (channel.size() >= kNameBytes) {
    throw SqlError{sqlstate::invalid_parameter_value, "channel name too long"};
  }
  if (payload.size() >= Notifications::kPayloadBytes) {
    throw SqlError{sqlstate::invalid_parameter_value, "payload string too long"};
  }
  if (session_.shared.notifications.usage() >= 1.0) {
    throw SqlError{kProgramLimitExceeded, "too many notifications in the NOTIFY queue"};
  }
  const std::size_t bytes = PendingNotifications::bytes_of(channel.size(), payload.size());
  said_share_.set(session_.memory, pending_.bytes() + bytes);
  pending_.say(session_.shared.notifications.make(session_.options.backend_pid, channel, payload));
}

void SessionNotifications::resolve(const ast::Node& statement) {
  using Resolution = PendingNotifications::Resolution;
  const std::size_t known = listener_ ? listener_->channel_count() : 0;
  count_channels(known + pending_.mark().resolved + 1);
  if (const auto* listen = ast::try_as<ast::ListenStmt>(&statement)) {
    pending_.resolve(Resolution::listen, listen->conditionname);
    return;
  }
  const std::string_view channel = ast::as<ast::UnlistenStmt>(&statement).conditionname;
  // A session that has never listened has nothing to stop.
  if (!listener_ && !pending_.has_resolutions()) return;
  pending_.resolve(channel.empty() ? Resolution::unlisten_all : Resolution::unlisten, channel);
}

void SessionNotifications::count_channels(std::size_t channels) {
  // A few channels are not counted: a session does not listen to hundreds by accident.
  constexpr std::size_t kUsual = 32;
  if (channels > kUsual) channels_share_.set(session_.memory, channels * kChannelBytes);
}

void SessionNotifications::unlisten_all() {
  pending_.resolve(PendingNotifications::Resolution::unlisten_all, {});
}

std::vector<std::string> SessionNotifications::channels() const {
  return listener_ ? listener_->channels() : std::vector<std::string>{};
}

void SessionNotifications::deliver() {
  if (!pending_.said().empty())
    session_.shared.notifications.publish(session_.options.database, pending_.said());
}

void SessionNotifications::apply_resolutions() {
  if (!pending_.has_resolutions()) return;
  if (!listener_) {
    listener_ = std::make_unique<Notifications::Listener>(
        session_.shared.notifications, session_.options.database, session_.options.wake);
  }
  pending_.apply_resolutions(*listener_);
  channels_share_.lower(kChannelBytes * listener_->channel_count());
}

void Session::send_notifications(ResultSink& sink) {
  if (!state_->notifications.has_any()) return;
  if (transaction_status() != TransactionStatus::idle) return;
  for (const NotificationPtr& notification : state_->notifications.take()) {
    sink.notification(notification->sender, notification->channel, notification->payload);
  }
}

std::span<const SessionEntry> notification_functions() {
  static constexpr SessionEntry kFunctions[] = {
      {"pg_notify", notify},
      {"pg_notification_queue_usage", queue_usage},
  };
  return kFunctions;
}

void add_notification_sets() {
  static constexpr SetEntry kSets[] = {{"pg_listening_channels()", listening_channels}};
  static const bool is_added = (add_builtin_functions({.sets = kSets}), true);
  static_cast<void>(is_added);
}

}  // namespace swizzle::sql
