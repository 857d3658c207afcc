#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/result.h"
#include "tpcc/inputs.h"
#include "tpcc/population.h"
#include "tpcc/schema.h"

namespace swizzle::tpcc {

/// Outcome of a transaction. Errors that a retry may resolve (deadlock, serialization failure, lock
/// timeout) are retried by the driver and are no outcomes.
enum class Outcome : std::uint8_t {
  committed,
  rolled_back,  ///< one per cent of new orders, with an unused item
};

/// One terminal's connection. Used by one thread or fiber at a time.
class Session {
 public:
  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  virtual ~Session() = default;

  virtual Result<Outcome> new_order(const NewOrderInput& input) = 0;
  virtual Result<Outcome> payment(const PaymentInput& input) = 0;
  virtual Result<Outcome> order_status(const OrderStatusInput& input) = 0;
  virtual Result<Outcome> delivery(const DeliveryInput& input) = 0;
  virtual Result<Outcome> stock_level(const StockLevelInput& input) = 0;

  Result<Outcome> run(const Input& input);
};

/// Called with each row of a table; an error ends the scan.
template <class Row>
using Visitor = std::function<void(const Row&)>;

/// A database, loaded or to be loaded.
class Backend {
 public:
  using Progress = std::function<void(const char* table, std::uint64_t rows)>;

  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  /// Creates the tables and fills them by the bulk path.
  virtual Result<> load(const Population& population, const Progress& progress) = 0;
  /// Returns the loaded sizes, which determine the inputs.
  virtual Result<Sizes> sizes() = 0;
  virtual Result<std::unique_ptr<Session>> session(std::uint32_t number) = 0;

  /// For the consistency conditions: visits all rows of a warehouse in the order of the primary
  /// key. Only columns that a condition reads need be set. The history is visited whole, in any
  /// order.
  virtual Result<> visit_warehouse(std::uint32_t warehouse, const Visitor<Warehouse>& visit) = 0;
  virtual Result<> visit_districts(std::uint32_t warehouse, const Visitor<District>& visit) = 0;
  virtual Result<> visit_customers(std::uint32_t warehouse, const Visitor<Customer>& visit) = 0;
  virtual Result<> visit_orders(std::uint32_t warehouse, const Visitor<Order>& visit) = 0;
  virtual Result<> visit_new_orders(std::uint32_t warehouse, const Visitor<NewOrder>& visit) = 0;
  virtual Result<> visit_order_lines(std::uint32_t warehouse, const Visitor<OrderLine>& visit) = 0;
  virtual Result<> visit_history(const Visitor<History>& visit) = 0;

  /// CPU seconds of the server if it is another process, else 0.
  virtual double server_cpu_seconds() { return 0; }
  /// Makes the data durable and ends.
  virtual Result<> close() = 0;
};

}  // namespace swizzle::tpcc
