#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"

namespace swizzle {

/// A prepared transaction (Transaction::prepare()), which waits for its commit or rollback.
struct PreparedTransaction {
  std::string gid;
  TxnId id = TxnId::none;
  std::int64_t prepared_at_us = 0;  ///< by the wall clock
  std::vector<std::byte> note;      ///< kept for the caller of prepare()
  enum class State : std::uint8_t {
    waiting,
    busy,  ///< being prepared, or being finished
  } state = State::waiting;
};

}  // namespace swizzle
