#include <algorithm>

#include "tpcc/embedded/session.h"

namespace swizzle::tpcc {

// Clause 2.6.2.2.
Result<Outcome> EmbeddedSession::order_status(const OrderStatusInput& input) {
  const auto transaction = engine_.begin(settings_.isolation, Access::read_only);
  const CustomerChoice& choice = input.customer;
  ASSIGN_OR_RETURN(const std::uint32_t id, find_customer(*transaction, choice));
  const Key district_key = Key{}.number(choice.warehouse).small(choice.district);
  RETURN_IF_ERROR(
      read<CustomerRecord>(*transaction, TableName::customer, Key{district_key}.number(id)));
  ASSIGN_OR_RETURN(const auto order, last_order(*transaction, choice, id));
  if (!order) return commit(*transaction);

  const Key order_key = Key{district_key}.number(*order);
  RETURN_IF_ERROR(read<OrderRecord>(*transaction, TableName::orders, order_key));
  const Key high = Key{order_key}.end();
  ASSIGN_OR_RETURN(Cursor cursor,
                   tables_[TableName::order_line].scan(
                       *transaction, {.low = order_key.bytes(), .high = high.bytes()}));
  while (true) {
    ASSIGN_OR_RETURN(const bool more, cursor.next());
    if (!more) break;
  }
  return commit(*transaction);
}

Result<std::optional<std::uint32_t>> EmbeddedSession::last_order(Transaction& transaction,
                                                                 const CustomerChoice& of,
                                                                 std::uint32_t customer) {
  const Key low = Key{}.number(of.warehouse).small(of.district).number(customer);
  const Key high = Key{low}.end();
  ASSIGN_OR_RETURN(Cursor cursor, tables_[TableName::order_by_customer].scan(
                                      transaction, {.low = low.bytes(), .high = high.bytes()},
                                      Direction::backward));
  ASSIGN_OR_RETURN(const bool found, cursor.next());
  if (!found) return std::optional<std::uint32_t>{};
  const Bytes key = cursor.key();
  return std::optional{load_big_endian<std::uint32_t>(key.data() + key.size() - 4)};
}

// Clause 2.8.2.2.
Result<Outcome> EmbeddedSession::stock_level(const StockLevelInput& input) {
  const auto transaction = engine_.begin(settings_.isolation, Access::read_only);
  const Key district_key = Key{}.number(input.warehouse).small(input.district);
  ASSIGN_OR_RETURN(const auto district,
                   read<DistrictRecord>(*transaction, TableName::district, district_key));
  const Key low = Key{district_key}.number(district.next_order - 20);
  const Key high = Key{district_key}.number(district.next_order);
  numbers_.clear();
  {
    ASSIGN_OR_RETURN(Cursor cursor, tables_[TableName::order_line].scan(
                                        *transaction, {.low = low.bytes(), .high = high.bytes()}));
    while (true) {
      ASSIGN_OR_RETURN(const bool more, cursor.next());
      if (!more) break;
      numbers_.push_back(load<OrderLineRecord>(cursor.value().data()).item);
    }
  }
  std::sort(numbers_.begin(), numbers_.end());
  numbers_.erase(std::unique(numbers_.begin(), numbers_.end()), numbers_.end());
  ASSIGN_OR_RETURN(const std::uint32_t low_stock, count_low_stock(*transaction, input));
  [[maybe_unused]] const volatile std::uint32_t shown = low_stock;
  return commit(*transaction);
}

Result<std::uint32_t> EmbeddedSession::count_low_stock(Transaction& transaction,
                                                       const StockLevelInput& input) {
  Tree& stock = tables_[TableName::stock];
  std::uint32_t low = 0;
  for (std::span<const std::uint32_t> left = numbers_; !left.empty();) {
    KeyList keys;
    for (const std::uint32_t item : left.first(std::min(KeyList::kMost, left.size())))
      keys.add(Key{}.number(input.warehouse).number(item));
    left = left.subspan(keys.all().size());
    stock.prefetch(transaction, keys.all());
    for (const Key& key : keys) {
      ASSIGN_OR_RETURN(const auto record, read<StockRecord>(transaction, TableName::stock, key));
      low += record.quantity < input.threshold ? 1 : 0;
    }
  }
  return low;
}

}  // namespace swizzle::tpcc
