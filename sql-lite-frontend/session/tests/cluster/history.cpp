#include "sql-lite-frontend/session/tests/cluster/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/invariant.h"
#include "storage/logical/logical_log.h"
#include "storage/replay_gate.h"
#include "storage/standby/sent_files.h"

namespace swizzle::sql::cluster {
namespace {

constexpr std::uint64_t kClients = 2;

}  // namespace

Beginning::Beginning() {
  for (std::size_t i = 0; i < disks.size(); ++i) disks[i] = std::make_unique<SimulatedDisk>(i + 1);
  SimulatedDisk& first = *disks[0];
  INVARIANT(Engine::create(first, kHome, engine_options()).has_value());
  INVARIANT(first.sync_directory("/").has_value());
  const auto engine = Engine::open(first, kHome, engine_options()).value();
  tree = Bank::create(*engine);
  for (std::size_t i = 1; i < disks.size(); ++i) {
    ReceivedFiles received{*disks[i], "/", {}};
    SentFiles sent{[&](Bytes message) { INVARIANT(received.apply(message).has_value()); }};
    INVARIANT(engine->logical_log().copy_database(sent, kHome.filename(), {}).has_value());
  }
  INVARIANT(engine->close().has_value());
}

History::History(const Beginning& beginning, std::uint64_t seed, Totals& totals)
    : tree_(beginning.tree), totals_(totals), random_(seed), network_(random_()) {
  shared_.emplace(Machine::Shared{
      .network = network_,
      .arbiter = arbiter_,
      .totals = totals,
      .hooks = {.run_on = [this](std::size_t machine) { return machines_[machine]->run(); },
                .look = [this](ServerRun& run) { look(run); }},
      .chains = random_.one_in(3),
      .is_read = false,
      .obeys_lease = random_.one_in(2),
      .ends = ends_});
  shared_->is_read = shared_->chains || random_.one_in(2);
  for (std::size_t i = 0; i < Network::kMachines; ++i)
    machines_.push_back(
        std::make_unique<Machine>(i, beginning.disks[i]->copy(random_()), random_(), *shared_));
}

void History::note_failure(std::string what) {
  if (failure_.empty()) failure_ = std::move(what);
}

std::string History::run() {
  ++totals_.histories;
  std::vector<std::unique_ptr<Task>> supervisors;
  for (const auto& machine : machines_)
    supervisors.push_back(
        Runtime::current().spawn("supervisor", [&machine] { machine->supervise(); }));
  std::vector<std::unique_ptr<Task>> clients;
  for (std::uint64_t i = 0; i < kClients; ++i)
    clients.push_back(
        Runtime::current().spawn("client", [this, i, seed = random_()] { be_client(i, seed); }));
  break_things();
  network_.make_whole();
  is_quiet_ = true;
  for (const auto& client : clients) client->join();
  if (const auto primary = await_agreement()) check_end(*primary);
  ends_ = true;
  for (const auto& supervisor : supervisors) supervisor->join();
  for (const auto& machine : machines_) machine->end();
  return failure_;
}

void History::break_things() {
  const TimePoint until = now() + ms(random_.between(800, 4000));
  while (now() < until && failure_.empty()) {
    pause(ms(random_.between(20, 500)));
    const std::size_t one = random_.below(Network::kMachines);
    switch (random_.below(9)) {
      case 0:
      case 1:
        machines_[one]->kill();
        break;
      case 2:
        network_.cut_off(one);
        break;
      case 3:
        network_.cut(random_.below(Network::kEnds), random_.below(Network::kEnds));
        break;
      case 4:
        machines_[one]->freeze(ms(random_.between(100, 1500)));
        break;
      case 5:
        // Two failures at once.
        machines_[one]->kill();
        network_.cut_off((one + 1) % Network::kMachines);
        break;
      case 6:
        if (const auto run = machines_[one]->run();
            run && run->serves() && run->role() == ServerRun::Role::primary) {
          const ServerRun::Use use{run};
          static_cast<void>(run->engine().checkpoint());
        }
        break;
      default:
        network_.heal();
    }
  }
}

// ---- clients ----

void History::be_client(std::uint64_t client, std::uint64_t seed) {
  Random random{seed};
  std::uint64_t client_number = client + 1;
  for (int tries = 0; !is_quiet_; ++tries) {
    if (try_transfer(client_number, random) || tries > 20) {
      client_number += kClients;
      tries = 0;
    }
    pause(ms(random.below(12)));
  }
}

bool History::try_transfer(std::uint64_t client_number, Random& random) {
  const std::size_t machine = random.below(Network::kMachines);
  if (!network_.pass(Network::kClients, machine)) return false;
  const auto run = machines_[machine]->run();
  if (!run || !run->serves() || run->role() != ServerRun::Role::primary) return false;
  const ServerRun::Use use{run};
  if (random.one_in(25)) {
    Bank::leave_open(run->engine(), tree_, random, ms(random.below(250)));
    return false;
  }
  if (!Bank::transfer(run->engine(), tree_, client_number, random)) return false;
  const bool is_confirmed = run->await_followers(ms(400));
  // The answer may arrive from here on.
  if (!is_confirmed) {
    ++totals_.unconfirmed;
    return false;
  }
  acknowledged_.push_back(client_number);
  ++totals_.acknowledged;
  return true;
}

void History::look(ServerRun& run) {
  const auto seen = Bank::look(run.engine(), tree_);
  if (!seen) return note_failure("a reader failed: " + seen.error().message());
  ++totals_.looks;
  if (const std::string wrong = Bank::wrong_with(*seen); !wrong.empty())
    note_failure(fmt::format("a reader on machine {} sees no prefix: {}", run.machine, wrong));
  if (run.is_dead()) return;
  std::uint64_t& newest = machines_[run.machine]->seen_commits;
  if (seen->count < newest)
    note_failure(fmt::format("readers on machine {} went back from {} to {} commits", run.machine,
                             newest, seen->count));
  newest = std::max(newest, seen->count);
}

// ---- the end ----

bool History::agree(ServerRun& primary) {
  const Lsn end = primary.engine().logical_log().durable();
  for (const auto& machine : machines_) {
    const auto run = machine->run();
    if (!run) return false;
    if (run.get() == &primary) continue;
    const Standby* const standby = run->standby();
    if (standby == nullptr || standby->durable() != end || standby->replayed() != end) return false;
  }
  return true;
}

std::shared_ptr<ServerRun> History::await_agreement() {
  const TimePoint latest = now() + std::chrono::seconds{30};
  while (now() < latest && failure_.empty()) {
    pause(ms(50));
    for (const auto& machine : machines_) {
      if (!machine->failure.empty())
        note_failure(fmt::format("machine {}: {}", machine->number, machine->failure));
      const auto run = machine->run();
      if (!run || !run->serves() || run->role() != ServerRun::Role::primary) continue;
      const ServerRun::Use use{run};
      if (agree(*run)) return run;
    }
  }
  note_failure("the servers do not agree in the end:" + describe());
  return nullptr;
}

std::string History::describe() const {
  std::string text;
  for (const auto& machine : machines_) {
    const auto run = machine->run();
    if (!run) {
      text += fmt::format(" machine {} is down;", machine->number);
    } else if (Standby* const standby = run->standby()) {
      text += fmt::format(" standby {} of timeline {} has {}, durably {}, replayed {};",
                          machine->number, standby->timeline(), raw(standby->received()),
                          raw(standby->durable()), raw(standby->replayed()));
    } else if (run->serves()) {
      const LogicalLog& log = run->engine().logical_log();
      text += fmt::format(" primary {} of timeline {} has {};", machine->number, log.timeline(),
                          raw(log.durable()));
    }
  }
  return text;
}

void History::check_end(ServerRun& primary) {
  const ServerRun::Use use{primary.shared_from_this()};
  const auto seen = Bank::look(primary.engine(), tree_);
  if (!seen) return note_failure("the primary cannot be read: " + seen.error().message());
  if (const std::string wrong = Bank::wrong_with(*seen); !wrong.empty())
    note_failure("at the end " + wrong);
  for (const std::uint64_t client_number : acknowledged_)
    if (!seen->made.contains(client_number))
      note_failure(fmt::format("transfer {} was acknowledged, and is lost", client_number));
  const auto violations = primary.engine().verify();
  if (!violations || !violations->empty())
    note_failure("the primary: " +
                 (violations ? violations->front() : violations.error().message()));
  for (const auto& machine : machines_) {
    const auto run = machine->run();
    if (!run || run.get() == &primary || !run->serves()) continue;
    const ServerRun::Use use_there{run};
    if (!run->engine().replay_gate()->enter()) continue;
    const auto there = Bank::look(run->engine(), tree_);
    run->engine().replay_gate()->leave();
    if (!there || *there != *seen)
      note_failure(fmt::format("machine {} has other rows than the primary", machine->number));
  }
}

}  // namespace swizzle::sql::cluster
