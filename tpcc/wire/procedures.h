#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "tpcc/backend.h"
#include "tpcc/wire/connection.h"

namespace swizzle::tpcc {

/// CREATE OR REPLACE PROCEDURE of the five transactions, in PL/pgSQL. They do what WireSession does
/// statement by statement, by the same statements.
[[nodiscard]] const std::vector<std::string>& procedure_definitions();

/// Each transaction is one CALL, and so one round trip.
class ProcedureSession final : public Session {
 public:
  static Result<std::unique_ptr<ProcedureSession>> open(const Connect& connect,
                                                        const std::string& set_up);

  Result<Outcome> new_order(const NewOrderInput& input) override;
  Result<Outcome> payment(const PaymentInput& input) override;
  Result<Outcome> order_status(const OrderStatusInput& input) override;
  Result<Outcome> delivery(const DeliveryInput& input) override;
  Result<Outcome> stock_level(const StockLevelInput& input) override;

 private:
  explicit ProcedureSession(std::unique_ptr<Connection> connection)
      : connection_(std::move(connection)) {}
  Result<Outcome> call(Kind procedure, std::vector<std::string> parameters);

  std::unique_ptr<Connection> connection_;
};

}  // namespace swizzle::tpcc
