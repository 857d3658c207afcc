#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/ids.h"
#include "base/random.h"
#include "base/runtime/runtime.h"
#include "storage/engine.h"

namespace swizzle::sql::cluster {

/// Accounts whose sum is constant, and a row for each transfer, numbered in the order of the
/// commits.
class Bank {
 public:
  static constexpr std::uint64_t kAccounts = 5;
  static constexpr std::uint64_t kEach = 1000;

  static TreeId create(Engine& engine);
  /// Makes the client's transfer, unless it has been made before. Returns the LSN that is to be
  /// confirmed; an error: it is not made.
  static Result<> transfer(Engine& engine, TreeId tree, std::uint64_t client_number,
                           Random& random);

  /// Writes a row, durably, and takes it back after a while.
  static void leave_open(Engine& engine, TreeId tree, Random& random, Duration length);

  struct Seen {
    std::uint64_t sum = 0;
    std::uint64_t count = 0;                        ///< as the counter says
    std::map<std::uint64_t, std::uint64_t> rows{};  ///< the client's number, by that of the commit
    std::map<std::uint64_t, std::uint64_t> made{};  ///< and the other way round
    friend bool operator==(const Seen&, const Seen&) = default;
  };
  static Result<Seen> look(Engine& engine, TreeId tree);
  /// The reason why no order of whole transfers leads to this; empty: one does.
  static std::string wrong_with(const Seen& seen);
};

}  // namespace swizzle::sql::cluster
