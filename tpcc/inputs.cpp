#include "tpcc/inputs.h"

#include <algorithm>
#include <tuple>

namespace swizzle::tpcc {

bool NewOrderInput::all_local() const noexcept {
  return std::all_of(lines.begin(), lines.begin() + line_count,
                     [&](const Line& line) { return line.supply_warehouse == warehouse; });
}

const char* name_of(Kind kind) noexcept {
  switch (kind) {
    case Kind::new_order:
      return "new_order";
    case Kind::payment:
      return "payment";
    case Kind::order_status:
      return "order_status";
    case Kind::delivery:
      return "delivery";
    case Kind::stock_level:
      return "stock_level";
  }
  return "?";
}

Input InputSource::next() {
  // Clause 5.2.3 asks for at least 43 % payments and 4 % each of the three others.
  const std::uint32_t draw = random_.between(0, 99);
  if (draw < 45) return new_order();
  if (draw < 88) return payment();
  if (draw < 92) return order_status();
  if (draw < 96) return delivery();
  return stock_level();
}

NewOrderInput InputSource::new_order() {
  NewOrderInput input;
  input.warehouse = warehouse();
  input.district = random_.between(1, Sizes::kDistricts);
  input.customer = random_.customer();
  input.line_count = random_.between(5, 15);
  const bool rolls_back = random_.percent(1);
  for (std::uint32_t i = 0; i < input.line_count; ++i) {
    const bool remote = has_remote_ && random_.percent(1);
    input.lines[i] = {
        .item = random_.item(),
        .supply_warehouse = remote ? other_warehouse(input.warehouse) : input.warehouse,
        .quantity = random_.between(1, 10)};
  }
  std::sort(input.lines.begin(), input.lines.begin() + input.line_count,
            [](const NewOrderInput::Line& a, const NewOrderInput::Line& b) {
              return std::tie(a.supply_warehouse, a.item) < std::tie(b.supply_warehouse, b.item);
            });
  if (rolls_back) input.lines[input.line_count - 1].item = sizes_.items + 1;
  return input;
}

PaymentInput InputSource::payment() {
  PaymentInput input;
  input.warehouse = warehouse();
  input.district = random_.between(1, Sizes::kDistricts);
  const bool remote = has_remote_ && random_.percent(15);
  input.customer =
      remote ? customer(other_warehouse(input.warehouse), random_.between(1, Sizes::kDistricts))
             : customer(input.warehouse, input.district);
  input.amount = random_.between(100, 500'000);
  return input;
}

OrderStatusInput InputSource::order_status() {
  const std::uint32_t home = warehouse();
  return {customer(home, random_.between(1, Sizes::kDistricts))};
}

DeliveryInput InputSource::delivery() {
  const std::uint32_t home = warehouse();
  return {home, random_.between(1, 10)};
}

StockLevelInput InputSource::stock_level() {
  const std::uint32_t home = warehouse();
  const std::uint32_t district = random_.between(1, Sizes::kDistricts);
  return {home, district, static_cast<std::int32_t>(random_.between(10, 20))};
}

std::uint32_t InputSource::warehouse() noexcept {
  return home_ != 0 ? home_ : random_.between(1, sizes_.warehouses);
}

std::uint32_t InputSource::other_warehouse(std::uint32_t than) noexcept {
  const std::uint32_t other = random_.between(1, sizes_.warehouses - 1);
  return other < than ? other : other + 1;
}

CustomerChoice InputSource::customer(std::uint32_t warehouse, std::uint32_t district) {
  CustomerChoice choice{.warehouse = warehouse, .district = district, .id = 0, .last = {}};
  if (random_.percent(60)) {
    choice.last = last_name(random_.last_name_number());
  } else {
    choice.id = random_.customer();
  }
  return choice;
}

}  // namespace swizzle::tpcc
