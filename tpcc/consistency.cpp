#include "tpcc/consistency.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace swizzle::tpcc {
namespace {

/// Sums of one warehouse's payments according to the history table.
struct Payments {
  Cents to_warehouse = 0;
  std::array<Cents, Sizes::kDistricts + 1> to_district{};
  /// Indexed by (district - 1) * customers + customer - 1, for customers of this warehouse.
  std::vector<Cents> from_customer;
};

struct OrderState {
  std::uint32_t customer = 0;
  std::uint32_t carrier = 0;
  std::uint32_t line_count = 0;
  std::uint32_t lines_found = 0;
  std::uint32_t lines_delivered = 0;
  bool exists = false;
  bool is_new = false;
  Cents delivered_amount = 0;
};

struct DistrictState {
  Cents ytd = 0;
  std::uint32_t next_order = 0;
  std::vector<OrderState> orders;  ///< indexed by order - 1
  std::uint64_t order_count = 0;
  std::uint32_t highest_order = 0;
  std::uint64_t new_order_count = 0;
  std::uint32_t lowest_new = UINT32_MAX;
  std::uint32_t highest_new = 0;
  std::uint64_t lines_promised = 0;
  std::uint64_t lines_found = 0;
  std::uint64_t deliveries = 0;  ///< sum of the customers' delivery counts
};

class Findings {
 public:
  template <class... Values>
  void expect(bool holds, int condition, fmt::format_string<Values...> text, Values&&... values) {
    if (holds) return;
    if (++counts_[static_cast<std::size_t>(condition)] <= 3) {
      texts_.push_back(fmt::format("condition {}: {}", condition,
                                   fmt::format(text, std::forward<Values>(values)...)));
    }
  }
  std::vector<std::string> take() {
    for (std::size_t condition = 0; condition < counts_.size(); ++condition) {
      if (counts_[condition] > 3) {
        texts_.push_back(
            fmt::format("condition {}: {} violations in all", condition, counts_[condition]));
      }
    }
    return std::move(texts_);
  }

 private:
  std::vector<std::string> texts_;
  std::array<std::uint64_t, 13> counts_{};
};

class WarehouseCheck {
 public:
  WarehouseCheck(Backend& backend, const Sizes& sizes, std::uint32_t warehouse,
                 const Payments& payments, Findings& findings)
      : backend_(backend),
        sizes_(sizes),
        warehouse_(warehouse),
        payments_(payments),
        findings_(findings) {}

  Result<> run() {
    RETURN_IF_ERROR(read_districts());
    RETURN_IF_ERROR(read_orders());
    RETURN_IF_ERROR(read_lines());
    RETURN_IF_ERROR(judge_customers());
    RETURN_IF_ERROR(judge_warehouse());
    for (std::uint32_t id = 1; id <= Sizes::kDistricts; ++id) {
      judge_district(id);
      judge_orders(id);
    }
    return {};
  }

 private:
  /// Returns an order's state; adds it if it is new. The numbers themselves are checked later.
  OrderState& order(std::uint32_t district, std::uint32_t id) {
    auto& orders = districts_[district].orders;
    if (orders.size() < id) orders.resize(id);
    return orders[id - 1];
  }

  Result<> read_districts() {
    return backend_.visit_districts(warehouse_, [&](const District& row) {
      districts_[row.id].ytd = row.ytd;
      districts_[row.id].next_order = row.next_order;
    });
  }

  Result<> read_orders() {
    RETURN_IF_ERROR(backend_.visit_orders(warehouse_, [&](const Order& row) {
      OrderState& state = order(row.district, row.id);
      state.exists = true;
      state.customer = row.customer;
      state.carrier = row.carrier;
      state.line_count = row.line_count;
      DistrictState& district = districts_[row.district];
      ++district.order_count;
      district.highest_order = std::max(district.highest_order, row.id);
      district.lines_promised += row.line_count;
    }));
    return backend_.visit_new_orders(warehouse_, [&](const NewOrder& row) {
      order(row.district, row.order).is_new = true;
      DistrictState& district = districts_[row.district];
      ++district.new_order_count;
      district.lowest_new = std::min(district.lowest_new, row.order);
      district.highest_new = std::max(district.highest_new, row.order);
    });
  }

  Result<> read_lines() {
    return backend_.visit_order_lines(warehouse_, [&](const OrderLine& row) {
      OrderState& state = order(row.district, row.order);
      ++state.lines_found;
      ++districts_[row.district].lines_found;
      if (row.delivery_date == 0) return;
      ++state.lines_delivered;
      state.delivered_amount += row.amount;
    });
  }

  Result<> judge_customers() {
    std::vector<Cents> delivered(std::size_t{Sizes::kDistricts} * sizes_.customers);
    for (std::uint32_t district = 1; district <= Sizes::kDistricts; ++district) {
      for (const OrderState& state : districts_[district].orders) {
        if (state.exists) delivered[place(district, state.customer)] += state.delivered_amount;
      }
    }
    return backend_.visit_customers(warehouse_, [&](const Customer& row) {
      const Cents amount = delivered[place(row.district, row.id)];
      const Cents paid = payments_.from_customer[place(row.district, row.id)];
      findings_.expect(row.balance == amount - paid, 10,
                       "customer {}/{}/{}: balance {} = delivered {} - paid {}", warehouse_,
                       row.district, row.id, row.balance, amount, paid);
      findings_.expect(row.balance + row.ytd_payment == amount, 12,
                       "customer {}/{}/{}: balance {} + payments {} = delivered {}", warehouse_,
                       row.district, row.id, row.balance, row.ytd_payment, amount);
      districts_[row.district].deliveries += row.delivery_count;
    });
  }

  [[nodiscard]] std::size_t place(std::uint32_t district, std::uint32_t customer) const {
    return std::size_t{district - 1} * sizes_.customers + customer - 1;
  }

  Result<> judge_warehouse() {
    Cents district_sum = 0;
    for (const DistrictState& district : districts_) district_sum += district.ytd;
    return backend_.visit_warehouse(warehouse_, [&](const Warehouse& row) {
      findings_.expect(row.ytd == district_sum, 1, "warehouse {}: ytd {} = districts' {}",
                       warehouse_, row.ytd, district_sum);
      findings_.expect(row.ytd == payments_.to_warehouse, 8, "warehouse {}: ytd {} = history's {}",
                       warehouse_, row.ytd, payments_.to_warehouse);
    });
  }

  void judge_district(std::uint32_t id) {
    const DistrictState& state = districts_[id];
    findings_.expect(state.next_order == state.highest_order + 1, 2,
                     "district {}/{}: next order {}, highest order {}", warehouse_, id,
                     state.next_order, state.highest_order);
    if (state.new_order_count != 0) {
      findings_.expect(state.highest_new == state.highest_order, 2,
                       "district {}/{}: highest order {}, highest new order {}", warehouse_, id,
                       state.highest_order, state.highest_new);
      findings_.expect(state.highest_new - state.lowest_new + 1 == state.new_order_count, 3,
                       "district {}/{}: new orders {} to {} are {}", warehouse_, id,
                       state.lowest_new, state.highest_new, state.new_order_count);
    }
    findings_.expect(state.lines_promised == state.lines_found, 4,
                     "district {}/{}: orders name {} lines, there are {}", warehouse_, id,
                     state.lines_promised, state.lines_found);
    findings_.expect(state.ytd == payments_.to_district[id], 9,
                     "district {}/{}: ytd {} = history's {}", warehouse_, id, state.ytd,
                     payments_.to_district[id]);
    findings_.expect(
        state.order_count - state.new_order_count == sizes_.delivered_orders() + state.deliveries,
        11, "district {}/{}: orders {} - new orders {} = {} + deliveries {}", warehouse_, id,
        state.order_count, state.new_order_count, sizes_.delivered_orders(), state.deliveries);
  }

  void judge_orders(std::uint32_t district) {
    std::uint32_t id = 0;
    for (const OrderState& state : districts_[district].orders) {
      ++id;
      const bool delivered = state.carrier != 0;
      findings_.expect(delivered != state.is_new, 5, "order {}/{}/{}: carrier {}, new order {}",
                       warehouse_, district, id, state.carrier, state.is_new);
      findings_.expect(state.line_count == state.lines_found, 6,
                       "order {}/{}/{}: names {} lines, there are {}", warehouse_, district, id,
                       state.line_count, state.lines_found);
      findings_.expect(state.lines_delivered == (delivered ? state.lines_found : 0), 7,
                       "order {}/{}/{}: carrier {}, {} of {} lines delivered", warehouse_, district,
                       id, state.carrier, state.lines_delivered, state.lines_found);
    }
  }

  Backend& backend_;
  const Sizes& sizes_;
  std::uint32_t warehouse_;
  const Payments& payments_;
  Findings& findings_;
  std::array<DistrictState, Sizes::kDistricts + 1> districts_{};
};

Result<std::vector<Payments>> read_payments(Backend& backend, const Sizes& sizes) {
  std::vector<Payments> payments(sizes.warehouses + 1);
  for (Payments& of : payments) {
    of.from_customer.resize(std::size_t{Sizes::kDistricts} * sizes.customers);
  }
  RETURN_IF_ERROR(backend.visit_history([&](const History& row) {
    payments[row.warehouse].to_warehouse += row.amount;
    payments[row.warehouse].to_district[row.district] += row.amount;
    payments[row.customer_warehouse]
        .from_customer[std::size_t{row.customer_district - 1} * sizes.customers + row.customer -
                       1] += row.amount;
  }));
  return payments;
}

}  // namespace

Result<std::vector<std::string>> find_violations(Backend& backend) {
  ASSIGN_OR_RETURN(const Sizes sizes, backend.sizes());
  ASSIGN_OR_RETURN(const std::vector<Payments> payments, read_payments(backend, sizes));
  Findings findings;
  for (std::uint32_t warehouse = 1; warehouse <= sizes.warehouses; ++warehouse) {
    WarehouseCheck check{backend, sizes, warehouse, payments[warehouse], findings};
    RETURN_IF_ERROR(check.run());
  }
  return findings.take();
}

}  // namespace swizzle::tpcc
