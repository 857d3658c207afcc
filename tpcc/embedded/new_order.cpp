#include "base/runtime/runtime.h"
#include "tpcc/embedded/session.h"

namespace swizzle::tpcc {
namespace {

Key stock_key(const NewOrderInput::Line& line) noexcept {
  return Key{}.number(line.supply_warehouse).number(line.item);
}

}  // namespace

// Clause 2.4.2.2. Items and stock come first, so that the district, which all its orders and
// payments lock, is locked for a short time.
Result<Outcome> EmbeddedSession::new_order(const NewOrderInput& input) {
  const auto transaction = engine_.begin(settings_.isolation);
  prefetch_lines(*transaction, input);
  const Key warehouse_key = Key{}.number(input.warehouse);
  ASSIGN_OR_RETURN(const auto warehouse,
                   read<WarehouseRecord>(*transaction, TableName::warehouse, warehouse_key));
  const Key district_key = Key{warehouse_key}.small(input.district);
  const Key customer_key = Key{district_key}.number(input.customer);
  ASSIGN_OR_RETURN(const auto customer,
                   read<CustomerRecord>(*transaction, TableName::customer, customer_key));

  std::array<OrderLineRecord, NewOrderInput::kMaxLines> lines;
  Cents total = 0;
  for (std::uint32_t i = 0; i < input.line_count; ++i) {
    ASSIGN_OR_RETURN(const auto line, take_from_stock(*transaction, input, input.lines[i]));
    if (!line) {
      transaction->rollback();
      return Outcome::rolled_back;
    }
    lines[i] = *line;
    total += line->amount;
  }

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
  for (std::uint32_t i = 0; i < input.line_count; ++i) {
    RETURN_IF_ERROR(insert(*transaction, TableName::order_line, Key{order_key}.small(i + 1),
                           Image{lines[i]}.bytes()));
  }
  // Compute the total that the terminal would show (clause 2.4.3.3).
  [[maybe_unused]] const volatile Cents shown = total * (10'000 - customer.discount) / 10'000 *
                                                (10'000 + warehouse.tax + district.tax) / 10'000;
  return commit(*transaction);
}

void EmbeddedSession::prefetch_lines(Transaction& transaction, const NewOrderInput& input) {
  KeyList items;
  KeyList stocks;
  for (std::uint32_t i = 0; i < input.line_count; ++i) {
    items.add(Key{}.number(input.lines[i].item));
    stocks.add(stock_key(input.lines[i]));
  }
  tables_[TableName::stock].prefetch(transaction, stocks.all(), ReadMode::for_update);
  tables_[TableName::item].prefetch(transaction, items.all());
}

Result<std::optional<OrderLineRecord>> EmbeddedSession::take_from_stock(
    Transaction& transaction, const NewOrderInput& input, const NewOrderInput::Line& line) {
  ASSIGN_OR_RETURN(const bool exists, tables_[TableName::item].get(
                                          transaction, Key{}.number(line.item).bytes(), value_));
  if (!exists) return std::optional<OrderLineRecord>{};
  const Cents price = load<ItemRecord>(value_.bytes().data()).price;

  const Key key = stock_key(line);
  ASSIGN_OR_RETURN(auto stock,
                   read<StockRecord>(transaction, TableName::stock, key, ReadMode::for_update));
  const auto quantity = static_cast<std::int32_t>(line.quantity);
  stock.quantity += stock.quantity >= quantity + 10 ? -quantity : 91 - quantity;
  stock.ytd += line.quantity;
  stock.order_count += 1;
  stock.remote_count += line.supply_warehouse == input.warehouse ? 0 : 1;
  const Image changed{stock, text_of<StockRecord>(value_.bytes())};
  RETURN_IF_ERROR(update(transaction, TableName::stock, key, changed.bytes()));
  return std::optional<OrderLineRecord>{{.delivery_date = 0,
                                         .amount = price * line.quantity,
                                         .item = line.item,
                                         .supply_warehouse = line.supply_warehouse,
                                         .quantity = line.quantity,
                                         .district_info = stock.district_info[input.district - 1]}};
}

}  // namespace swizzle::tpcc
