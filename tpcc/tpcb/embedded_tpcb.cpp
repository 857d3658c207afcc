#include "tpcc/tpcb/embedded_tpcb.h"

#include <fstream>
#include <optional>

#include "base/runtime/runtime.h"
#include "tpcc/embedded/layout.h"

namespace swizzle::tpcc {
namespace {

constexpr const char* kFile = "tpcb.catalog";

/// Branches, tellers and accounts: 100 bytes each (clause 3.2).
struct BalanceRecord {
  std::int64_t balance = 0;
  std::uint32_t branch = 0;
  std::array<char, 84> filler{};
};
static_assert(sizeof(BalanceRecord) >= 96);

struct HistoryEntry {
  Microseconds time = 0;
  std::int64_t delta = 0;
  std::uint32_t account = 0;
  std::uint32_t teller = 0;
  std::uint32_t branch = 0;
  std::array<char, 20> filler{};
};

class EmbeddedTpcbSession final : public TpcbSession {
 public:
  EmbeddedTpcbSession(Engine& engine, std::vector<Tree> trees, SessionSettings settings)
      : engine_(engine), trees_(std::move(trees)), settings_(settings) {}

  // Clause 1.2. Changes the branch's row last, since all transactions of the branch lock it.
  Result<Outcome> run(const TpcbInput& input) override {
    const auto transaction = engine_.begin(settings_.isolation);
    RETURN_IF_ERROR(add(*transaction, trees_[2], input.account, input.delta));
    RETURN_IF_ERROR(add(*transaction, trees_[1], input.teller, input.delta));
    const HistoryEntry entry{.time = Runtime::current().wall_clock_us(),
                             .delta = input.delta,
                             .account = input.account,
                             .teller = input.teller,
                             .branch = input.branch};
    const Key key = Key{}.wide(settings_.run).number(settings_.number).number(sequence_++);
    ASSIGN_OR_RETURN(const bool inserted,
                     trees_[3].insert(*transaction, key.bytes(), Image{entry}.bytes()));
    if (!inserted) return fail(sqlstate::unique_violation, "TPC-B: duplicate history row");
    RETURN_IF_ERROR(add(*transaction, trees_[0], input.branch, input.delta));
    RETURN_IF_ERROR(transaction->commit(settings_.durability));
    return Outcome::committed;
  }

 private:
  Result<> add(Transaction& transaction, Tree& tree, std::uint32_t row, std::int64_t delta) {
    const Key key = Key{}.number(row);
    ASSIGN_OR_RETURN(const bool found,
                     tree.get(transaction, key.bytes(), value_, ReadMode::for_update));
    if (!found) return fail(sqlstate::internal_error, "TPC-B: a row is missing");
    auto record = swizzle::load<BalanceRecord>(value_.bytes().data());
    record.balance += delta;
    RETURN_IF_ERROR(tree.update(transaction, key.bytes(), Image{record}.bytes()));
    return {};
  }

  Engine& engine_;
  std::vector<Tree> trees_;
  SessionSettings settings_;
  ValueBuffer value_;
  std::uint32_t sequence_ = 0;
};

}  // namespace

Result<std::unique_ptr<EmbeddedTpcb>> EmbeddedTpcb::start(Start how, FileSystem& files,
                                                          const std::filesystem::path& directory,
                                                          const EngineOptions& options,
                                                          const SessionSettings& settings) {
  if (how == Start::create) RETURN_IF_ERROR(Engine::create(files, directory, options));
  ASSIGN_OR_RETURN(auto engine, Engine::open(files, directory, options));
  std::unique_ptr<EmbeddedTpcb> backend{new EmbeddedTpcb{directory, settings, std::move(engine)}};
  backend->settings_.run = static_cast<std::uint64_t>(Runtime::current().wall_clock_us());
  if (how == Start::open) {
    RETURN_IF_ERROR(backend->read_catalog());
    RETURN_IF_ERROR(backend->open_trees());
  }
  return backend;
}

Result<> EmbeddedTpcb::load(TpcbSizes sizes) {
  sizes_ = sizes;
  RETURN_IF_ERROR(fill(kBranch, sizes.branches));
  RETURN_IF_ERROR(fill(kTeller, sizes.branches * kTellersPerBranch));
  RETURN_IF_ERROR(fill(kAccount, sizes.branches * sizes.accounts_per_branch));
  RETURN_IF_ERROR(fill(kHistory, 0));
  RETURN_IF_ERROR(write_catalog());
  return open_trees();
}

Result<> EmbeddedTpcb::fill(Table table, std::uint32_t rows) {
  const std::uint32_t per_branch = rows / sizes_.branches;
  const auto transaction = engine_->begin();
  ASSIGN_OR_RETURN(ids_[table], engine_->create_tree(*transaction));
  std::uint32_t row = 0;
  Key key;
  Image image{BalanceRecord{}};
  const auto next = [&]() -> Result<std::optional<Engine::Record>> {
    if (row == rows) return std::optional<Engine::Record>{};
    const BalanceRecord record{.balance = 0, .branch = row / per_branch + 1};
    key = Key{}.number(++row);
    image = Image{record};
    return std::optional{Engine::Record{key.bytes(), image.bytes()}};
  };
  if (rows != 0) RETURN_IF_ERROR(engine_->bulk_load(*transaction, ids_[table], next));
  return transaction->commit();
}

Result<> EmbeddedTpcb::write_catalog() const {
  std::ofstream file(directory_ / kFile);
  file << sizes_.branches << " " << sizes_.accounts_per_branch << "\n";
  for (const TreeId id : ids_) file << raw(id) << "\n";
  file.flush();
  if (!file) return fail(sqlstate::io_error, "cannot write " + (directory_ / kFile).string());
  return {};
}

Result<> EmbeddedTpcb::read_catalog() {
  std::ifstream file(directory_ / kFile);
  file >> sizes_.branches >> sizes_.accounts_per_branch;
  for (TreeId& id : ids_) {
    std::uint32_t number = 0;
    file >> number;
    id = TreeId{number};
  }
  if (file) return {};
  return fail(sqlstate::undefined_file,
              (directory_ / kFile).string() + " is missing: was `load --workload tpcb` completed?");
}

Result<> EmbeddedTpcb::open_trees() {
  trees_.clear();
  for (const TreeId id : ids_) {
    ASSIGN_OR_RETURN(Tree tree, engine_->tree(id));
    trees_.push_back(tree);
  }
  return {};
}

Result<std::unique_ptr<TpcbSession>> EmbeddedTpcb::session(std::uint32_t number) {
  SessionSettings settings = settings_;
  settings.number = number;
  return std::make_unique<EmbeddedTpcbSession>(*engine_, trees_, settings);
}

Result<> EmbeddedTpcb::visit(Table table, const std::function<void(Bytes, Bytes)>& visit) {
  const auto transaction = engine_->begin(Isolation::repeatable_read, Access::read_only);
  ASSIGN_OR_RETURN(Cursor cursor, trees_[table].scan(*transaction, {}));
  while (true) {
    ASSIGN_OR_RETURN(const bool more, cursor.next());
    if (!more) break;
    visit(cursor.key(), cursor.value());
  }
  return transaction->commit();
}

Result<std::vector<TpcbSums>> EmbeddedTpcb::sums() {
  std::vector<TpcbSums> sums(sizes_.branches);
  const auto adder = [&](std::int64_t TpcbSums::* member) {
    return [&sums, member](Bytes, Bytes value) {
      const auto record = swizzle::load<BalanceRecord>(value.data());
      sums[record.branch - 1].*member += record.balance;
    };
  };
  RETURN_IF_ERROR(visit(kBranch, adder(&TpcbSums::branch)));
  RETURN_IF_ERROR(visit(kTeller, adder(&TpcbSums::tellers)));
  RETURN_IF_ERROR(visit(kAccount, adder(&TpcbSums::accounts)));
  RETURN_IF_ERROR(visit(kHistory, [&](Bytes, Bytes value) {
    const auto entry = swizzle::load<HistoryEntry>(value.data());
    sums[entry.branch - 1].history += entry.delta;
  }));
  return sums;
}

}  // namespace swizzle::tpcc
