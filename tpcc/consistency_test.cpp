#include "tpcc/consistency.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <vector>

using namespace swizzle;
using namespace swizzle::tpcc;

namespace {

/// A loaded database in vectors, which tests may corrupt.
class Rows final : public Backend {
 public:
  explicit Rows(Sizes sizes) : sizes_(sizes) {
    const Population population{sizes, 3, 1'000'000};
    for (std::uint32_t warehouse = 1; warehouse <= sizes.warehouses; ++warehouse) {
      warehouses.push_back(population.warehouse(warehouse));
      for (std::uint32_t district = 1; district <= Sizes::kDistricts; ++district) {
        fill(population, warehouse, district);
      }
    }
  }

  Result<> load(const Population&, const Progress&) override { return {}; }
  Result<Sizes> sizes() override { return sizes_; }
  Result<std::unique_ptr<Session>> session(std::uint32_t) override {
    return fail(sqlstate::feature_not_supported, "rows only");
  }
  Result<> visit_warehouse(std::uint32_t of, const Visitor<Warehouse>& visit) override {
    for (const Warehouse& row : warehouses) {
      if (row.id == of) visit(row);
    }
    return {};
  }
  Result<> visit_districts(std::uint32_t of, const Visitor<District>& visit) override {
    return visit_all(districts, of, visit);
  }
  Result<> visit_customers(std::uint32_t of, const Visitor<Customer>& visit) override {
    return visit_all(customers, of, visit);
  }
  Result<> visit_orders(std::uint32_t of, const Visitor<Order>& visit) override {
    return visit_all(orders, of, visit);
  }
  Result<> visit_new_orders(std::uint32_t of, const Visitor<NewOrder>& visit) override {
    return visit_all(new_orders, of, visit);
  }
  Result<> visit_order_lines(std::uint32_t of, const Visitor<OrderLine>& visit) override {
    return visit_all(lines, of, visit);
  }
  Result<> visit_history(const Visitor<History>& visit) override {
    for (const History& row : history) visit(row);
    return {};
  }
  Result<> close() override { return {}; }

  std::vector<Warehouse> warehouses;
  std::vector<District> districts;
  std::vector<Customer> customers;
  std::vector<History> history;
  std::vector<Order> orders;
  std::vector<NewOrder> new_orders;
  std::vector<OrderLine> lines;

 private:
  template <class Row>
  static Result<> visit_all(const std::vector<Row>& rows, std::uint32_t warehouse,
                            const Visitor<Row>& visit) {
    for (const Row& row : rows) {
      if (row.warehouse == warehouse) visit(row);
    }
    return {};
  }

  void fill(const Population& population, std::uint32_t warehouse, std::uint32_t district) {
    districts.push_back(population.district(warehouse, district));
    for (std::uint32_t id = 1; id <= sizes_.customers; ++id) {
      customers.push_back(population.customer(warehouse, district, id));
      history.push_back(population.history(customers.back()));
    }
    for (const auto& [order, order_lines] : population.orders(warehouse, district)) {
      orders.push_back(order);
      lines.insert(lines.end(), order_lines.begin(), order_lines.end());
      if (population.is_new(order.id)) new_orders.push_back({warehouse, district, order.id});
    }
  }

  Sizes sizes_;
};

const Sizes kTwoWarehouses{.warehouses = 2, .items = 1'000, .customers = 50};

/// Returns the index of an undelivered order.
std::size_t undelivered(const Rows& rows) {
  const auto found = std::find_if(rows.orders.begin(), rows.orders.end(),
                                  [](const Order& order) { return order.carrier == 0; });
  return static_cast<std::size_t>(found - rows.orders.begin());
}

struct Damage {
  int condition;
  std::function<void(Rows&)> spoil;
};

}  // namespace

TEST_CASE("a fresh load is consistent", "[tpcc]") {
  Rows rows{kTwoWarehouses};
  CHECK(find_violations(rows).value().empty());
}

TEST_CASE("each condition notices what it is there for", "[tpcc]") {
  const std::vector<Damage> damages{
      {1, [](Rows& rows) { ++rows.districts[4].ytd; }},
      {2, [](Rows& rows) { ++rows.districts[4].next_order; }},
      {3, [](Rows& rows) { rows.new_orders.erase(rows.new_orders.begin() + 3); }},
      {4, [](Rows& rows) { rows.lines.pop_back(); }},
      {5, [](Rows& rows) { rows.orders[undelivered(rows)].carrier = 4; }},
      {6, [](Rows& rows) { ++rows.orders[7].line_count; }},
      {7, [](Rows& rows) { rows.lines.back().delivery_date = 1; }},
      {8, [](Rows& rows) { rows.history[9].amount += 5; }},
      {9, [](Rows& rows) { rows.history[9].district = rows.history[9].district % 10 + 1; }},
      {10, [](Rows& rows) { ++rows.customers[11].balance; }},
      {11, [](Rows& rows) { ++rows.customers[11].delivery_count; }},
      {12, [](Rows& rows) { ++rows.customers[11].ytd_payment; }},
  };
  for (const Damage& damage : damages) {
    Rows rows{kTwoWarehouses};
    damage.spoil(rows);
    const std::vector<std::string> violations = find_violations(rows).value();
    const std::string wanted = "condition " + std::to_string(damage.condition) + ":";
    CAPTURE(damage.condition, violations);
    CHECK(std::any_of(violations.begin(), violations.end(),
                      [&](const std::string& each) { return each.starts_with(wanted); }));
  }
}
