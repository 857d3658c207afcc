#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "storage/logical/logical_log.h"

namespace swizzle {

/// The log of one timeline, as it is sent to a server that follows, without the connection: durable
/// pieces in their order, up to the place where the timeline was left, if it was. Of one thread or
/// fiber.
class SentLog {
 public:
  /// `timeline` 0: the present one.
  SentLog(LogicalLog& log, std::uint32_t timeline, Lsn from);

  /// XX000 if the position is not in this server's history, or ahead of its log.
  Result<> check_start();
  /// 58P01 if the log at the position has been removed.
  Result<> check_kept();
  /// A piece of the log; nothing if the end is reached. Valid until the next call.
  struct Piece {
    Lsn at = Lsn::none;
    Bytes bytes;
    Lsn end = Lsn::none;  ///< of what could be sent at the time
  };
  Result<std::optional<Piece>> next();

  /// Before a wait for more: ends the log with a flush mark if it has none, so that the follower
  /// redoes the record before it. May park.
  void end_with_mark();

  [[nodiscard]] Lsn position() const noexcept { return position_; }
  [[nodiscard]] bool is_at_end() const noexcept { return position_ >= limit(); }
  /// True if everything of a timeline that was left has been sent.
  [[nodiscard]] bool is_over() const noexcept { return position_ >= until_; }
  /// The place at which the timeline was left, and the one that goes on there.
  [[nodiscard]] Lsn until() const noexcept { return until_; }
  [[nodiscard]] std::uint32_t next_timeline() const noexcept { return next_timeline_; }

 private:
  [[nodiscard]] Lsn limit() const noexcept;
  /// Ends the stream where its timeline was left, if it was. A standby's log may go on in another
  /// one at any time.
  Result<> follow_timeline();

  LogicalLog& log_;
  const std::unique_ptr<wal::ByteReader> reader_;
  const std::uint32_t timeline_;
  Lsn position_;
  Lsn until_ = Lsn::max;
  std::uint32_t next_timeline_ = 0;
};

}  // namespace swizzle
