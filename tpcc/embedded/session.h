#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "storage/engine.h"
#include "tpcc/backend.h"
#include "tpcc/embedded/layout.h"
#include "tpcc/embedded/tables.h"

namespace swizzle::tpcc {

struct SessionSettings {
  Isolation isolation = Isolation::read_committed;
  Transaction::Durability durability = Transaction::Durability::synchronous;
  /// Distinguishes history rows of this run and session from all others.
  std::uint64_t run = 0;
  std::uint32_t number = 0;
};

/// The five transactions directly on the engine. Hot rows (district, warehouse) are locked late and
/// in the same order by every transaction.
class EmbeddedSession final : public Session {
 public:
  EmbeddedSession(Engine& engine, Tables tables, SessionSettings settings)
      : engine_(engine), tables_(std::move(tables)), settings_(settings) {}

  Result<Outcome> new_order(const NewOrderInput& input) override;
  Result<Outcome> payment(const PaymentInput& input) override;
  Result<Outcome> order_status(const OrderStatusInput& input) override;
  Result<Outcome> delivery(const DeliveryInput& input) override;
  Result<Outcome> stock_level(const StockLevelInput& input) override;

 private:
  /// Reads a row that must exist; XX000 otherwise. Leaves the whole value in value_.
  template <class Record>
  Result<Record> read(Transaction& transaction, TableName table, const Key& key,
                      ReadMode mode = ReadMode::snapshot);
  Result<> insert(Transaction& transaction, TableName table, const Key& key, Bytes value);
  Result<> update(Transaction& transaction, TableName table, const Key& key, Bytes value);
  Result<> missing(TableName table) const;

  void prefetch_lines(Transaction& transaction, const NewOrderInput& input);
  /// Returns the order's line; nothing if the item does not exist.
  Result<std::optional<OrderLineRecord>> take_from_stock(Transaction& transaction,
                                                         const NewOrderInput& input,
                                                         const NewOrderInput::Line& line);
  /// How many of the items in `numbers_` are short (clause 2.8.2.2).
  Result<std::uint32_t> count_low_stock(Transaction& transaction, const StockLevelInput& input);
  /// An order that a delivery has taken.
  struct DueOrder {
    Key district;
    Key key;
    Key customer;
  };
  Result<std::uint32_t> take_oldest_orders(Transaction& transaction, const DeliveryInput& input,
                                           std::span<DueOrder> into);
  Result<> deliver(Transaction& transaction, const DueOrder& due);
  Result<Cents> deliver_lines(Transaction& transaction, const Key& order, Microseconds now);
  /// By number, or the one in the middle of those with the name (clause 2.5.2.2).
  Result<std::uint32_t> find_customer(Transaction& transaction, const CustomerChoice& choice);
  Result<std::optional<std::uint32_t>> last_order(Transaction& transaction,
                                                  const CustomerChoice& of, std::uint32_t customer);
  Result<> insert_history(Transaction& transaction, const PaymentInput& input,
                          std::uint32_t customer, std::string_view data);
  Result<Outcome> commit(Transaction& transaction);

  Engine& engine_;
  Tables tables_;
  SessionSettings settings_;
  ValueBuffer value_;
  std::vector<std::uint32_t> numbers_;
  std::uint32_t history_sequence_ = 0;
};

template <class Record>
Result<Record> EmbeddedSession::read(Transaction& transaction, TableName table, const Key& key,
                                     ReadMode mode) {
  ASSIGN_OR_RETURN(const bool found, tables_[table].get(transaction, key.bytes(), value_, mode));
  if (!found || value_.bytes().size() < sizeof(Record)) {
    RETURN_IF_ERROR(missing(table));
  }
  return load<Record>(value_.bytes().data());
}

}  // namespace swizzle::tpcc
