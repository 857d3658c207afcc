#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "tpcc/backend.h"
#include "tpcc/wire/connection.h"

namespace swizzle::tpcc {

struct WireSettings {
  Connect connect;
  Pipelining pipelining = Pipelining::off;
  /// Text that begins a transaction: BEGIN, with its isolation level if one is set.
  std::string begin = "BEGIN";
  /// Each transaction is a CALL of a procedure.
  bool procedures = false;
  /// Run in each session first, such as SET synchronous_commit = off.
  std::string set_up;
  /// The server's process; its CPU time and its children's are read from /proc. 0: not known.
  pid_t server = 0;
};

/// TPC-C in SQL: over PostgreSQL's protocol against ours or any PostgreSQL, or in process.
class WireBackend final : public Backend {
 public:
  static Result<std::unique_ptr<WireBackend>> open(const WireSettings& settings);

  /// Drops existing tables of TPC-C.
  Result<> load(const Population& population, const Progress& progress) override;
  Result<Sizes> sizes() override;
  Result<std::unique_ptr<Session>> session(std::uint32_t number) override;
  Result<> visit_warehouse(std::uint32_t warehouse, const Visitor<Warehouse>& visit) override;
  Result<> visit_districts(std::uint32_t warehouse, const Visitor<District>& visit) override;
  Result<> visit_customers(std::uint32_t warehouse, const Visitor<Customer>& visit) override;
  Result<> visit_orders(std::uint32_t warehouse, const Visitor<Order>& visit) override;
  Result<> visit_new_orders(std::uint32_t warehouse, const Visitor<NewOrder>& visit) override;
  Result<> visit_order_lines(std::uint32_t warehouse, const Visitor<OrderLine>& visit) override;
  Result<> visit_history(const Visitor<History>& visit) override;
  double server_cpu_seconds() override;
  Result<> close() override { return {}; }

 private:
  WireBackend(WireSettings settings, std::unique_ptr<Connection> connection)
      : settings_(std::move(settings)), connection_(std::move(connection)) {}
  Result<> stream(const char* select, std::uint32_t warehouse, const char* order_by,
                  const std::function<void(const Rows&)>& visit);

  WireSettings settings_;
  std::unique_ptr<Connection> connection_;
};

/// Fills all tables with COPY.
Result<> load_over_wire(Connection& connection, const Population& population,
                        const Backend::Progress& progress);

/// User and system time of `process` and all that descend from it.
double cpu_seconds_of(pid_t process);

}  // namespace swizzle::tpcc
