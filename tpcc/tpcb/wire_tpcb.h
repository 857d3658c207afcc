#pragma once

#include <memory>

#include "tpcc/tpcb/tpcb.h"
#include "tpcc/wire/wire_backend.h"

namespace swizzle::tpcc {

/// TPC-B over PostgreSQL's protocol, on pgbench's tables.
class WireTpcb final : public TpcbBackend {
 public:
  static Result<std::unique_ptr<WireTpcb>> open(const WireSettings& settings);

  Result<> load(TpcbSizes sizes) override;
  Result<TpcbSizes> sizes() override;
  Result<std::unique_ptr<TpcbSession>> session(std::uint32_t number) override;
  Result<std::vector<TpcbSums>> sums() override;
  double server_cpu_seconds() override;
  Result<> close() override { return {}; }

 private:
  WireTpcb(WireSettings settings, std::unique_ptr<Connection> connection)
      : settings_(std::move(settings)), connection_(std::move(connection)) {}

  WireSettings settings_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace swizzle::tpcc
