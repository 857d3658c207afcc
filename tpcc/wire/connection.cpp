#include "tpcc/wire/connection.h"

#include <libpq-fe.h>

#include <charconv>
#include <optional>

namespace swizzle::tpcc {
namespace {

/// Our SqlState comes from literals only; these are the codes that the driver tells apart.
SqlState state_of(std::string_view code) noexcept {
  for (const SqlState known :
       {sqlstate::serialization_failure, sqlstate::deadlock_detected, sqlstate::lock_not_available,
        sqlstate::unique_violation, sqlstate::feature_not_supported, sqlstate::query_canceled}) {
    if (known.code() == code) return known;
  }
  return sqlstate::internal_error;
}

}  // namespace

void Rows::Clear::operator()(pg_result* result) const noexcept {
  PQclear(result);
}

int Rows::count() const {
  return PQntuples(result_.get());
}

bool Rows::is_null(int row, int column) const {
  return PQgetisnull(result_.get(), row, column) != 0;
}

std::string_view Rows::text(int row, int column) const {
  return {PQgetvalue(result_.get(), row, column),
          static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
}

std::int64_t Rows::number(int row, int column) const {
  const std::string_view digits = text(row, column);
  std::int64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

std::int64_t Rows::scaled(int row, int column, unsigned digits) const {
  std::string_view source = text(row, column);
  const bool negative = source.starts_with('-');
  if (negative) source.remove_prefix(1);
  std::int64_t value = 0;
  std::optional<unsigned> decimals;
  for (const char character : source) {
    if (character == '.') {
      decimals = 0;
    } else if (!decimals || *decimals < digits) {
      value = value * 10 + (character - '0');
      if (decimals) ++*decimals;
    }
  }
  for (unsigned i = decimals.value_or(0); i < digits; ++i) value *= 10;
  return negative ? -value : value;
}

std::int64_t Rows::affected() const {
  const std::string_view digits = PQcmdTuples(result_.get());
  std::int64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

void Connection::Finish::operator()(pg_conn* connection) const noexcept {
  PQfinish(connection);
}

Connection::~Connection() = default;

Result<std::unique_ptr<Connection>> Connection::open(const std::string& url,
                                                     Pipelining pipelining) {
  std::unique_ptr<Connection> connection{new Connection{PQconnectdb(url.c_str()), pipelining}};
  PGconn* raw = connection->connection_.get();
  if (PQstatus(raw) != CONNECTION_OK) return fail(connection->lost());
  PQsetNoticeProcessor(raw, [](void*, const char*) {}, nullptr);
  return connection;
}

Error Connection::lost() const {
  return Error{sqlstate::io_error, PQerrorMessage(connection_.get())};
}

Result<Rows> Connection::checked(pg_result* result) {
  if (result == nullptr) return fail(lost());
  Rows rows{result};
  switch (PQresultStatus(result)) {
    case PGRES_COMMAND_OK:
    case PGRES_TUPLES_OK:
    case PGRES_SINGLE_TUPLE:
      return rows;
    default:
      break;
  }
  const char* code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  return fail(state_of(code == nullptr ? "" : code), PQresultErrorMessage(result));
}

Result<Rows> Connection::execute(const std::string& sql) {
  return checked(PQexec(connection_.get(), sql.c_str()));
}

Result<> Connection::prepare(std::uint32_t statement, const std::string& sql) {
  if (names_.size() <= statement) names_.resize(statement + 1);
  names_[statement] = "s" + std::to_string(statement);
  RETURN_IF_ERROR(
      checked(PQprepare(connection_.get(), names_[statement].c_str(), sql.c_str(), 0, nullptr)));
  return {};
}

Result<std::vector<Rows>> Connection::run(const std::vector<Call>& calls) {
  if (pipelining_ == Pipelining::on && calls.size() > 1) return run_pipelined(calls);
  std::vector<Rows> results;
  results.reserve(calls.size());
  for (const Call& call : calls) {
    RETURN_IF_ERROR(send(call));
    ASSIGN_OR_RETURN(Rows rows, checked(PQgetResult(connection_.get())));
    results.push_back(std::move(rows));
    while (pg_result* rest = PQgetResult(connection_.get())) PQclear(rest);
  }
  return results;
}

Result<> Connection::send(const Call& call) {
  std::vector<const char*> values;
  values.reserve(call.parameters.size());
  for (const std::string& parameter : call.parameters) values.push_back(parameter.c_str());
  const int sent =
      PQsendQueryPrepared(connection_.get(), names_[call.statement].c_str(),
                          static_cast<int>(values.size()), values.data(), nullptr, nullptr, 0);
  return sent == 1 ? Result<>{} : fail(lost());
}

Result<std::vector<Rows>> Connection::run_pipelined(const std::vector<Call>& calls) {
  PGconn* raw = connection_.get();
  if (PQenterPipelineMode(raw) != 1) return fail(lost());
  for (const Call& call : calls) RETURN_IF_ERROR(send(call));
  if (PQpipelineSync(raw) != 1) return fail(lost());
  std::vector<Rows> results;
  results.reserve(calls.size());
  std::optional<Error> first_error;
  // Per call one result and one null; after an error the calls behind it are marked as aborted. The
  // sync's own result comes last.
  while (true) {
    pg_result* result = PQgetResult(raw);
    if (result == nullptr) {
      if (PQstatus(raw) != CONNECTION_OK) return fail(lost());
      continue;
    }
    if (PQresultStatus(result) == PGRES_PIPELINE_SYNC) {
      PQclear(result);
      break;
    }
    Result<Rows> rows = checked(result);
    if (rows) {
      results.push_back(std::move(*rows));
    } else if (!first_error) {
      first_error = std::move(rows).error();
    }
  }
  PQexitPipelineMode(raw);
  if (first_error) return fail(std::move(*first_error));
  return results;
}

void Connection::roll_back() {
  PGconn* raw = connection_.get();
  while (pg_result* rest = PQgetResult(raw)) PQclear(rest);
  if (PQtransactionStatus(raw) != PQTRANS_IDLE) PQclear(PQexec(raw, "ROLLBACK"));
}

Result<> Connection::stream(const std::string& sql, const std::function<void(const Rows&)>& visit) {
  PGconn* raw = connection_.get();
  if (PQsendQuery(raw, sql.c_str()) != 1) return fail(lost());
  PQsetSingleRowMode(raw);
  std::optional<Error> error;
  while (pg_result* result = PQgetResult(raw)) {
    Result<Rows> rows = checked(result);
    if (!rows) {
      error = std::move(rows).error();
    } else if (rows->count() == 1) {
      visit(*rows);
    }
  }
  return error ? Result<>{fail(std::move(*error))} : Result<>{};
}

Result<> Connection::copy_in(const std::string& sql,
                             const std::function<bool(std::string&)>& next) {
  PGconn* raw = connection_.get();
  pg_result* started = PQexec(raw, sql.c_str());
  const bool copying = PQresultStatus(started) == PGRES_COPY_IN;
  if (!copying) {
    RETURN_IF_ERROR(checked(started));
    return fail(sqlstate::internal_error, "COPY did not start: " + sql);
  }
  PQclear(started);
  std::string buffer;
  bool more = true;
  while (more) {
    more = next(buffer);
    if (buffer.size() < (std::size_t{64} << 10U) && more) continue;
    if (PQputCopyData(raw, buffer.data(), static_cast<int>(buffer.size())) != 1) {
      return fail(lost());
    }
    buffer.clear();
  }
  if (PQputCopyEnd(raw, nullptr) != 1) return fail(lost());
  std::optional<Error> error;
  while (pg_result* result = PQgetResult(raw)) {
    Result<Rows> rows = checked(result);
    if (!rows) error = std::move(rows).error();
  }
  return error ? Result<>{fail(std::move(*error))} : Result<>{};
}

}  // namespace swizzle::tpcc
