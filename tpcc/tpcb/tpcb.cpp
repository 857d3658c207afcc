#include "tpcc/tpcb/tpcb.h"

#include <fmt/format.h>

#include <array>

namespace swizzle::tpcc {
namespace {

constexpr std::array<KindInfo, 1> kTpcbKinds{{{"tpcb"}}};

class TpcbWork final : public Work {
 public:
  TpcbWork(std::unique_ptr<TpcbSession> session, TpcbInputs inputs)
      : session_(std::move(session)), inputs_(inputs) {}
  std::size_t choose() override {
    input_ = inputs_.next();
    return 0;
  }
  Result<Outcome> attempt() override { return session_->run(input_); }

 private:
  std::unique_ptr<TpcbSession> session_;
  TpcbInputs inputs_;
  TpcbInput input_;
};

}  // namespace

TpcbInput TpcbInputs::next() noexcept {
  const auto up_to = [&](std::uint32_t count) {
    return static_cast<std::uint32_t>(random_.below(count));
  };
  const std::uint32_t teller = up_to(sizes_.branches * kTellersPerBranch);
  const std::uint32_t home = teller / kTellersPerBranch;
  std::uint32_t branch = home;
  if (sizes_.branches > 1 && up_to(100) < 15) {
    branch = up_to(sizes_.branches - 1);
    if (branch >= home) ++branch;
  }
  return {.account = branch * sizes_.accounts_per_branch + up_to(sizes_.accounts_per_branch) + 1,
          .teller = teller + 1,
          .branch = home + 1,
          .delta = static_cast<std::int64_t>(random_.below(1'999'999)) - 999'999};
}

Result<Workload> tpcb_workload(TpcbBackend& backend, const RunSettings& settings) {
  ASSIGN_OR_RETURN(const TpcbSizes sizes, backend.sizes());
  const auto make = [&backend, &settings,
                     sizes](std::uint32_t number) -> Result<std::unique_ptr<Work>> {
    ASSIGN_OR_RETURN(auto session, backend.session(number));
    const TpcbInputs inputs{sizes, settings.seed * 1'000'003 + number};
    return std::make_unique<TpcbWork>(std::move(session), inputs);
  };
  return Workload{kTpcbKinds, make, [&backend] { return backend.server_cpu_seconds(); }};
}

Result<std::vector<std::string>> find_violations(TpcbBackend& backend) {
  ASSIGN_OR_RETURN(const std::vector<TpcbSums> sums, backend.sums());
  // An account's changes count for its own branch in the account, but for the teller's in the other
  // three; only the totals of accounts agree where accounts may be remote.
  std::int64_t accounts = 0;
  std::int64_t branches = 0;
  std::vector<std::string> violations;
  std::uint32_t number = 0;
  for (const TpcbSums& of : sums) {
    ++number;
    accounts += of.accounts;
    branches += of.branch;
    if (of.branch == of.tellers && of.branch == of.history) continue;
    violations.push_back(fmt::format("branch {}: balance {}, tellers {}, history {}", number,
                                     of.branch, of.tellers, of.history));
  }
  if (accounts != branches) {
    violations.push_back(fmt::format("all branches {}, all accounts {}", branches, accounts));
  }
  return violations;
}

}  // namespace swizzle::tpcc
