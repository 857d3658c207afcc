#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "tpcc/backend.h"
#include "tpcc/wire/connection.h"
#include "tpcc/wire/statements.h"

namespace swizzle::tpcc {

/// The five transactions as prepared statements over one connection. Statements that need nothing
/// from each other go in one batch: one round trip with pipelining.
class WireSession final : public Session {
 public:
  static Result<std::unique_ptr<WireSession>> open(const Connect& connect, Pipelining pipelining,
                                                   const std::string& begin,
                                                   const std::string& set_up);

  Result<Outcome> new_order(const NewOrderInput& input) override;
  Result<Outcome> payment(const PaymentInput& input) override;
  Result<Outcome> order_status(const OrderStatusInput& input) override;
  Result<Outcome> delivery(const DeliveryInput& input) override;
  Result<Outcome> stock_level(const StockLevelInput& input) override;

 private:
  explicit WireSession(std::unique_ptr<Connection> connection)
      : connection_(std::move(connection)) {}
  /// Rolls back if the body failed.
  Result<Outcome> ended(Result<Outcome> outcome);

  Result<Outcome> try_new_order(const NewOrderInput& input);
  Result<Outcome> try_payment(const PaymentInput& input);
  Result<Outcome> try_order_status(const OrderStatusInput& input);
  Result<Outcome> try_delivery(const DeliveryInput& input);
  Result<Outcome> try_stock_level(const StockLevelInput& input);

  using Calls = std::vector<Call>;
  Result<> add_lines(const NewOrderInput& input, std::int64_t order, const std::vector<Rows>& found,
                     std::size_t first, Calls& calls);
  Result<std::int64_t> find_customer(const CustomerChoice& choice);
  Result<> deliver(const DeliveryInput& input, std::uint32_t district);

  std::unique_ptr<Connection> connection_;
};

}  // namespace swizzle::tpcc
