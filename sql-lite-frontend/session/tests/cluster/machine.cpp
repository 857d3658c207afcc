#include "sql-lite-frontend/session/tests/cluster/machine.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/invariant.h"
#include "storage/logical/logical_log.h"
#include "storage/standby/rewind.h"
#include "storage/standby/sent_files.h"

namespace swizzle::sql::cluster {

Machine::Machine(std::size_t of, std::shared_ptr<SimulatedDisk> disk, std::uint64_t seed,
                 Shared& shared)
    : number(of), shared_(shared), random_(seed), disk_(std::move(disk)) {}

std::shared_ptr<ServerRun> Machine::make_run() {
  return std::make_shared<ServerRun>(number, disk_, shared_.network, random_(), shared_.hooks);
}

void Machine::kill() {
  if (is_off()) return;
  ++shared_.totals.kills;
  ++boot_;
  off_until_ = now() + ms(random_.between(20, 900));
  std::shared_ptr<SimulatedDisk> left = disk_->copy(random_());
  left->crash(random_());
  old_disks_.push_back(std::exchange(disk_, std::move(left)));
  seen_commits = 0;
  if (const auto dead = std::exchange(run_, nullptr)) {
    dead->kill();
    cleaners_.push_back(Runtime::current().spawn("cleaner", [dead] { dead->stop(false); }));
  }
}

void Machine::stop(bool orderly) {
  const auto run = run_;
  if (!run) return;
  const std::uint64_t boot = boot_;
  run->stop(orderly);
  if (is_same(boot)) run_ = nullptr;
}

void Machine::end() {
  stop(false);
  for (const auto& cleaner : cleaners_) cleaner->join();
}

void Machine::supervise() {
  while (!shared_.ends) {
    pause(ms(random_.between(20, 80)));
    if (now() < frozen_until_ || is_off()) continue;
    const std::uint64_t boot = boot_;
    const auto view = ask([](Arbiter& arbiter) { return arbiter.view(); });
    if (is_same(boot) && failure.empty()) look_after(view);
  }
}

void Machine::look_after(const std::optional<Arbiter::View>& view) {
  if (run_ && run_->role() == ServerRun::Role::primary) return lead(view);
  if (!view) return;
  run_ ? stand_by(*view) : start(*view);
}

// ---- a server that is down ----

void Machine::start(const Arbiter::View& view) {
  const std::uint64_t boot = boot_;
  const auto disk = disk_;
  const bool is_rewound = Rewind::is_begun(*disk, kHome).value();
  if (!is_same(boot)) return;
  if (is_rewound) {
    if (view.leader && *view.leader != number) rejoin(*view.leader);
    return;
  }
  const auto run = make_run();
  const bool was_standby = Standby::is_in(*disk, kHome).value();
  // A primary that comes back before anybody has taken over goes on as it was.
  if (!was_standby && view.trusted.primary == number && random_.one_in(2)) {
    if (!take_over(view) || !is_same(boot)) return;
    run_ = run;
    auto opened = run->open_primary();
    if (opened) ++shared_.totals.restarts_as_primary;
    return become_primary(run, std::move(opened));
  }
  const auto opened = run->open_standby(shared_.is_read);
  if (!is_same(boot)) return run->stop(false);
  if (!opened) {
    failure = "a standby does not open: " + opened.error().message();
    return run->stop(false);
  }
  run_ = run;
}

// ---- a primary ----

void Machine::lead(const std::optional<Arbiter::View>& view) {
  if (!view) {
    if (now() > leads_until_ && shared_.obeys_lease) stop(random_.one_in(2));
    return;
  }
  if (view->trusted.primary != number) return stop(random_.one_in(2));
  const TimePoint asked = now();
  const std::uint64_t boot = boot_;
  const auto leads = ask([this](Arbiter& arbiter) { return arbiter.lead(number); });
  if (!is_same(boot)) return;
  if (leads && !*leads) return stop(random_.one_in(2));
  if (leads) leads_until_ = asked + Arbiter::kLease;
  trust_standbys(*view);
}

bool Machine::has_all_before(std::size_t machine, Lsn end) {
  return std::ranges::any_of(run_->senders().list(), [&](const LogSenders::Sender& sender) {
    return sender.application == ServerRun::name_of(machine) && !sender.catches_up &&
           sender.flushed >= end;
  });
}

/// Keeps to a rule: commits wait for all standbys that are trusted, at any time. So a standby is
/// waited for before it is trusted, and not trusted any more before the waits for it end.
void Machine::trust_standbys(const Arbiter::View& view) {
  const auto run = run_;
  const std::uint64_t boot = boot_;
  const std::set<std::size_t>& trusted = view.trusted.standbys;
  const auto write = [&](const std::set<std::size_t>& standbys) {
    const auto is_written = ask(
        [&](Arbiter& arbiter) { return arbiter.trust(view.trusted.version, number, standbys); });
    return is_same(boot) && is_written.value_or(false);
  };
  if (run->waited_for() != trusted) run->wait_for(trusted);
  std::set<std::size_t> streaming;
  for (std::size_t machine = 0; machine < Network::kMachines; ++machine)
    if (has_all_before(machine, Lsn{1})) streaming.insert(machine);
  std::set<std::size_t> staying;
  std::ranges::set_intersection(trusted, streaming, std::inserter(staying, staying.end()));
  if (staying != trusted) {
    if (write(staying)) run->wait_for(staying);
    return;
  }
  for (const std::size_t added : streaming) {
    if (trusted.contains(added)) continue;
    std::set<std::size_t> more = trusted;
    more.insert(added);
    run->wait_for(more);
    const Lsn end = run->engine().logical_log().durable();
    const TimePoint latest = now() + ms(150);
    while (is_same(boot) && now() < latest && !has_all_before(added, end)) pause(ms(5));
    if (!is_same(boot) || !has_all_before(added, end)) return;
    write(more);
    return;
  }
}

// ---- a standby ----

void Machine::stand_by(const Arbiter::View& view) {
  if (run_->has_parted() && view.leader && *view.leader != number) return rejoin(*view.leader);
  if (view.leader && *view.leader != number) return choose_source(*view.leader);
  if (!view.trusted.has(number)) return;
  const auto run = run_;
  const std::uint64_t boot = boot_;
  if (!take_over(view) || !is_same(boot)) return;
  auto promoted = run->promote();
  if (promoted) ++shared_.totals.promotions;
  if (is_same(boot)) become_primary(run, std::move(promoted));
}

void Machine::choose_source(std::size_t leader) {
  const std::size_t third = Network::kMachines - number - leader;
  if (shared_.network.is_whole()) {
    // In the end a chain stays, but for a circle.
    return run_->follow(shared_.chains && number > third ? third : leader);
  }
  if (shared_.chains && random_.one_in(8)) {
    ++shared_.totals.chained;
    return run_->follow(third);
  }
  if (!shared_.chains || random_.one_in(8)) run_->follow(leader);
}

bool Machine::take_over(const Arbiter::View& view) {
  const std::uint64_t boot = boot_;
  const TimePoint asked = now();
  const auto leads = ask([this](Arbiter& arbiter) { return arbiter.lead(number); });
  if (!leads.value_or(false) || !is_same(boot)) return false;
  leads_until_ = asked + Arbiter::kLease;
  return ask([&](Arbiter& arbiter) { return arbiter.trust(view.trusted.version, number, {}); })
      .value_or(false);
}

void Machine::become_primary(const std::shared_ptr<ServerRun>& run, Result<> opened) {
  if (run_ != run) return run->stop(false);
  if (opened) return;
  failure = "a primary does not open: " + opened.error().message();
}

// ---- an old primary ----

/// Makes a standby of this directory, whose history has parted from the leader's.
void Machine::rejoin(std::size_t leader) {
  const std::uint64_t boot = boot_;
  if (run_) ++shared_.totals.partings;
  stop(false);
  if (!is_same(boot)) return;
  const auto source = shared_.hooks.run_on(leader);
  if (!source || !source->serves() || source->role() != ServerRun::Role::primary) return;
  const ServerRun::Use use{source};
  rewind_from(*source);
}

void Machine::rewind_from(ServerRun& source) {
  const std::uint64_t boot = boot_;
  const auto disk = disk_;
  LogicalLog& log = source.engine().logical_log();
  const std::uint32_t timeline = log.timeline();
  const auto history = log.history(timeline);
  auto opened = Rewind::open(*disk, kHome);
  if (!history || !opened || !is_same(boot)) return;
  Rewind& rewind = **opened;
  // The other one may be behind, or on the same timeline: nothing is to be rewound.
  if (!rewind.part_from(timeline, history->text())) return;
  const auto kept = rewind.prepare({});
  if (!kept) {
    if (is_same(boot)) failure = "a rewind does not begin: " + kept.error().message();
    return;
  }
  seen_commits = 0;
  ReceivedFiles received{*disk, "/", {}};
  const std::filesystem::path name = kHome.filename();
  received.go_into({.only_in = name, .data_file = name / "data", .kept = name / "unfinished"});
  bool is_whole = true;
  SentFiles sent{[&](Bytes message) {
    const bool is_cut = shared_.network.is_cut(source.machine, number) || !source.serves() ||
                        !is_same(boot) || (!shared_.network.is_whole() && random_.one_in(300));
    is_whole = is_whole && !is_cut && received.apply(message).has_value();
  }};
  sent.leave_out_pages(name / "data", *kept);
  const bool is_copied = log.copy_database(sent, name, {}).has_value();
  if (!is_same(boot)) return;
  if (!is_whole || !is_copied) {
    ++shared_.totals.rewinds_cut_short;
    return;
  }
  if (rewind.finish()) ++shared_.totals.rewinds;
}

}  // namespace swizzle::sql::cluster
