#include "tpcc/tpcb/wire_tpcb.h"

#include <fmt/format.h>

#include <array>
#include <iterator>

namespace swizzle::tpcc {
namespace {

enum Statement : std::uint32_t { kBegin, kAccount, kTeller, kBranch, kHistory, kCommit };

class WireTpcbSession final : public TpcbSession {
 public:
  explicit WireTpcbSession(std::unique_ptr<Connection> connection)
      : connection_(std::move(connection)) {}

  Result<Outcome> run(const TpcbInput& input) override {
    const std::string delta = std::to_string(input.delta);
    const std::string account = std::to_string(input.account);
    const std::string teller = std::to_string(input.teller);
    const std::string branch = std::to_string(input.branch);
    const auto ran = connection_->run({{kBegin, {}},
                                       {kAccount, {delta, account}},
                                       {kTeller, {delta, teller}},
                                       {kBranch, {delta, branch}},
                                       {kHistory, {teller, branch, account, delta}},
                                       {kCommit, {}}});
    if (ran) return Outcome::committed;
    connection_->roll_back();
    return fail(ran.error().state(), ran.error().message());
  }

 private:
  std::unique_ptr<Connection> connection_;
};

}  // namespace

Result<std::unique_ptr<WireTpcb>> WireTpcb::open(const WireSettings& settings) {
  ASSIGN_OR_RETURN(auto connection, settings.connect(Pipelining::off));
  return std::unique_ptr<WireTpcb>{new WireTpcb{settings, std::move(connection)}};
}

Result<> WireTpcb::load(TpcbSizes sizes) {
  for (const char* sql :
       {"DROP TABLE IF EXISTS pgbench_history", "DROP TABLE IF EXISTS pgbench_accounts",
        "DROP TABLE IF EXISTS pgbench_tellers", "DROP TABLE IF EXISTS pgbench_branches",
        "CREATE TABLE pgbench_branches (bid int PRIMARY KEY, bbalance int, filler char(88))",
        "CREATE TABLE pgbench_tellers (tid int PRIMARY KEY, bid int, tbalance int, "
        "filler char(84))",
        "CREATE TABLE pgbench_accounts (aid int PRIMARY KEY, bid int, abalance int, "
        "filler char(84))",
        "CREATE TABLE pgbench_history (tid int, bid int, aid int, delta int, mtime timestamp, "
        "filler char(22))"}) {
    RETURN_IF_ERROR(connection_->execute(sql));
  }
  const auto copy = [&](const char* sql, std::uint32_t per_branch, const char* format) {
    std::uint32_t row = 0;
    const std::uint32_t rows = sizes.branches * per_branch;
    return connection_->copy_in(sql, [&, row, rows](std::string& buffer) mutable {
      if (row == rows) return false;
      ++row;
      fmt::format_to(std::back_inserter(buffer), fmt::runtime(format), row,
                     (row - 1) / per_branch + 1);
      return true;
    });
  };
  RETURN_IF_ERROR(copy("COPY pgbench_branches (bid, bbalance, filler) FROM STDIN", 1, "{}\t0\t\n"));
  RETURN_IF_ERROR(copy("COPY pgbench_tellers (tid, bid, tbalance, filler) FROM STDIN",
                       kTellersPerBranch, "{}\t{}\t0\t\n"));
  RETURN_IF_ERROR(copy("COPY pgbench_accounts (aid, bid, abalance, filler) FROM STDIN",
                       sizes.accounts_per_branch, "{}\t{}\t0\t\n"));
  return {};
}

Result<TpcbSizes> WireTpcb::sizes() {
  ASSIGN_OR_RETURN(const Rows branches,
                   connection_->execute("SELECT max(bid) FROM pgbench_branches"));
  ASSIGN_OR_RETURN(const Rows accounts,
                   connection_->execute("SELECT max(aid) FROM pgbench_accounts"));
  const auto count = static_cast<std::uint32_t>(branches.number(0, 0));
  if (count == 0) return fail(sqlstate::undefined_file, "TPC-B is not loaded");
  return TpcbSizes{count, static_cast<std::uint32_t>(accounts.number(0, 0)) / count};
}

Result<std::unique_ptr<TpcbSession>> WireTpcb::session(std::uint32_t /*number*/) {
  ASSIGN_OR_RETURN(auto connection, settings_.connect(settings_.pipelining));
  if (!settings_.set_up.empty()) RETURN_IF_ERROR(connection->execute(settings_.set_up));
  const std::array<std::string, 6> statements{
      settings_.begin,
      "UPDATE pgbench_accounts SET abalance = abalance + $1 WHERE aid = $2 RETURNING abalance",
      "UPDATE pgbench_tellers SET tbalance = tbalance + $1 WHERE tid = $2",
      "UPDATE pgbench_branches SET bbalance = bbalance + $1 WHERE bid = $2",
      "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) "
      "VALUES ($1, $2, $3, $4, CURRENT_TIMESTAMP)",
      "COMMIT"};
  std::uint32_t number = 0;
  for (const std::string& sql : statements) {
    RETURN_IF_ERROR(connection->prepare(number++, sql));
  }
  return std::make_unique<WireTpcbSession>(std::move(connection));
}

Result<std::vector<TpcbSums>> WireTpcb::sums() {
  ASSIGN_OR_RETURN(const TpcbSizes size, sizes());
  std::vector<TpcbSums> sums(size.branches);
  const auto add = [&](const char* sql, std::int64_t TpcbSums::* member) -> Result<> {
    ASSIGN_OR_RETURN(const Rows rows, connection_->execute(sql));
    for (int row = 0; row < rows.count(); ++row) {
      sums[static_cast<std::size_t>(rows.number(row, 0)) - 1].*member = rows.number(row, 1);
    }
    return {};
  };
  RETURN_IF_ERROR(add("SELECT bid, bbalance FROM pgbench_branches", &TpcbSums::branch));
  RETURN_IF_ERROR(
      add("SELECT bid, sum(tbalance) FROM pgbench_tellers GROUP BY bid", &TpcbSums::tellers));
  RETURN_IF_ERROR(
      add("SELECT bid, sum(abalance) FROM pgbench_accounts GROUP BY bid", &TpcbSums::accounts));
  RETURN_IF_ERROR(
      add("SELECT bid, sum(delta) FROM pgbench_history GROUP BY bid", &TpcbSums::history));
  return sums;
}

double WireTpcb::server_cpu_seconds() {
  return settings_.server == 0 ? 0 : cpu_seconds_of(settings_.server);
}

}  // namespace swizzle::tpcc
