#include "tpcc/embedded/session.h"

#include "base/runtime/runtime.h"

namespace swizzle::tpcc {

Result<> EmbeddedSession::missing(TableName table) const {
  return fail(sqlstate::internal_error,
              std::string{"TPC-C: a row is missing in "} + name_of(table));
}

Result<> EmbeddedSession::insert(Transaction& transaction, TableName table, const Key& key,
                                 Bytes value) {
  ASSIGN_OR_RETURN(const bool inserted, tables_[table].insert(transaction, key.bytes(), value));
  if (inserted) return {};
  return fail(sqlstate::unique_violation, std::string{"TPC-C: duplicate key in "} + name_of(table));
}

Result<> EmbeddedSession::update(Transaction& transaction, TableName table, const Key& key,
                                 Bytes value) {
  ASSIGN_OR_RETURN(const bool found, tables_[table].update(transaction, key.bytes(), value));
  return found ? Result<>{} : missing(table);
}

Result<Outcome> EmbeddedSession::commit(Transaction& transaction) {
  RETURN_IF_ERROR(transaction.commit(settings_.durability));
  return Outcome::committed;
}

Result<std::uint32_t> EmbeddedSession::find_customer(Transaction& transaction,
                                                     const CustomerChoice& choice) {
  if (choice.id != 0) return choice.id;
  const Key low = Key{}.number(choice.warehouse).small(choice.district).name(choice.last);
  const Key high = Key{low}.end();
  ASSIGN_OR_RETURN(Cursor cursor, tables_[TableName::customer_by_name].scan(
                                      transaction, {.low = low.bytes(), .high = high.bytes()}));
  numbers_.clear();
  while (true) {
    ASSIGN_OR_RETURN(const bool more, cursor.next());
    if (!more) break;
    const Bytes key = cursor.key();
    numbers_.push_back(load_big_endian<std::uint32_t>(key.data() + key.size() - 4));
  }
  if (numbers_.empty()) RETURN_IF_ERROR(missing(TableName::customer_by_name));
  return numbers_[(numbers_.size() - 1) / 2];
}

}  // namespace swizzle::tpcc
