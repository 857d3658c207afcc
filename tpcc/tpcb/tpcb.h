#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "tpcc/driver.h"

/// TPC-B (revision 2.0): one kind of transaction, which changes an account, a teller and a branch
/// and writes a history row. Over the wire its tables are pgbench's, so that either program may
/// load.
namespace swizzle::tpcc {

inline constexpr std::uint32_t kTellersPerBranch = 10;

struct TpcbSizes {
  std::uint32_t branches = 1;
  std::uint32_t accounts_per_branch = 100'000;
};

struct TpcbInput {
  std::uint32_t account = 0;  ///< these three count from 1 over all branches
  std::uint32_t teller = 0;
  std::uint32_t branch = 0;
  std::int64_t delta = 0;
};

/// Clause 5.3: 85 % of the accounts belong to the teller's branch.
class TpcbInputs {
 public:
  TpcbInputs(TpcbSizes sizes, std::uint64_t seed) noexcept : sizes_(sizes), random_(seed) {}
  [[nodiscard]] TpcbInput next() noexcept;

 private:
  TpcbSizes sizes_;
  Random random_;
};

class TpcbSession {
 public:
  TpcbSession() = default;
  TpcbSession(const TpcbSession&) = delete;
  TpcbSession& operator=(const TpcbSession&) = delete;
  virtual ~TpcbSession() = default;
  virtual Result<Outcome> run(const TpcbInput& input) = 0;
};

/// Sums over one branch's rows. All four are equal in consistent data.
struct TpcbSums {
  std::int64_t branch = 0;
  std::int64_t tellers = 0;
  std::int64_t accounts = 0;
  std::int64_t history = 0;
};

class TpcbBackend {
 public:
  TpcbBackend() = default;
  TpcbBackend(const TpcbBackend&) = delete;
  TpcbBackend& operator=(const TpcbBackend&) = delete;
  virtual ~TpcbBackend() = default;

  virtual Result<> load(TpcbSizes sizes) = 0;
  virtual Result<TpcbSizes> sizes() = 0;
  virtual Result<std::unique_ptr<TpcbSession>> session(std::uint32_t number) = 0;
  /// Returns the sums of each branch, indexed by branch - 1.
  virtual Result<std::vector<TpcbSums>> sums() = 0;
  virtual double server_cpu_seconds() { return 0; }
  virtual Result<> close() = 0;
};

Result<Workload> tpcb_workload(TpcbBackend& backend, const RunSettings& settings);
/// The branches whose four sums differ, each as a sentence.
Result<std::vector<std::string>> find_violations(TpcbBackend& backend);

}  // namespace swizzle::tpcc
