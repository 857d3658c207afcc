#include "base/runtime.h"
#include "tpcc/embedded/session.h"

namespace swizzle::tpcc {

// Clause 2.4.2.2.
Result<Outcome> EmbeddedSession::new_order(const NewOrderInput& input) {
  const auto transaction = engine_.begin(settings_.isolation);
  const Key warehouse_key = Key{}.number(input.warehouse);
  ASSIGN_OR_RETURN(const auto warehouse,
                   read<WarehouseRecord>(*transaction, TableName::warehouse, warehouse_key));
  const Key district_key = Key{warehouse_key}.small(input.district);
  const Key customer_key = Key{district_key}.number(input.customer);
  ASSIGN_OR_RETURN(const auto customer,
                   read<CustomerRecord>(*transaction, TableName::customer, customer_key));

  ASSIGN_OR_RETURN(auto district, read<DistrictRecord>(*transaction, TableName::district,
                                                       district_key, ReadMode::for_update));
  const std::uint32_t order = district.next_order++;
  RETURN_IF_ERROR(update(*transaction, TableName::district, district_key, Image{district}.bytes()));

  const OrderRecord record{.entry_date = Runtime::current().wall_clock_us(),
                           .customer = input.customer,
                           .carrier = 0,
                           .line_count = static_cast<std::uint8_t>(input.line_count),
                           .all_local = input.all_local() ? std::uint8_t{1} : std::uint8_t{0}};
  const Key order_key = Key{district_key}.number(order);
  RETURN_IF_ERROR(insert(*transaction, TableName::orders, order_key, Image{record}.bytes()));
  RETURN_IF_ERROR(insert(*transaction, TableName::new_order, order_key, {}));
  RETURN_IF_ERROR(
      insert(*transaction, TableName::order_by_customer, Key{customer_key}.number(order), {}));

  Cents total = 0;
  for (std::uint32_t number = 1; number <= input.line_count; ++number) {
    ASSIGN_OR_RETURN(const bool exists, order_line(*transaction, input, order, number, total));
    if (!exists) {
      transaction->rollback();
      return Outcome::rolled_back;
    }
  }
  // What the terminal would show (clause 2.4.3.3).
  [[maybe_unused]] const volatile Cents shown = total * (10'000 - customer.discount) / 10'000 *
                                                (10'000 + warehouse.tax + district.tax) / 10'000;
  return commit(*transaction);
}

Result<bool> EmbeddedSession::order_line(Transaction& transaction, const NewOrderInput& input,
                                         std::uint32_t order, std::uint32_t number, Cents& total) {
  const NewOrderInput::Line& line = input.lines[number - 1];
  ASSIGN_OR_RETURN(const bool exists, tables_[TableName::item].get(
                                          transaction, Key{}.number(line.item).bytes(), value_));
  if (!exists) return false;
  const Cents amount = load<ItemRecord>(value_.bytes().data()).price * line.quantity;
  total += amount;

  const Key stock_key = Key{}.number(line.supply_warehouse).number(line.item);
  ASSIGN_OR_RETURN(auto stock, read<StockRecord>(transaction, TableName::stock, stock_key,
                                                 ReadMode::for_update));
  const auto quantity = static_cast<std::int32_t>(line.quantity);
  stock.quantity += stock.quantity >= quantity + 10 ? -quantity : 91 - quantity;
  stock.ytd += line.quantity;
  stock.order_count += 1;
  stock.remote_count += line.supply_warehouse == input.warehouse ? 0 : 1;
  const Image changed{stock, text_of<StockRecord>(value_.bytes())};
  RETURN_IF_ERROR(update(transaction, TableName::stock, stock_key, changed.bytes()));

  const OrderLineRecord record{.delivery_date = 0,
                               .amount = amount,
                               .item = line.item,
                               .supply_warehouse = line.supply_warehouse,
                               .quantity = line.quantity,
                               .district_info = stock.district_info[input.district - 1]};
  const Key key = Key{}.number(input.warehouse).small(input.district).number(order).small(number);
  RETURN_IF_ERROR(insert(transaction, TableName::order_line, key, Image{record}.bytes()));
  return true;
}

}  // namespace swizzle::tpcc
