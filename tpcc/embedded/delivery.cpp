#include <array>

#include "base/runtime/runtime.h"
#include "tpcc/embedded/session.h"

namespace swizzle::tpcc {

// Clause 2.7.4.2, the ten districts in one transaction. Works step by step for all districts, so
// that each step's memory accesses are prefetched together.
Result<Outcome> EmbeddedSession::delivery(const DeliveryInput& input) {
  const auto transaction = engine_.begin(settings_.isolation);
  std::array<DueOrder, Sizes::kDistricts> room;
  ASSIGN_OR_RETURN(const std::uint32_t count, take_oldest_orders(*transaction, input, room));
  const std::span<DueOrder> due{room.data(), count};

  KeyList orders;
  for (const DueOrder& one : due) orders.add(one.key);
  tables_[TableName::orders].prefetch(*transaction, orders.all(), ReadMode::for_update);
  tables_[TableName::order_line].prefetch(*transaction, orders.all());
  KeyList customers;
  for (DueOrder& one : due) {
    ASSIGN_OR_RETURN(auto order, read<OrderRecord>(*transaction, TableName::orders, one.key,
                                                   ReadMode::for_update));
    order.carrier = static_cast<std::uint8_t>(input.carrier);
    RETURN_IF_ERROR(update(*transaction, TableName::orders, one.key, Image{order}.bytes()));
    one.customer = Key{one.district}.number(order.customer);
    customers.add(one.customer);
  }
  tables_[TableName::customer].prefetch(*transaction, customers.all(), ReadMode::for_update);
  for (const DueOrder& one : due) RETURN_IF_ERROR(deliver(*transaction, one));
  return commit(*transaction);
}

/// Removes the oldest undelivered order of each district from the queue. Returns their number.
Result<std::uint32_t> EmbeddedSession::take_oldest_orders(Transaction& transaction,
                                                          const DeliveryInput& input,
                                                          std::span<DueOrder> into) {
  KeyList districts;
  for (std::uint32_t district = 1; district <= Sizes::kDistricts; ++district)
    districts.add(Key{}.number(input.warehouse).small(district));
  Tree& queue = tables_[TableName::new_order];
  queue.prefetch(transaction, districts.all());
  std::uint32_t count = 0;
  for (const Key& district : districts) {
    DueOrder& due = into[count];
    due.district = due.key = district;
    {
      const Key high = Key{district}.end();
      ASSIGN_OR_RETURN(Cursor cursor,
                       queue.scan(transaction, {.low = district.bytes(), .high = high.bytes()},
                                  Direction::forward, ReadMode::for_update));
      ASSIGN_OR_RETURN(const bool found, cursor.next());
      // A district may have no undelivered order: clause 2.7.4.2 skips it.
      if (!found) continue;
      due.key.number(load_big_endian<std::uint32_t>(cursor.key().data() + 5));
    }
    ASSIGN_OR_RETURN(const bool removed, queue.remove(transaction, due.key.bytes()));
    if (!removed) RETURN_IF_ERROR(missing(TableName::new_order));
    ++count;
  }
  return count;
}

Result<> EmbeddedSession::deliver(Transaction& transaction, const DueOrder& due) {
  ASSIGN_OR_RETURN(const Cents total,
                   deliver_lines(transaction, due.key, Runtime::current().wall_clock_us()));
  ASSIGN_OR_RETURN(auto customer, read<CustomerRecord>(transaction, TableName::customer,
                                                       due.customer, ReadMode::for_update));
  customer.balance += total;
  customer.delivery_count += 1;
  const Image changed{customer, text_of<CustomerRecord>(value_.bytes())};
  return update(transaction, TableName::customer, due.customer, changed.bytes());
}

Result<Cents> EmbeddedSession::deliver_lines(Transaction& transaction, const Key& order,
                                             Microseconds now) {
  const Key high = Key{order}.end();
  std::array<OrderLineRecord, NewOrderInput::kMaxLines> lines;
  std::uint32_t count = 0;
  {
    // Transactions that change an order's lines lock the order, so the lines need no locks.
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
