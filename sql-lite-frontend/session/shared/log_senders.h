#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "base/ids.h"

namespace swizzle::sql {

/// Sessions that stream changes at present, and their progress: pg_stat_replication. Thread-safe.
class LogSenders {
 public:
  struct Sender {
    std::int32_t pid = 0;
    bool catches_up = true;  ///< there is more in the log than it was sent
    Lsn sent = Lsn::none;
    // As the client reports it, and the time of that.
    Lsn written = Lsn::none;
    Lsn flushed = Lsn::none;
    Lsn replayed = Lsn::none;
    std::int64_t replied_at = 0;
  };

  void put(const Sender& sender) {
    const std::lock_guard lock{mutex_};
    senders_[sender.pid] = sender;
  }
  void remove(std::int32_t pid) noexcept {
    const std::lock_guard lock{mutex_};
    senders_.erase(pid);
  }
  [[nodiscard]] std::vector<Sender> list() const {
    const std::lock_guard lock{mutex_};
    std::vector<Sender> all;
    for (const auto& [pid, sender] : senders_) all.push_back(sender);
    return all;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::int32_t, Sender> senders_;
};

}  // namespace swizzle::sql
