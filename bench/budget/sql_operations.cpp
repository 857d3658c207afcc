// Operation: a prepared point SELECT, from Bind to Sync, with its row encoded for the wire.
#include <array>
#include <optional>
#include <string>

#include "base/invariant.h"
#include "bench/budget/operation.h"
#include "bench/budget/scratch_database.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/silent_sink.h"

namespace swizzle::bench {
namespace {

class PreparedSelect final : public BudgetOperation {
 public:
  PreparedSelect() {
    auto opened = sql::Database::open(database_.engine());
    INVARIANT(opened.has_value());
    catalog_ = std::move(*opened);
    auto session = catalog_->connect({});
    INVARIANT(session.has_value());
    session_ = std::move(*session);
    must(session_->simple_query("CREATE TABLE accounts(aid int PRIMARY KEY, abalance int)", sink_));
    must(session_->simple_query("INSERT INTO accounts SELECT i, i FROM generate_series(1, 20000) i",
                                sink_));
    must(session_->parse("point", "SELECT abalance FROM accounts WHERE aid = $1", {}, sink_));
  }

  bool run(std::uint64_t index) override {
    const std::string key = std::to_string(index * 7919 % kMost + 1);
    const std::array<std::optional<Bytes>, 1> values{as_bytes(key)};
    const std::uint64_t before = sink_.rows;
    return session_->bind({"", "point", {}, values, {}}, sink_).has_value() &&
           session_->execute("", 0, sink_).has_value() && session_->sync(sink_).has_value() &&
           sink_.rows == before + 1;
  }

 private:
  static void must(const sql::Outcome& outcome) { INVARIANT(outcome.has_value()); }

  ScratchDatabase database_;
  std::unique_ptr<sql::Database> catalog_;
  std::unique_ptr<sql::Session> session_;
  sql::CountingSink sink_;
};

}  // namespace

void add_sql_operations(BudgetOperations& operations) {
  operations["prepared_select"] = [] { return std::make_unique<PreparedSelect>(); };
}

}  // namespace swizzle::bench
