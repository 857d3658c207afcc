#include "storage/standby/following.h"

#include <fmt/format.h>

#include "storage/standby/lsn_words.h"

namespace swizzle {

Result<> Following::begin(std::uint64_t log_id, std::uint32_t timeline, std::string_view history) {
  if (log_id != standby_.log_id()) {
    return fail(
        Error{sqlstate::object_not_in_prerequisite_state,
              "database system identifier differs between the primary and standby"}
            .with_detail(
                fmt::format("The primary's identifier is {}, the standby's identifier is {}.",
                            log_id, standby_.log_id()))
            .with_hint("A database that was restored from a backup has another identifier: make a "
                       "new standby of it."));
  }
  return standby_.follow_timeline(timeline, history);
}

Result<> Following::take(Lsn at, Bytes bytes) {
  if (at != standby_.received()) {
    return fail(SqlState{"08P01"},
                fmt::format("the primary sent the log at {}, but it goes on at {} here",
                            lsn_words(at), lsn_words(standby_.received())));
  }
  return standby_.append(bytes);
}

Following::Positions Following::positions() const noexcept {
  // In this order: each is at most the one after it, while redo goes on.
  const Lsn replayed = standby_.replayed();
  const Lsn durable = standby_.durable();
  return {.received = standby_.received(), .durable = durable, .replayed = replayed};
}

}  // namespace swizzle
