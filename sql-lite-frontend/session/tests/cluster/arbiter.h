#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>

#include "sql-lite-frontend/session/tests/cluster/network.h"

namespace swizzle::sql::cluster {

/// The store that decides, as etcd does for Patroni: who is the primary for now, and which standbys
/// have every acknowledged commit.
class Arbiter {
 public:
  static constexpr Duration kLease = std::chrono::milliseconds{600};

  /// Servers that may be promoted: the last primary, and those for which each of its commits waits.
  struct Trusted {
    std::uint64_t version = 1;
    std::size_t primary = 0;
    std::set<std::size_t> standbys;
    [[nodiscard]] bool has(std::size_t machine) const {
      return machine == primary || standbys.contains(machine);
    }
  };
  struct View {
    std::optional<std::size_t> leader;
    Trusted trusted;
  };

  [[nodiscard]] View view() const { return {now() < until_ ? leader_ : std::nullopt, trusted_}; }
  /// Takes or prolongs the lease. False: another one has it.
  bool lead(std::size_t machine) {
    if (leader_ && *leader_ != machine && now() < until_) return false;
    leader_ = machine;
    until_ = now() + kLease;
    return true;
  }
  /// False: somebody has written since `version`.
  bool trust(std::uint64_t version, std::size_t primary, std::set<std::size_t> standbys) {
    if (trusted_.version != version) return false;
    trusted_ = {version + 1, primary, std::move(standbys)};
    return true;
  }

 private:
  std::optional<std::size_t> leader_;
  TimePoint until_{};
  Trusted trusted_;
};

}  // namespace swizzle::sql::cluster
