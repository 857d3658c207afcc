#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sql-lite-frontend/session/tests/cluster/bank.h"
#include "sql-lite-frontend/session/tests/cluster/machine.h"

namespace swizzle::sql::cluster {

/// The disks of three machines at the beginning of every history: a primary, and two standbys that
/// were copied from it.
struct Beginning {
  Beginning();
  std::array<std::unique_ptr<SimulatedDisk>, Network::kMachines> disks;
  TreeId tree{};
};

/// One history of a primary, two standbys and an arbiter under clients and faults, by its seed.
/// Outlives the simulation in which it runs.
class History {
 public:
  History(const Beginning& beginning, std::uint64_t seed, Totals& totals);
  /// Returns the rule that was broken; empty: none was.
  std::string run();

 private:
  void break_things();
  void be_client(std::uint64_t client, std::uint64_t seed);
  /// True if it was acknowledged.
  bool try_transfer(std::uint64_t client_number, Random& random);
  void look(ServerRun& run);
  /// Returns the primary when all have its log, and have replayed it.
  std::shared_ptr<ServerRun> await_agreement();
  bool agree(ServerRun& primary);
  void check_end(ServerRun& primary);
  void note_failure(std::string what);
  std::string describe() const;

  const TreeId tree_;
  Totals& totals_;
  Random random_;
  Network network_;
  Arbiter arbiter_;
  bool ends_ = false;      ///< supervisors end
  bool is_quiet_ = false;  ///< clients end
  std::optional<Machine::Shared> shared_;
  std::vector<std::unique_ptr<Machine>> machines_;
  /// Acknowledged transfers: the client's numbers.
  std::vector<std::uint64_t> acknowledged_;
  std::string failure_;
};

}  // namespace swizzle::sql::cluster
