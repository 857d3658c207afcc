#pragma once

#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "storage/standby/standby.h"

namespace swizzle {

/// A standby's side of the replication, without the connection: checks that the other server has
/// the same history, takes its log, and says how much of it is here. Of the thread that receives.
class Following {
 public:
  explicit Following(Standby& standby) noexcept : standby_(standby) {}

  /// Checks that the other server has this database, and goes on from where this one is. 55000 with
  /// the reason if it does not. `history` is the text of its timeline's file.
  Result<> begin(std::uint64_t log_id, std::uint32_t timeline, std::string_view history);
  /// Appends a piece of the log. 08P01 unless it goes on at `at` here.
  Result<> take(Lsn at, Bytes bytes);

  /// The log before these is received, durable, and seen by readers.
  struct Positions {
    Lsn received = Lsn::none;
    Lsn durable = Lsn::none;
    Lsn replayed = Lsn::none;
  };
  [[nodiscard]] Positions positions() const noexcept;

 private:
  Standby& standby_;
};

}  // namespace swizzle
