#pragma once

#include <array>
#include <cstdint>
#include <string>

/// TPC-C's tables (revision 5.11, clause 1.3) as plain rows. Money is in cents, rates are in
/// ten-thousandths, times in microseconds since 1970 UTC; 0 stands for a null carrier or delivery
/// time. Numbers that count things from 1 keep the specification's names.
namespace swizzle::tpcc {

using Cents = std::int64_t;
using Rate = std::int32_t;
using Microseconds = std::int64_t;

struct Address {
  std::string street_1;
  std::string street_2;
  std::string city;
  std::string state;
  std::string zip;
};

struct Warehouse {
  std::uint32_t id = 0;
  std::string name;
  Address address;
  Rate tax = 0;
  Cents ytd = 0;
};

struct District {
  std::uint32_t warehouse = 0;
  std::uint32_t id = 0;
  std::string name;
  Address address;
  Rate tax = 0;
  Cents ytd = 0;
  std::uint32_t next_order = 0;
};

struct Customer {
  std::uint32_t warehouse = 0;
  std::uint32_t district = 0;
  std::uint32_t id = 0;
  std::string first;
  std::string middle;
  std::string last;
  Address address;
  std::string phone;
  Microseconds since = 0;
  std::string credit;
  Cents credit_limit = 0;
  Rate discount = 0;
  Cents balance = 0;
  Cents ytd_payment = 0;
  std::uint32_t payment_count = 0;
  std::uint32_t delivery_count = 0;
  std::string data;
};

struct History {
  std::uint32_t customer = 0;
  std::uint32_t customer_district = 0;
  std::uint32_t customer_warehouse = 0;
  std::uint32_t district = 0;
  std::uint32_t warehouse = 0;
  Microseconds date = 0;
  Cents amount = 0;
  std::string data;
};

struct NewOrder {
  std::uint32_t warehouse = 0;
  std::uint32_t district = 0;
  std::uint32_t order = 0;
};

struct Order {
  std::uint32_t warehouse = 0;
  std::uint32_t district = 0;
  std::uint32_t id = 0;
  std::uint32_t customer = 0;
  Microseconds entry_date = 0;
  std::uint32_t carrier = 0;
  std::uint32_t line_count = 0;
  bool all_local = true;
};

struct OrderLine {
  std::uint32_t warehouse = 0;
  std::uint32_t district = 0;
  std::uint32_t order = 0;
  std::uint32_t number = 0;
  std::uint32_t item = 0;
  std::uint32_t supply_warehouse = 0;
  Microseconds delivery_date = 0;
  std::uint32_t quantity = 0;
  Cents amount = 0;
  std::string district_info;
};

struct Item {
  std::uint32_t id = 0;
  std::uint32_t image = 0;
  std::string name;
  Cents price = 0;
  std::string data;
};

struct Stock {
  std::uint32_t warehouse = 0;
  std::uint32_t item = 0;
  std::int32_t quantity = 0;
  std::array<std::string, 10> district_info;
  std::uint64_t ytd = 0;
  std::uint32_t order_count = 0;
  std::uint32_t remote_count = 0;
  std::string data;
};

/// How many rows of what. The defaults are the specification's; tests shrink everything but the
/// number of districts, and the program says so when they do.
struct Sizes {
  std::uint32_t warehouses = 1;
  std::uint32_t items = 100'000;
  std::uint32_t customers = 3'000;

  static constexpr std::uint32_t kDistricts = 10;
  /// Every customer has one order; of these the newest 30 % are not delivered yet.
  [[nodiscard]] std::uint32_t delivered_orders() const noexcept { return customers / 10 * 7; }
  /// Last names in use: the first customers carry them one by one, so each exists in each district.
  [[nodiscard]] std::uint32_t last_names() const noexcept {
    return customers < 1'000 ? customers : 1'000;
  }
};

}  // namespace swizzle::tpcc
