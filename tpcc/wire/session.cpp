#include "tpcc/wire/session.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "tpcc/wire/money.h"

namespace swizzle::tpcc {
namespace {

std::string text(const std::string& value) {
  return value;
}
std::string text(std::string_view value) {
  return std::string{value};
}
template <std::integral Number>
std::string text(Number value) {
  return std::to_string(value);
}

template <class... Parameters>
Call call(Statement statement, Parameters&&... parameters) {
  return {std::to_underlying(statement), {text(std::forward<Parameters>(parameters))...}};
}

std::unexpected<Error> no_row(const char* what) {
  return fail(sqlstate::internal_error, std::string{"TPC-C: no such row: "} + what);
}

}  // namespace

Result<std::unique_ptr<WireSession>> WireSession::open(const Connect& connect,
                                                       Pipelining pipelining,
                                                       const std::string& begin,
                                                       const std::string& set_up) {
  ASSIGN_OR_RETURN(auto connection, connect(pipelining));
  if (!set_up.empty()) RETURN_IF_ERROR(connection->execute(set_up));
  std::uint32_t number = 0;
  for (const std::string& sql : statement_texts(begin)) {
    RETURN_IF_ERROR(connection->prepare(number++, sql));
  }
  return std::unique_ptr<WireSession>{new WireSession{std::move(connection)}};
}

Result<Outcome> WireSession::ended(Result<Outcome> outcome) {
  if (!outcome || *outcome == Outcome::rolled_back) connection_->roll_back();
  return outcome;
}

Result<Outcome> WireSession::new_order(const NewOrderInput& input) {
  return ended(try_new_order(input));
}
Result<Outcome> WireSession::payment(const PaymentInput& input) {
  return ended(try_payment(input));
}
Result<Outcome> WireSession::order_status(const OrderStatusInput& input) {
  return ended(try_order_status(input));
}
Result<Outcome> WireSession::delivery(const DeliveryInput& input) {
  return ended(try_delivery(input));
}
Result<Outcome> WireSession::stock_level(const StockLevelInput& input) {
  return ended(try_stock_level(input));
}

Result<Outcome> WireSession::try_new_order(const NewOrderInput& input) {
  ASSIGN_OR_RETURN(
      const auto head,
      connection_->run(
          {call(Statement::begin), call(Statement::warehouse_tax, input.warehouse),
           call(Statement::customer_discount, input.warehouse, input.district, input.customer),
           call(Statement::take_order_number, input.warehouse, input.district)}));
  if (head[1].count() != 1 || head[2].count() != 1 || head[3].count() != 1) {
    return no_row("new order's head");
  }
  const std::int64_t order = head[3].number(0, 0);

  Calls reads{call(Statement::insert_order, order, input.district, input.warehouse, input.customer,
                   input.line_count, input.all_local() ? 1 : 0),
              call(Statement::insert_new_order, order, input.district, input.warehouse)};
  const std::size_t first = reads.size();
  const auto stock =
      static_cast<Statement>(std::to_underlying(Statement::stock_for_update) + input.district - 1);
  for (std::uint32_t i = 0; i < input.line_count; ++i) {
    const NewOrderInput::Line& line = input.lines[i];
    reads.push_back(call(Statement::item, line.item));
    reads.push_back(call(stock, line.supply_warehouse, line.item));
  }
  ASSIGN_OR_RETURN(const auto found, connection_->run(reads));
  if (found[first + 2 * (input.line_count - 1)].count() == 0) return Outcome::rolled_back;

  Calls writes;
  RETURN_IF_ERROR(add_lines(input, order, found, first, writes));
  writes.push_back(call(Statement::commit));
  RETURN_IF_ERROR(connection_->run(writes));
  return Outcome::committed;
}

Result<> WireSession::add_lines(const NewOrderInput& input, std::int64_t order,
                                const std::vector<Rows>& found, std::size_t first, Calls& calls) {
  // An item may come twice; the second time the quantity read is that before the first.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> quantities;
  for (std::uint32_t i = 0; i < input.line_count; ++i) {
    const NewOrderInput::Line& line = input.lines[i];
    const Rows& item = found[first + 2 * i];
    const Rows& stock = found[first + 2 * i + 1];
    if (item.count() != 1 || stock.count() != 1) return no_row("item or stock");
    auto [known, is_first] =
        quantities.try_emplace({line.supply_warehouse, line.item}, stock.number(0, 0));
    std::int64_t& quantity = known->second;
    quantity += quantity >= line.quantity + 10 ? -std::int64_t{line.quantity}
                                               : 91 - std::int64_t{line.quantity};
    calls.push_back(call(Statement::update_stock, quantity, line.quantity,
                         line.supply_warehouse == input.warehouse ? 0 : 1, line.supply_warehouse,
                         line.item));
    calls.push_back(call(Statement::insert_order_line, order, input.district, input.warehouse,
                         i + 1, line.item, line.supply_warehouse, line.quantity,
                         money(item.scaled(0, 0, 2) * line.quantity), stock.text(0, 2)));
  }
  return {};
}

Result<std::int64_t> WireSession::find_customer(const CustomerChoice& choice) {
  if (choice.id != 0) return std::int64_t{choice.id};
  ASSIGN_OR_RETURN(const auto found,
                   connection_->run({call(Statement::customers_by_name, choice.warehouse,
                                          choice.district, choice.last)}));
  const int count = found[0].count();
  if (count == 0) return no_row("customer by name");
  return found[0].number((count - 1) / 2, 0);
}

Result<Outcome> WireSession::try_payment(const PaymentInput& input) {
  const CustomerChoice& of = input.customer;
  RETURN_IF_ERROR(connection_->run({call(Statement::begin)}));
  ASSIGN_OR_RETURN(const std::int64_t id, find_customer(of));
  ASSIGN_OR_RETURN(
      const auto customer,
      connection_->run({call(Statement::customer_for_payment, of.warehouse, of.district, id)}));
  if (customer[0].count() != 1) return no_row("customer");

  const std::string amount = money(input.amount);
  const bool bad = customer[0].text(0, 9) == "BC";
  Calls writes;
  if (bad) {
    writes.push_back(call(Statement::pay_bad_customer, amount, of.warehouse, of.district, id,
                          fmt::format("{} {} {} {} {} {} ", id, of.district, of.warehouse,
                                      input.district, input.warehouse, amount)));
  } else {
    writes.push_back(call(Statement::pay_customer, amount, of.warehouse, of.district, id));
  }
  writes.push_back(call(Statement::pay_district, amount, input.warehouse, input.district));
  writes.push_back(call(Statement::pay_warehouse, amount, input.warehouse));
  ASSIGN_OR_RETURN(const auto names, connection_->run(writes));
  if (names[1].count() != 1 || names[2].count() != 1) return no_row("district or warehouse");
  const std::string data =
      fmt::format("{}    {}", names[2].text(0, 0), names[1].text(0, 0)).substr(0, 24);
  RETURN_IF_ERROR(connection_->run({call(Statement::insert_history, id, of.district, of.warehouse,
                                         input.district, input.warehouse, amount, data),
                                    call(Statement::commit)}));
  return Outcome::committed;
}

Result<Outcome> WireSession::try_order_status(const OrderStatusInput& input) {
  const CustomerChoice& of = input.customer;
  RETURN_IF_ERROR(connection_->run({call(Statement::begin)}));
  ASSIGN_OR_RETURN(const std::int64_t id, find_customer(of));
  ASSIGN_OR_RETURN(
      const auto found,
      connection_->run({call(Statement::customer_status, of.warehouse, of.district, id),
                        call(Statement::last_order, of.warehouse, of.district, id)}));
  if (found[0].count() != 1) return no_row("customer");
  Calls rest;
  if (found[1].count() == 1) {
    rest.push_back(call(Statement::order_lines, of.warehouse, of.district, found[1].number(0, 0)));
  }
  rest.push_back(call(Statement::commit));
  RETURN_IF_ERROR(connection_->run(rest));
  return Outcome::committed;
}

Result<Outcome> WireSession::try_delivery(const DeliveryInput& input) {
  RETURN_IF_ERROR(connection_->run({call(Statement::begin)}));
  for (std::uint32_t district = 1; district <= Sizes::kDistricts; ++district) {
    RETURN_IF_ERROR(deliver(input, district));
  }
  RETURN_IF_ERROR(connection_->run({call(Statement::commit)}));
  return Outcome::committed;
}

Result<> WireSession::deliver(const DeliveryInput& input, std::uint32_t district) {
  std::int64_t order = 0;
  while (true) {
    ASSIGN_OR_RETURN(
        const auto oldest,
        connection_->run({call(Statement::oldest_new_order, input.warehouse, district)}));
    if (oldest[0].count() == 0) {
      // Either the district has no undelivered order, or the one we waited for is gone: PostgreSQL
      // then returns no row although others are there. A fresh look tells the two apart.
      ASSIGN_OR_RETURN(
          const auto again,
          connection_->run({call(Statement::oldest_new_order, input.warehouse, district)}));
      if (again[0].count() == 0) return {};
      order = again[0].number(0, 0);
    } else {
      order = oldest[0].number(0, 0);
    }
    ASSIGN_OR_RETURN(
        const auto removed,
        connection_->run({call(Statement::delete_new_order, input.warehouse, district, order)}));
    if (removed[0].affected() == 1) break;
  }
  ASSIGN_OR_RETURN(
      const auto delivered,
      connection_->run(
          {call(Statement::deliver_order, input.carrier, input.warehouse, district, order),
           call(Statement::order_amount, input.warehouse, district, order),
           call(Statement::deliver_lines, input.warehouse, district, order)}));
  if (delivered[0].count() != 1) return no_row("order");
  RETURN_IF_ERROR(connection_->run({call(Statement::deliver_customer, delivered[1].text(0, 0),
                                         input.warehouse, district, delivered[0].number(0, 0))}));
  return {};
}

Result<Outcome> WireSession::try_stock_level(const StockLevelInput& input) {
  ASSIGN_OR_RETURN(
      const auto head,
      connection_->run(
          {call(Statement::begin), call(Statement::next_order, input.warehouse, input.district)}));
  if (head[1].count() != 1) return no_row("district");
  const std::int64_t next = head[1].number(0, 0);
  RETURN_IF_ERROR(connection_->run({call(Statement::low_stock, input.warehouse, input.district,
                                         next - 20, next, input.threshold),
                                    call(Statement::commit)}));
  return Outcome::committed;
}

}  // namespace swizzle::tpcc
