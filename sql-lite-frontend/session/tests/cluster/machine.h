#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sql-lite-frontend/session/tests/cluster/arbiter.h"
#include "sql-lite-frontend/session/tests/cluster/server_run.h"

namespace swizzle::sql::cluster {

/// Counts of a campaign, which show that nothing was left out.
struct Totals {
  std::uint64_t histories = 0;
  std::uint64_t acknowledged = 0;
  std::uint64_t unconfirmed = 0;
  std::uint64_t promotions = 0;
  std::uint64_t restarts_as_primary = 0;
  std::uint64_t kills = 0;
  std::uint64_t partings = 0;  ///< servers whose log was not a part of the history they met
  std::uint64_t rewinds = 0;
  std::uint64_t rewinds_cut_short = 0;
  std::uint64_t looks = 0;    ///< of readers on standbys
  std::uint64_t chained = 0;  ///< a standby followed another one
};

/// A machine with its disk and its server, and its supervisor, who does what Patroni's does: asks
/// the arbiter, starts, promotes, follows and rewinds.
class Machine {
 public:
  struct Shared {
    Network& network;
    Arbiter& arbiter;
    Totals& totals;
    ServerRun::Hooks hooks;
    bool chains = false;      ///< standbys may follow standbys
    bool is_read = false;     ///< standbys answer readers
    bool obeys_lease = true;  ///< a primary that does not reach the arbiter ends
    const bool& ends;
  };
  Machine(std::size_t number, std::shared_ptr<SimulatedDisk> disk, std::uint64_t seed,
          Shared& shared);

  /// The supervisor, until the history ends.
  void supervise();
  /// Power cut. The machine is off for some time.
  void kill();
  /// The supervisor does nothing until then; its server goes on.
  void freeze(Duration length) { frozen_until_ = now() + length; }
  [[nodiscard]] std::shared_ptr<ServerRun> run() const { return run_; }
  /// Of readers here: the most commits that were seen. Never falls but by a rewind.
  std::uint64_t seen_commits = 0;
  /// The reason why the machine could not go on.
  std::string failure;

  const std::size_t number;
  void end();

 private:
  template <class Question>
  auto ask(Question question) -> std::optional<decltype(question(std::declval<Arbiter&>()))> {
    if (!shared_.network.pass(number, Network::kArbiter)) return std::nullopt;
    const auto answer = question(shared_.arbiter);
    if (!shared_.network.pass(Network::kArbiter, number)) return std::nullopt;
    return answer;
  }
  [[nodiscard]] bool is_off() const { return now() < off_until_; }
  /// True if the machine was not killed since.
  [[nodiscard]] bool is_same(std::uint64_t boot) const { return boot_ == boot; }
  void look_after(const std::optional<Arbiter::View>& view);
  void start(const Arbiter::View& view);
  void lead(const std::optional<Arbiter::View>& view);
  void trust_standbys(const Arbiter::View& view);
  [[nodiscard]] bool has_all_before(std::size_t machine, Lsn end);
  void stand_by(const Arbiter::View& view);
  void choose_source(std::size_t leader);
  /// Takes the lease, and makes this server the only one that may be promoted from now on.
  bool take_over(const Arbiter::View& view);
  void become_primary(const std::shared_ptr<ServerRun>& run, Result<> opened);
  void rejoin(std::size_t leader);
  void rewind_from(ServerRun& source);
  std::shared_ptr<ServerRun> make_run();
  void stop(bool orderly);

  Shared& shared_;
  Random random_;
  std::shared_ptr<SimulatedDisk> disk_;
  /// From before power cuts: they outlive what is under way on them.
  std::vector<std::shared_ptr<SimulatedDisk>> old_disks_;
  std::uint64_t boot_ = 1;
  std::shared_ptr<ServerRun> run_;
  TimePoint off_until_{};
  TimePoint frozen_until_{};
  TimePoint leads_until_{};
  std::vector<std::unique_ptr<Task>> cleaners_;
};

}  // namespace swizzle::sql::cluster
