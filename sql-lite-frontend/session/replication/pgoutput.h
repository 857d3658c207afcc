#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "sql-lite-frontend/execution/publish/change_codec.h"
#include "sql-lite-frontend/execution/publish/table_shape.h"
#include "sql-lite-frontend/query/bound/execution.h"

/// Messages in the form of PostgreSQL's output plugin pgoutput, versions 1 to 4 of its protocol.
namespace swizzle::sql::pgoutput {

struct TransactionFacts {
  TxnId id = TxnId::none;
  Lsn commit = Lsn::none;
  Lsn end = Lsn::none;
  std::int64_t committed_at = 0;  ///< microseconds since 2000
  // Of prepared ones.
  std::string gid = {};
  Lsn prepared_end = Lsn::none;
  std::int64_t prepared_at = 0;
};
std::string begin(const TransactionFacts& transaction);
std::string commit(const TransactionFacts& transaction);

// Large transactions before they end. All messages of a part are between stream_start() and
// stream_stop(), and carry a number (numbered()).
enum class Part : std::uint8_t { later, first };
std::string stream_start(TxnId transaction, Part part);
std::string stream_stop();
std::string stream_commit(const TransactionFacts& transaction);
/// `number`: of the part from which on all are void; the transaction's own: of all.
std::string stream_abort(const TransactionFacts& transaction, std::uint32_t number);
/// The same with the position and time for subscribers that apply parts as they come.
std::string stream_abort_in_parallel(const TransactionFacts& transaction, std::uint32_t number);
/// Returns the message with the number of a subtransaction in it.
std::string numbered(std::string_view message, std::uint32_t number);
/// Returns the transaction's number as messages have it.
std::uint32_t number_of(TxnId transaction) noexcept;

// Prepared transactions. Of these facts, `commit` and `end` are of the record of the event.
std::string begin_prepare(const TransactionFacts& transaction);
std::string prepare(const TransactionFacts& transaction);
std::string stream_prepare(const TransactionFacts& transaction);
std::string commit_prepared(const TransactionFacts& transaction);
std::string rollback_prepared(const TransactionFacts& transaction);

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

/// Messages for rows. They have the columns of `places`, as text or in their binary form.
class RowMessages {
 public:
  RowMessages(FunctionContext& context, const TableShape& shape, Places places, bool is_binary)
      : context_(context), shape_(shape), places_(places), is_binary_(is_binary) {}

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
  const bool is_binary_;
};

}  // namespace swizzle::sql::pgoutput
