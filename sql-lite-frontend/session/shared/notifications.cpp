#include "sql-lite-frontend/session/shared/notifications.h"

#include <utility>

namespace swizzle::sql {
namespace {

std::string identity_of(const Notification& notification) {
  std::string identity = notification.channel;
  identity += '\0';
  return identity += notification.payload;
}

}  // namespace

void Notifications::Listener::listen(const std::string& channel) {
  const std::lock_guard lock{hub_.mutex_};
  channels_.insert(channel);
  hub_.listeners_[{database_, channel}].insert(this);
}

void Notifications::Listener::unlisten(const std::string& channel) {
  const std::lock_guard lock{hub_.mutex_};
  channels_.erase(channel);
  const auto found = hub_.listeners_.find({database_, channel});
  if (found == hub_.listeners_.end()) return;
  found->second.erase(this);
  if (found->second.empty()) hub_.listeners_.erase(found);
}

void Notifications::Listener::unlisten_all() {
  for (const std::string& channel : channels()) unlisten(channel);
}

std::vector<std::string> Notifications::Listener::channels() const {
  const std::lock_guard lock{hub_.mutex_};
  return {channels_.begin(), channels_.end()};
}

std::size_t Notifications::Listener::channel_count() const {
  const std::lock_guard lock{hub_.mutex_};
  return channels_.size();
}

std::deque<NotificationPtr> Notifications::Listener::take() {
  const std::lock_guard lock{hub_.mutex_};
  has_any_.store(false, std::memory_order_relaxed);
  hub_.bytes_->fetch_sub(arrived_.size() * sizeof(NotificationPtr), std::memory_order_relaxed);
  return std::exchange(arrived_, {});
}

void Notifications::publish(const std::string& database, std::span<const NotificationPtr> said) {
  const std::lock_guard lock{mutex_};
  std::set<Listener*> reached;
  for (const NotificationPtr& notification : said) {
    const auto found = listeners_.find({database, notification->channel});
    if (found == listeners_.end()) continue;
    for (Listener* const listener : found->second) {
      listener->arrived_.push_back(notification);
      bytes_->fetch_add(sizeof(NotificationPtr), std::memory_order_relaxed);
      reached.insert(listener);
    }
  }
  for (Listener* const listener : reached) {
    // release: publishes the notifications with the flag.
    listener->has_any_.store(true, std::memory_order_release);
    if (listener->wake_) listener->wake_();
  }
}

double Notifications::usage() const {
  return static_cast<double>(bytes_->load(std::memory_order_relaxed)) /
         static_cast<double>(kCapacityBytes);
}

NotificationPtr Notifications::make(std::int32_t sender, std::string_view channel,
                                    std::string_view payload) {
  // Besides the texts, what counts the listeners that have yet to receive it.
  constexpr std::size_t kFixed = sizeof(Notification) + 64;
  const std::size_t bytes = kFixed + channel.size() + payload.size();
  bytes_->fetch_add(bytes, std::memory_order_relaxed);
  const auto give_back = [bytes, total = bytes_](const Notification* notification) {
    total->fetch_sub(bytes, std::memory_order_relaxed);
    delete notification;
  };
  return {new Notification{sender, std::string{channel}, std::string{payload}}, give_back};
}

std::size_t PendingNotifications::bytes_of(std::size_t channel, std::size_t payload) noexcept {
  // Both are there twice: in the notification, and among the distinct ones.
  constexpr std::size_t kFixed = 256;
  return kFixed + 2 * (channel + payload);
}

namespace {

std::size_t bytes_pending(const Notification& notification) noexcept {
  return PendingNotifications::bytes_of(notification.channel.size(), notification.payload.size());
}

}  // namespace

void PendingNotifications::say(NotificationPtr notification) {
  if (!distinct_.insert(identity_of(*notification)).second) return;
  bytes_ += bytes_pending(*notification);
  said_.push_back(std::move(notification));
}

void PendingNotifications::roll_back_to(Mark mark) {
  while (said_.size() > mark.said) {
    distinct_.erase(identity_of(*said_.back()));
    bytes_ -= bytes_pending(*said_.back());
    said_.pop_back();
  }
  resolved_.resize(std::min(mark.resolved, resolved_.size()));
}

void PendingNotifications::apply_resolutions(Notifications::Listener& listener) const {
  for (const auto& [resolution, channel] : resolved_) {
    switch (resolution) {
      case Resolution::listen:
        listener.listen(channel);
        break;
      case Resolution::unlisten:
        listener.unlisten(channel);
        break;
      case Resolution::unlisten_all:
        listener.unlisten_all();
        break;
    }
  }
}

}  // namespace swizzle::sql
