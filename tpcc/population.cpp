#include "tpcc/population.h"

#include <numeric>
#include <utility>

#include "tpcc/tpcc_random.h"

namespace swizzle::tpcc {
namespace {

enum class Table : std::uint64_t {
  item = 1,
  warehouse,
  district,
  stock,
  customer,
  history,
  orders
};

/// Each row is generated from a seed of its own, which costs a few nanoseconds and makes rows
/// independent of each other.
TpccRandom row_random(Sizes sizes, std::uint64_t seed, Table table, std::uint64_t row) {
  return {sizes, seed + scramble((std::to_underlying(table) << 56U) + row),
          TpccRandom::Phase::load};
}

std::uint64_t district_number(std::uint32_t warehouse, std::uint32_t district) {
  return std::uint64_t{warehouse} * 16 + district;
}

}  // namespace

Item Population::item(std::uint32_t id) const {
  TpccRandom random = row_random(sizes_, seed_, Table::item, id);
  return {.id = id,
          .image = random.between(1, 10'000),
          .name = random.letters(14, 24),
          .price = random.between(100, 10'000),
          .data = random.original_data()};
}

Warehouse Population::warehouse(std::uint32_t id) const {
  TpccRandom random = row_random(sizes_, seed_, Table::warehouse, id);
  return {.id = id,
          .name = random.letters(6, 10),
          .address = random.address(),
          .tax = static_cast<Rate>(random.between(0, 2'000)),
          .ytd = Cents{1'000} * sizes_.customers * Sizes::kDistricts};
}

District Population::district(std::uint32_t warehouse, std::uint32_t id) const {
  TpccRandom random = row_random(sizes_, seed_, Table::district, district_number(warehouse, id));
  return {.warehouse = warehouse,
          .id = id,
          .name = random.letters(6, 10),
          .address = random.address(),
          .tax = static_cast<Rate>(random.between(0, 2'000)),
          .ytd = Cents{1'000} * sizes_.customers,
          .next_order = sizes_.customers + 1};
}

Stock Population::stock(std::uint32_t warehouse, std::uint32_t item) const {
  TpccRandom random =
      row_random(sizes_, seed_, Table::stock, (std::uint64_t{warehouse} << 24U) + item);
  Stock stock;
  stock.warehouse = warehouse;
  stock.item = item;
  stock.quantity = static_cast<std::int32_t>(random.between(10, 100));
  for (std::string& info : stock.district_info) info = random.letters(24, 24);
  stock.data = random.original_data();
  return stock;
}

Customer Population::customer(std::uint32_t warehouse, std::uint32_t district,
                              std::uint32_t id) const {
  TpccRandom random = row_random(sizes_, seed_, Table::customer,
                                 (district_number(warehouse, district) << 16U) + id);
  const std::uint32_t name = id <= sizes_.last_names() ? id - 1 : random.last_name_number();
  return {.warehouse = warehouse,
          .district = district,
          .id = id,
          .first = random.letters(8, 16),
          .middle = "OE",
          .last = last_name(name),
          .address = random.address(),
          .phone = random.digits(16),
          .since = now_,
          .credit = random.percent(10) ? "BC" : "GC",
          .credit_limit = 5'000'000,
          .discount = static_cast<Rate>(random.between(0, 5'000)),
          .balance = -1'000,
          .ytd_payment = 1'000,
          .payment_count = 1,
          .delivery_count = 0,
          .data = random.letters(300, 500)};
}

History Population::history(const Customer& customer) const {
  TpccRandom random =
      row_random(sizes_, seed_, Table::history,
                 (district_number(customer.warehouse, customer.district) << 16U) + customer.id);
  return {.customer = customer.id,
          .customer_district = customer.district,
          .customer_warehouse = customer.warehouse,
          .district = customer.district,
          .warehouse = customer.warehouse,
          .date = now_,
          .amount = 1'000,
          .data = random.letters(12, 24)};
}

std::vector<Population::OrderWithLines> Population::orders(std::uint32_t warehouse,
                                                           std::uint32_t district) const {
  TpccRandom random =
      row_random(sizes_, seed_, Table::orders, district_number(warehouse, district));
  std::vector<std::uint32_t> customers(sizes_.customers);
  std::iota(customers.begin(), customers.end(), 1U);
  for (std::uint32_t i = sizes_.customers - 1; i > 0; --i) {
    std::swap(customers[i], customers[random.between(0, i)]);
  }
  std::vector<OrderWithLines> orders(sizes_.customers);
  for (std::uint32_t i = 0; i < sizes_.customers; ++i) {
    const bool delivered = !is_new(i + 1);
    orders[i].order = {.warehouse = warehouse,
                       .district = district,
                       .id = i + 1,
                       .customer = customers[i],
                       .entry_date = now_,
                       .carrier = delivered ? random.between(1, 10) : 0,
                       .line_count = random.between(5, 15),
                       .all_local = true};
    for (std::uint32_t line = 1; line <= orders[i].order.line_count; ++line) {
      orders[i].lines.push_back({.warehouse = warehouse,
                                 .district = district,
                                 .order = i + 1,
                                 .number = line,
                                 .item = random.between(1, sizes_.items),
                                 .supply_warehouse = warehouse,
                                 .delivery_date = delivered ? now_ : 0,
                                 .quantity = 5,
                                 .amount = delivered ? 0 : Cents{random.between(1, 999'999)},
                                 .district_info = random.letters(24, 24)});
    }
  }
  return orders;
}

}  // namespace swizzle::tpcc
