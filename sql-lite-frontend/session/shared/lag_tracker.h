#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "base/ids.h"
#include "base/runtime/runtime.h"

namespace swizzle::sql {

/// The time between sending a position of the log and the follower's word that it has reached it,
/// as PostgreSQL computes it: from positions that were noted when they were sent. Not thread-safe.
class LagTracker {
 public:
  enum class Kind : std::uint8_t { write, flush, replay };
  /// Positions that are kept until a follower has replayed them.
  static constexpr std::size_t kSamples = 4096;

  /// The log up to `end` is sent. Positions do not go back.
  void note_sent(Lsn end, TimePoint now);
  /// Returns the lag of a follower that says it has reached `position`. Nothing: no position that
  /// was noted tells more than the last call.
  std::optional<Duration> read(Kind kind, Lsn position, TimePoint now);

 private:
  struct Sample {
    Lsn at = Lsn::none;
    TimePoint sent_at{};
  };
  struct Reader {
    std::size_t next = 0;          ///< in samples_
    std::optional<Sample> last{};  ///< that was reached; none: all were, or none was
  };
  void forget_read();

  std::deque<Sample> samples_;
  std::array<Reader, 3> readers_;
};

}  // namespace swizzle::sql
