#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "sql-lite-frontend/execution/publish/change_codec.h"
#include "sql-lite-frontend/execution/publish/table_shape.h"
#include "sql-lite-frontend/query/bound/execution.h"

/// Messages in the form of PostgreSQL's output plugin pgoutput, version 1 of its protocol.
namespace swizzle::sql::pgoutput {

struct TransactionFacts {
  TxnId id = TxnId::none;
  Lsn commit = Lsn::none;
  Lsn end = Lsn::none;
  std::int64_t committed_at = 0;  ///< microseconds since 2000
};
std::string begin(const TransactionFacts& transaction);
std::string commit(const TransactionFacts& transaction);

/// Comes after begin(): where the transaction was committed first.
std::string origin(const PublishedChange& change);

/// The columns of a shape that a subscriber receives, as positions in TableShape::columns.
using Places = std::span<const std::uint32_t>;

/// A user-defined type; `schema` and `name` are those of its base type if it is a domain.
struct TypeFacts {
  TypeId type = TypeId::none;
  std::string_view schema;
  std::string_view name;
};
std::string type(const TypeFacts& facts);
std::string relation(const TableShape& shape, Places places);
/// Returns the message of a pg_logical_emit_message; `lsn` is the message's own.
std::string message(Lsn lsn, const PublishedChange& change);
std::string truncate(std::span<const Oid> relations, const PublishedChange& change);

/// Messages for rows. They have the columns of `places`, as text.
class RowMessages {
 public:
  RowMessages(FunctionContext& context, const TableShape& shape, Places places)
      : context_(context), shape_(shape), places_(places) {}

  [[nodiscard]] std::string insert(std::span<const Value> row) const;
  /// Ignores `before` if `old_row` is none.
  [[nodiscard]] std::string update(OldRow old_row, std::span<const Value> before,
                                   std::span<const Value> after) const;
  [[nodiscard]] std::string remove(OldRow old_row, std::span<const Value> before) const;

 private:
  void put_row(std::string& out, std::span<const Value> row) const;

  FunctionContext& context_;
  const TableShape& shape_;
  Places places_;
};

}  // namespace swizzle::sql::pgoutput
