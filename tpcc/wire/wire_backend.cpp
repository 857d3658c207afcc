#include "tpcc/wire/wire_backend.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include "tpcc/wire/procedures.h"
#include "tpcc/wire/session.h"
#include "tpcc/wire/statements.h"

namespace swizzle::tpcc {
namespace {

std::uint32_t small(const Rows& row, int column) {
  return static_cast<std::uint32_t>(row.number(0, column));
}

}  // namespace

Result<std::unique_ptr<WireBackend>> WireBackend::open(const WireSettings& settings) {
  ASSIGN_OR_RETURN(auto connection, settings.connect(Pipelining::off));
  if (settings.procedures) {
    for (const std::string& definition : procedure_definitions()) {
      RETURN_IF_ERROR(connection->execute(definition));
    }
  }
  return std::unique_ptr<WireBackend>{new WireBackend{settings, std::move(connection)}};
}

Result<> WireBackend::load(const Population& population, const Progress& progress) {
  return load_over_wire(*connection_, population, progress);
}

Result<Sizes> WireBackend::sizes() {
  ASSIGN_OR_RETURN(const Rows warehouses, connection_->execute("SELECT max(w_id) FROM warehouse"));
  ASSIGN_OR_RETURN(const Rows items, connection_->execute("SELECT max(i_id) FROM item"));
  ASSIGN_OR_RETURN(
      const Rows customers,
      connection_->execute("SELECT max(c_id) FROM customer WHERE c_w_id = 1 AND c_d_id = 1"));
  return Sizes{.warehouses = small(warehouses, 0),
               .items = small(items, 0),
               .customers = small(customers, 0)};
}

Result<std::unique_ptr<Session>> WireBackend::session(std::uint32_t) {
  if (settings_.procedures) {
    ASSIGN_OR_RETURN(auto calls, ProcedureSession::open(settings_.connect, settings_.set_up));
    return std::unique_ptr<Session>{std::move(calls)};
  }
  ASSIGN_OR_RETURN(auto session, WireSession::open(settings_.connect, settings_.pipelining,
                                                   settings_.begin, settings_.set_up));
  return std::unique_ptr<Session>{std::move(session)};
}

Result<> WireBackend::stream(const char* select, std::uint32_t warehouse, const char* order_by,
                             const std::function<void(const Rows&)>& visit) {
  return connection_->stream(fmt::format("{} = {} ORDER BY {}", select, warehouse, order_by),
                             visit);
}

Result<> WireBackend::visit_warehouse(std::uint32_t warehouse, const Visitor<Warehouse>& visit) {
  return stream("SELECT w_ytd FROM warehouse WHERE w_id", warehouse, "w_id", [&](const Rows& row) {
    Warehouse record;
    record.id = warehouse;
    record.ytd = row.scaled(0, 0, 2);
    visit(record);
  });
}

Result<> WireBackend::visit_districts(std::uint32_t warehouse, const Visitor<District>& visit) {
  return stream("SELECT d_id, d_ytd, d_next_o_id FROM district WHERE d_w_id", warehouse, "d_id",
                [&](const Rows& row) {
                  District record;
                  record.warehouse = warehouse;
                  record.id = small(row, 0);
                  record.ytd = row.scaled(0, 1, 2);
                  record.next_order = small(row, 2);
                  visit(record);
                });
}

Result<> WireBackend::visit_customers(std::uint32_t warehouse, const Visitor<Customer>& visit) {
  Customer record;
  return stream(
      "SELECT c_d_id, c_id, c_balance, c_ytd_payment, c_payment_cnt, c_delivery_cnt FROM customer "
      "WHERE c_w_id",
      warehouse, "c_d_id, c_id", [&](const Rows& row) {
        record.warehouse = warehouse;
        record.district = small(row, 0);
        record.id = small(row, 1);
        record.balance = row.scaled(0, 2, 2);
        record.ytd_payment = row.scaled(0, 3, 2);
        record.payment_count = small(row, 4);
        record.delivery_count = small(row, 5);
        visit(record);
      });
}

Result<> WireBackend::visit_orders(std::uint32_t warehouse, const Visitor<Order>& visit) {
  return stream("SELECT o_d_id, o_id, o_c_id, o_carrier_id, o_ol_cnt FROM orders WHERE o_w_id",
                warehouse, "o_d_id, o_id", [&](const Rows& row) {
                  Order record;
                  record.warehouse = warehouse;
                  record.district = small(row, 0);
                  record.id = small(row, 1);
                  record.customer = small(row, 2);
                  record.carrier = row.is_null(0, 3) ? 0 : small(row, 3);
                  record.line_count = small(row, 4);
                  visit(record);
                });
}

Result<> WireBackend::visit_new_orders(std::uint32_t warehouse, const Visitor<NewOrder>& visit) {
  return stream(
      "SELECT no_d_id, no_o_id FROM new_order WHERE no_w_id", warehouse, "no_d_id, no_o_id",
      [&](const Rows& row) {
        visit({.warehouse = warehouse, .district = small(row, 0), .order = small(row, 1)});
      });
}

Result<> WireBackend::visit_order_lines(std::uint32_t warehouse, const Visitor<OrderLine>& visit) {
  OrderLine record;
  return stream(
      "SELECT ol_d_id, ol_o_id, ol_number, ol_delivery_d, ol_amount FROM order_line WHERE ol_w_id",
      warehouse, "ol_d_id, ol_o_id, ol_number", [&](const Rows& row) {
        record.warehouse = warehouse;
        record.district = small(row, 0);
        record.order = small(row, 1);
        record.number = small(row, 2);
        record.delivery_date = row.is_null(0, 3) ? 0 : 1;
        record.amount = row.scaled(0, 4, 2);
        visit(record);
      });
}

Result<> WireBackend::visit_history(const Visitor<History>& visit) {
  History record;
  return connection_->stream(
      "SELECT h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_amount FROM history",
      [&](const Rows& row) {
        record.customer = small(row, 0);
        record.customer_district = small(row, 1);
        record.customer_warehouse = small(row, 2);
        record.district = small(row, 3);
        record.warehouse = small(row, 4);
        record.amount = row.scaled(0, 5, 2);
        visit(record);
      });
}

double WireBackend::server_cpu_seconds() {
  return settings_.server == 0 ? 0 : cpu_seconds_of(settings_.server);
}

double cpu_seconds_of(pid_t process) {
  struct Process {
    pid_t parent = 0;
    double ticks = 0;
  };
  std::map<pid_t, Process> processes;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "stat");
    std::string line;
    std::getline(file, line);
    const std::size_t end = line.rfind(')');
    if (end == std::string::npos) continue;  // it has ended meanwhile
    std::istringstream fields(line.substr(end + 4));
    Process one;
    fields >> one.parent;
    std::string skipped;
    for (int i = 0; i < 9; ++i) fields >> skipped;
    double user = 0;
    double system = 0;
    fields >> user >> system;
    one.ticks = user + system;
    processes[static_cast<pid_t>(std::stol(name))] = one;
  }
  double ticks = 0;
  for (const auto& [id, one] : processes) {
    for (pid_t ancestor = id; ancestor > 1;) {
      if (ancestor == process) {
        ticks += one.ticks;
        break;
      }
      const auto known = processes.find(ancestor);
      ancestor = known == processes.end() ? 0 : known->second.parent;
    }
  }
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace swizzle::tpcc
