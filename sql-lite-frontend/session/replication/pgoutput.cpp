#include "sql-lite-frontend/session/replication/pgoutput.h"

#include "sql-lite-frontend/session/replication/big_endian_text.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type_io.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql::pgoutput {
namespace {

/// Returns the schema's name for a message: empty for pg_catalog, as the protocol requires.
std::string_view told_schema(std::string_view schema) {
  return schema == "pg_catalog" ? std::string_view{} : schema;
}

}  // namespace

std::string begin(const TransactionFacts& transaction) {
  std::string out{'B'};
  put_number(out, raw(transaction.commit));
  put_number(out, transaction.committed_at);
  put_number(out, static_cast<std::uint32_t>(raw(transaction.id)));
  return out;
}

std::string commit(const TransactionFacts& transaction) {
  std::string out{'C'};
  out += '\0';
  put_number(out, raw(transaction.commit));
  put_number(out, raw(transaction.end));
  put_number(out, transaction.committed_at);
  return out;
}

std::uint32_t number_of(TxnId transaction) noexcept {
  return static_cast<std::uint32_t>(raw(transaction));
}

std::string stream_start(TxnId transaction, Part part) {
  std::string out{'S'};
  put_number(out, number_of(transaction));
  out += part == Part::first ? '\1' : '\0';
  return out;
}

std::string stream_stop() {
  return "E";
}

std::string stream_commit(const TransactionFacts& transaction) {
  std::string out{'c'};
  put_number(out, number_of(transaction.id));
  // From here on as in commit().
  out += commit(transaction).substr(1);
  return out;
}

std::string stream_abort(const TransactionFacts& transaction, std::uint32_t number) {
  std::string out{'A'};
  put_number(out, number_of(transaction.id));
  put_number(out, number);
  return out;
}

std::string stream_abort_in_parallel(const TransactionFacts& transaction, std::uint32_t number) {
  std::string out = stream_abort(transaction, number);
  put_number(out, raw(transaction.commit));
  put_number(out, transaction.committed_at);
  return out;
}

std::string numbered(std::string_view message, std::uint32_t number) {
  std::string out{message.substr(0, 1)};
  put_number(out, number);
  out += message.substr(1);
  return out;
}

namespace {

void put_prepare(std::string& out, const TransactionFacts& transaction) {
  put_number(out, raw(transaction.commit));
  put_number(out, raw(transaction.end));
  put_number(out, transaction.committed_at);
  put_number(out, number_of(transaction.id));
  put_string(out, transaction.gid);
}

std::string prepare_of_kind(char kind, const TransactionFacts& transaction) {
  std::string out{kind};
  out += '\0';
  put_prepare(out, transaction);
  return out;
}

}  // namespace

std::string begin_prepare(const TransactionFacts& transaction) {
  std::string out{'b'};
  put_prepare(out, transaction);
  return out;
}

std::string prepare(const TransactionFacts& transaction) {
  return prepare_of_kind('P', transaction);
}

std::string stream_prepare(const TransactionFacts& transaction) {
  return prepare_of_kind('p', transaction);
}

std::string commit_prepared(const TransactionFacts& transaction) {
  return prepare_of_kind('K', transaction);
}

std::string rollback_prepared(const TransactionFacts& transaction) {
  std::string out{'r'};
  out += '\0';
  put_number(out, raw(transaction.prepared_end));
  put_number(out, raw(transaction.end));
  put_number(out, transaction.prepared_at);
  put_number(out, transaction.committed_at);
  put_number(out, number_of(transaction.id));
  put_string(out, transaction.gid);
  return out;
}

std::string origin(const PublishedChange& change) {
  std::string out{'O'};
  put_number(out, raw(change.commit_there));
  put_string(out, change.prefix);
  return out;
}

std::string type(const TypeFacts& facts) {
  std::string out{'Y'};
  put_number(out, static_cast<std::uint32_t>(raw(facts.type)));
  put_string(out, told_schema(facts.schema));
  put_string(out, facts.name);
  return out;
}

std::string relation(const TableShape& shape, Places places) {
  std::string out{'R'};
  put_number(out, static_cast<std::uint32_t>(shape.relation));
  put_string(out, told_schema(shape.schema));
  put_string(out, shape.name);
  out += shape.identity;
  put_number(out, static_cast<std::int16_t>(places.size()));
  for (const std::uint32_t place : places) {
    const TableShape::Column& column = shape.columns[place];
    out += column.in_identity ? '\1' : '\0';
    put_string(out, column.name);
    put_number(out, static_cast<std::uint32_t>(raw(column.type)));
    put_number(out, column.typmod);
  }
  return out;
}

std::string message(Lsn lsn, const PublishedChange& change) {
  std::string out{'M'};
  out += change.is_transactional ? '\1' : '\0';
  put_number(out, raw(lsn));
  put_string(out, change.prefix);
  put_number(out, static_cast<std::uint32_t>(change.content.size()));
  out += as_text(change.content);
  return out;
}

std::string truncate(std::span<const Oid> relations, const PublishedChange& change) {
  constexpr int kCascades = 1;
  constexpr int kRestartsSequences = 2;
  std::string out{'T'};
  put_number(out, static_cast<std::int32_t>(relations.size()));
  out += static_cast<char>((change.cascades ? kCascades : 0) |
                           (change.restarts_sequences ? kRestartsSequences : 0));
  for (const Oid relation : relations) put_number(out, static_cast<std::uint32_t>(relation));
  return out;
}

void RowMessages::put_row(std::string& out, std::span<const Value> row) const {
  put_number(out, static_cast<std::int16_t>(places_.size()));
  for (const std::uint32_t place : places_) {
    const Value& value = row[place];
    if (value.is_null()) {
      out += 'n';
      continue;
    }
    out += is_binary_ ? 'b' : 't';
    const std::size_t start = out.size();
    put_number(out, std::uint32_t{0});
    const TypeId type = shape_.columns[place].type;
    is_binary_ ? send_binary(context_, type, value, out) : output_text(context_, type, value, out);
    const std::size_t bytes = out.size() - start - sizeof(std::uint32_t);
    store_big_endian(reinterpret_cast<std::byte*>(out.data() + start),
                     static_cast<std::uint32_t>(bytes));
  }
}

std::string RowMessages::insert(std::span<const Value> row) const {
  std::string out{'I'};
  put_number(out, static_cast<std::uint32_t>(shape_.relation));
  out += 'N';
  put_row(out, row);
  return out;
}

std::string RowMessages::update(OldRow old_row, std::span<const Value> before,
                                std::span<const Value> after) const {
  std::string out{'U'};
  put_number(out, static_cast<std::uint32_t>(shape_.relation));
  if (old_row != OldRow::none) {
    out += static_cast<char>(old_row);
    put_row(out, before);
  }
  out += 'N';
  put_row(out, after);
  return out;
}

std::string RowMessages::remove(OldRow old_row, std::span<const Value> before) const {
  std::string out{'D'};
  put_number(out, static_cast<std::uint32_t>(shape_.relation));
  out += static_cast<char>(old_row);
  put_row(out, before);
  return out;
}

}  // namespace swizzle::sql::pgoutput
