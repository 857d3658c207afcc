#include "storage/recovery/kill_cycles/kill_worker.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <vector>

#include "base/invariant.h"
#include "base/io/posix_file_system.h"
#include "base/random.h"
#include "storage/engine.h"

namespace swizzle {
namespace {

EngineOptions small_options() {
  EngineOptions options;
  // Small, so that pages are evicted, checkpoints taken and segments recycled within one life.
  options.pool_bytes = std::uint64_t{3} << 20U;
  options.log_segment_bytes = std::uint64_t{1} << 20U;
  options.log_buffer_bytes = std::uint64_t{1} << 20U;
  options.checkpoint_log_bytes = std::uint64_t{2} << 20U;
  options.undo_memory_bytes = std::uint64_t{64} << 10U;
  return options;
}

std::string key_of(std::size_t session, std::size_t key) {
  return fmt::format("{:04} of {}", key, session);
}

// Returns a value that follows from its session, key and version, so that a mix-up shows.
std::string value_of(std::size_t session, std::size_t key, std::uint64_t version) {
  Random random{version * 1000 + key * 7 + session};
  const std::size_t length = random.one_in(40) ? 3000 + random.below(6000) : random.below(300);
  return fmt::format("{} ", version) +
         std::string(length, static_cast<char>('a' + random.below(26)));
}

std::string gid_of(std::size_t session) {
  return fmt::format("of session {}", session);
}

// Keys are spread over two trees.
std::size_t tree_of(std::size_t key) {
  return key % 2;
}

class Session {
 public:
  Session(Engine& engine, KillOracle& oracle, std::size_t number, std::uint64_t seed)
      : engine_(engine),
        oracle_(oracle),
        state_(oracle.sessions.at(number)),
        number_(number),
        random_(seed) {}

  [[noreturn]] void run() {
    while (true) {
      // Some prepared transactions wait for long, or are finished by the next process.
      if (state_.pending == Pending::prepared && !random_.one_in(20)) finish_prepared();
      if (state_.pending == Pending::none) run_transaction();
      if (random_.one_in(400)) INVARIANT(engine_.checkpoint().has_value());
    }
  }

 private:
  using Change = KillOracle::Change;
  using Pending = KillOracle::Session::Pending;

  void run_transaction() {
    const auto transaction = engine_.begin();
    std::vector<Change> changes;
    for (std::uint64_t left = random_.between(1, KillOracle::kMostChanges); left > 0; --left) {
      const auto before = changes;
      const Transaction::Mark mark = transaction->mark();
      change_one(*transaction, changes);
      if (!random_.one_in(7)) continue;
      INVARIANT(transaction->rollback_to(mark).has_value());
      changes = before;
    }
    if (random_.one_in(6)) {
      transaction->rollback();
      return;
    }
    std::ranges::copy(changes, state_.changes.begin());
    state_.change_count = static_cast<std::uint32_t>(changes.size());
    if (random_.one_in(4)) {
      state_.pending.store(Pending::preparing, std::memory_order_release);
      INVARIANT(transaction->prepare(gid_of(number_), as_bytes("note")).has_value());
      state_.pending.store(Pending::prepared, std::memory_order_release);
      return;
    }
    state_.pending.store(Pending::committing, std::memory_order_release);
    INVARIANT(transaction->commit().has_value());
    acknowledge();
  }

  void acknowledge() {
    state_.pending.store(Pending::acknowledged, std::memory_order_release);
    for (std::uint32_t i = 0; i < state_.change_count; ++i)
      state_.committed[state_.changes[i].key] = state_.changes[i].after;
    ++state_.acknowledged;
    state_.pending.store(Pending::none, std::memory_order_release);
  }

  void finish_prepared() {
    auto taken = engine_.take_prepared(gid_of(number_));
    INVARIANT(taken.has_value());
    if (random_.one_in(3)) {
      state_.pending.store(Pending::finishing_by_rollback, std::memory_order_release);
      (*taken)->rollback();
      state_.pending.store(Pending::none, std::memory_order_release);
      return;
    }
    state_.pending.store(Pending::finishing_by_commit, std::memory_order_release);
    INVARIANT((*taken)->commit().has_value());
    acknowledge();
  }

  void change_one(Transaction& transaction, std::vector<Change>& changes) {
    const auto key = static_cast<std::uint32_t>(random_.below(KillOracle::kKeys));
    auto known = std::ranges::find(changes, key, &Change::key);
    if (known == changes.end()) {
      changes.push_back({key, state_.committed[key], state_.committed[key]});
      known = std::prev(changes.end());
    }
    Tree tree = engine_.tree(TreeId{oracle_.trees[tree_of(key)]}).value();
    const std::string name = key_of(number_, key);
    const bool removes = known->after != 0 && random_.one_in(3);
    const std::uint64_t version = removes ? 0 : ++state_.next_version;
    const std::string value = value_of(number_, key, version);
    const auto done = removes ? tree.remove(transaction, as_bytes(name))
                      : known->after == 0
                          ? tree.insert(transaction, as_bytes(name), as_bytes(value))
                          : tree.update(transaction, as_bytes(name), as_bytes(value));
    INVARIANT(done.has_value() && *done);
    known->after = version;
  }

  Engine& engine_;
  KillOracle& oracle_;
  KillOracle::Session& state_;
  const std::size_t number_;
  Random random_;
};

// Returns the version of a key in the engine; none if its value was never written.
std::optional<std::uint64_t> version_in(Transaction& reader, const Tree& tree, std::size_t session,
                                        std::size_t key) {
  ValueBuffer value;
  if (!tree.get(reader, as_bytes(key_of(session, key)), value).value()) return 0;
  const std::string text{as_text(value.bytes())};
  std::uint64_t version = 0;
  static_cast<void>(std::from_chars(text.data(), text.data() + text.size(), version));
  if (version == 0 || text != value_of(session, key, version)) return std::nullopt;
  return version;
}

/// Returns the first change of a prepared transaction that is not locked against others; empty if
/// all are locked.
std::string find_unlocked(Engine& engine, const KillOracle& oracle, std::size_t number) {
  const KillOracle::Session& session = oracle.sessions.at(number);
  for (std::uint32_t i = 0; i < session.change_count; ++i) {
    const KillOracle::Change& change = session.changes[i];
    // The change and its lock may both have been rolled back to a savepoint.
    if (change.before == change.after) continue;
    const auto other = engine.begin();
    const Tree tree = engine.tree(TreeId{oracle.trees[tree_of(change.key)]}).value();
    ValueBuffer value;
    const auto got = tree.get(*other, as_bytes(key_of(number, change.key)), value,
                              ReadMode::for_update, WaitPolicy::no_wait);
    if (got || got.error().state() != sqlstate::lock_not_available)
      return fmt::format("session {}: key {} of what it has prepared is not locked", number,
                         change.key);
  }
  return {};
}

std::string compare(Engine& engine, KillOracle& oracle) {
  const auto prepared = engine.prepared();
  for (std::size_t session = 0; session < KillOracle::kSessions; ++session) {
    const auto reader = engine.begin();
    std::vector<std::uint64_t> found(KillOracle::kKeys);
    for (std::size_t key = 0; key < KillOracle::kKeys; ++key) {
      const Tree tree = engine.tree(TreeId{oracle.trees[tree_of(key)]}).value();
      const auto version = version_in(*reader, tree, session, key);
      if (!version) return fmt::format("session {}: key {} has a strange value", session, key);
      found[key] = *version;
    }
    const bool is_prepared =
        std::ranges::find(prepared, gid_of(session), &PreparedTransaction::gid) != prepared.end();
    using Prepared = KillOracle::Prepared;
    if (auto wrong = oracle.compare(session, found,
                                    is_prepared ? Prepared::is_there : Prepared::is_not_there);
        !wrong.empty())
      return wrong;
    if (!is_prepared) continue;
    if (auto wrong = find_unlocked(engine, oracle, session); !wrong.empty()) return wrong;
  }
  const auto violations = engine.verify();
  if (!violations) return violations.error().message();
  return violations->empty() ? std::string{} : violations->front();
}

std::string create(FileSystem& files, const std::filesystem::path& directory, KillOracle& oracle) {
  if (auto made = Engine::create(files, directory, small_options()); !made)
    return made.error().message();
  const auto engine = Engine::open(files, directory, small_options());
  if (!engine) return engine.error().message();
  const auto transaction = (*engine)->begin();
  for (std::uint32_t& tree : oracle.trees) tree = raw((*engine)->create_tree(*transaction).value());
  if (auto done = transaction->commit(); !done) return done.error().message();
  oracle.is_created = true;
  return {};
}

}  // namespace

std::string check_once(const std::filesystem::path& directory, KillOracle& oracle) {
  PosixFileSystem files;
  const auto engine = Engine::open(files, directory, small_options());
  if (!engine) return engine.error().message() + ": " + engine.error().detail();
  if (auto wrong = compare(**engine, oracle); !wrong.empty()) return wrong;
  if (auto closed = (*engine)->close(); !closed) return closed.error().message();
  return {};
}

std::string work_until_killed(const std::filesystem::path& directory, KillOracle& oracle,
                              std::uint64_t seed) {
  spdlog::set_level(spdlog::level::warn);
  PosixFileSystem files;
  if (!oracle.is_created) return create(files, directory, oracle);
  Runtime& runtime = Runtime::current();
  const TimePoint begin = runtime.now();
  const auto engine = Engine::open(files, directory, small_options());
  if (!engine) return engine.error().message() + ": " + engine.error().detail();
  oracle.restart_us = static_cast<std::uint64_t>((runtime.now() - begin).count() / 1000);
  if (auto wrong = compare(**engine, oracle); !wrong.empty()) return wrong;
  std::vector<std::unique_ptr<Task>> tasks;
  for (std::size_t number = 0; number < KillOracle::kSessions; ++number)
    tasks.push_back(runtime.spawn(
        "session", [&, number] { Session(**engine, oracle, number, seed * 10 + number).run(); }));
  for (const auto& task : tasks) task->join();
  return "the sessions ended by themselves";
}

}  // namespace swizzle
