#include <array>

#include "base/runtime.h"
#include "tpcc/embedded/session.h"

namespace swizzle::tpcc {

// Clause 2.7.4.2, the ten districts in one transaction.
Result<Outcome> EmbeddedSession::delivery(const DeliveryInput& input) {
  const auto transaction = engine_.begin(settings_.isolation);
  for (std::uint32_t district = 1; district <= Sizes::kDistricts; ++district) {
    RETURN_IF_ERROR(deliver_oldest(*transaction, input, district));
  }
  return commit(*transaction);
}

Result<> EmbeddedSession::deliver_oldest(Transaction& transaction, const DeliveryInput& input,
                                         std::uint32_t district) {
  const Key district_key = Key{}.number(input.warehouse).small(district);
  const Key high = Key{district_key}.end();
  Key order_key = district_key;
  {
    ASSIGN_OR_RETURN(Cursor cursor,
                     tables_[TableName::new_order].scan(
                         transaction, {.low = district_key.bytes(), .high = high.bytes()},
                         Direction::forward, ReadMode::for_update));
    ASSIGN_OR_RETURN(const bool found, cursor.next());
    // A district may have no undelivered order: clause 2.7.4.2 skips it.
    if (!found) return {};
    order_key.number(load_big_endian<std::uint32_t>(cursor.key().data() + 5));
  }
  ASSIGN_OR_RETURN(const bool removed,
                   tables_[TableName::new_order].remove(transaction, order_key.bytes()));
  if (!removed) return missing(TableName::new_order);

  ASSIGN_OR_RETURN(auto order, read<OrderRecord>(transaction, TableName::orders, order_key,
                                                 ReadMode::for_update));
  order.carrier = static_cast<std::uint8_t>(input.carrier);
  RETURN_IF_ERROR(update(transaction, TableName::orders, order_key, Image{order}.bytes()));
  ASSIGN_OR_RETURN(const Cents total,
                   deliver_lines(transaction, order_key, Runtime::current().wall_clock_us()));

  const Key customer_key = Key{district_key}.number(order.customer);
  ASSIGN_OR_RETURN(auto customer, read<CustomerRecord>(transaction, TableName::customer,
                                                       customer_key, ReadMode::for_update));
  customer.balance += total;
  customer.delivery_count += 1;
  const Image changed{customer, text_of<CustomerRecord>(value_.bytes())};
  return update(transaction, TableName::customer, customer_key, changed.bytes());
}

Result<Cents> EmbeddedSession::deliver_lines(Transaction& transaction, const Key& order,
                                             Microseconds now) {
  const Key high = Key{order}.end();
  std::array<OrderLineRecord, NewOrderInput::kMaxLines> lines;
  std::uint32_t count = 0;
  {
    // Whoever changes an order's lines has locked the order.
    ASSIGN_OR_RETURN(Cursor cursor, tables_[TableName::order_line].scan(
                                        transaction, {.low = order.bytes(), .high = high.bytes()}));
    while (count < lines.size()) {
      ASSIGN_OR_RETURN(const bool more, cursor.next());
      if (!more) break;
      lines[count++] = load<OrderLineRecord>(cursor.value().data());
    }
  }
  Cents total = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    total += lines[i].amount;
    lines[i].delivery_date = now;
    RETURN_IF_ERROR(update(transaction, TableName::order_line, Key{order}.small(i + 1),
                           Image{lines[i]}.bytes()));
  }
  return total;
}

}  // namespace swizzle::tpcc
