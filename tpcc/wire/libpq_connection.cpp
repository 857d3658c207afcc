#include "tpcc/wire/libpq_connection.h"

#include <libpq-fe.h>
#include <poll.h>

#include <optional>
#include <utility>

#include "base/runtime/runtime.h"

namespace swizzle::tpcc {
namespace {

class ResultRows final : public Rows::Source {
 public:
  explicit ResultRows(pg_result* result) : result_(result) {}
  [[nodiscard]] int count() const override { return PQntuples(result_.get()); }
  [[nodiscard]] bool is_null(int row, int column) const override {
    return PQgetisnull(result_.get(), row, column) != 0;
  }
  [[nodiscard]] std::string_view text(int row, int column) const override {
    return {PQgetvalue(result_.get(), row, column),
            static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
  }
  [[nodiscard]] std::string_view affected() const override { return PQcmdTuples(result_.get()); }

 private:
  struct Clear {
    void operator()(pg_result* result) const noexcept { PQclear(result); }
  };
  std::unique_ptr<pg_result, Clear> result_;
};

bool has_bytes(PGconn* connection) noexcept {
  pollfd entry{PQsocket(connection), POLLIN, 0};
  return ::poll(&entry, 1, 0) == 1;
}

}  // namespace

void LibpqConnection::Finish::operator()(pg_conn* connection) const noexcept {
  PQfinish(connection);
}

LibpqConnection::~LibpqConnection() = default;

Result<std::unique_ptr<Connection>> LibpqConnection::open(const std::string& url,
                                                          Pipelining pipelining) {
  std::unique_ptr<LibpqConnection> connection{
      new LibpqConnection{PQconnectdb(url.c_str()), pipelining}};
  PGconn* raw = connection->connection_.get();
  if (PQstatus(raw) != CONNECTION_OK) return fail(connection->lost());
  PQsetNoticeProcessor(raw, [](void*, const char*) {}, nullptr);
  return std::unique_ptr<Connection>{std::move(connection)};
}

Error LibpqConnection::lost() const {
  return Error{sqlstate::io_error, PQerrorMessage(connection_.get())};
}

pg_result* LibpqConnection::next_result() {
  PGconn* raw = connection_.get();
  if (!Runtime::current().owns_its_thread()) {
    if (!watch_) watch_.emplace(PQsocket(raw));
    // Arrivals are announced once, and one look need not have taken all that had arrived.
    bool may_have_left_some = false;
    while (PQisBusy(raw) != 0) {
      if (!std::exchange(may_have_left_some, true) || !has_bytes(raw)) {
        watch_->wait(DescriptorWatch::Direction::reading, std::nullopt);
      }
      if (PQconsumeInput(raw) == 0) break;  // the result says why
    }
  }
  return PQgetResult(raw);
}

void LibpqConnection::drop_results() {
  while (pg_result* rest = next_result()) PQclear(rest);
}

Result<Rows> LibpqConnection::checked(pg_result* result) {
  if (result == nullptr) return fail(lost());
  Rows rows{std::make_unique<ResultRows>(result)};
  switch (PQresultStatus(result)) {
    case PGRES_COMMAND_OK:
    case PGRES_TUPLES_OK:
    case PGRES_SINGLE_TUPLE:
      return rows;
    default:
      break;
  }
  const char* code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  return fail(known_state(code == nullptr ? "" : code), PQresultErrorMessage(result));
}

Result<Rows> LibpqConnection::execute(const std::string& sql) {
  return checked(PQexec(connection_.get(), sql.c_str()));
}

Result<> LibpqConnection::prepare(std::uint32_t statement, const std::string& sql) {
  if (names_.size() <= statement) names_.resize(statement + 1);
  names_[statement] = "s" + std::to_string(statement);
  RETURN_IF_ERROR(
      checked(PQprepare(connection_.get(), names_[statement].c_str(), sql.c_str(), 0, nullptr)));
  return {};
}

Result<std::vector<Rows>> LibpqConnection::run(const std::vector<Call>& calls) {
  if (pipelining_ == Pipelining::on && calls.size() > 1) return run_pipelined(calls);
  std::vector<Rows> results;
  results.reserve(calls.size());
  for (const Call& call : calls) {
    RETURN_IF_ERROR(send(call));
    ASSIGN_OR_RETURN(Rows rows, checked(next_result()));
    results.push_back(std::move(rows));
    drop_results();
  }
  return results;
}

Result<> LibpqConnection::send(const Call& call) {
  std::vector<const char*> values;
  values.reserve(call.parameters.size());
  for (const std::string& parameter : call.parameters) values.push_back(parameter.c_str());
  const int sent =
      PQsendQueryPrepared(connection_.get(), names_[call.statement].c_str(),
                          static_cast<int>(values.size()), values.data(), nullptr, nullptr, 0);
  return sent == 1 ? Result<>{} : fail(lost());
}

Result<std::vector<Rows>> LibpqConnection::run_pipelined(const std::vector<Call>& calls) {
  PGconn* raw = connection_.get();
  if (PQenterPipelineMode(raw) != 1) return fail(lost());
  for (const Call& call : calls) RETURN_IF_ERROR(send(call));
  if (PQpipelineSync(raw) != 1) return fail(lost());
  std::vector<Rows> results;
  results.reserve(calls.size());
  std::optional<Error> first_error;
  // Per call one result and one null; after an error the later calls are marked as aborted. The
  // sync's own result comes last.
  while (true) {
    pg_result* result = next_result();
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

void LibpqConnection::roll_back() {
  PGconn* raw = connection_.get();
  drop_results();
  if (PQtransactionStatus(raw) == PQTRANS_IDLE) return;
  if (PQsendQuery(raw, "ROLLBACK") == 1) drop_results();
}

Result<> LibpqConnection::stream(const std::string& sql,
                                 const std::function<void(const Rows&)>& visit) {
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

Result<> LibpqConnection::copy_in(const std::string& sql,
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
