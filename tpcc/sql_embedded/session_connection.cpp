#include "tpcc/sql_embedded/session_connection.h"

#include <optional>

#include "sql-lite-frontend/silent_sink.h"

namespace swizzle::tpcc {
namespace {

std::unexpected<Error> failure(const sql::Diagnostic& diagnostic) {
  return fail(known_state(diagnostic.state.code()), diagnostic.message);
}

/// Rows that were copied out of the session.
class KeptRows final : public Rows::Source {
 public:
  [[nodiscard]] int count() const override { return static_cast<int>(rows.size()); }
  [[nodiscard]] bool is_null(int row, int column) const override { return !at(row, column); }
  [[nodiscard]] std::string_view text(int row, int column) const override {
    const std::optional<std::string>& value = at(row, column);
    return value ? std::string_view{*value} : std::string_view{};
  }
  [[nodiscard]] std::string_view affected() const override {
    const std::size_t space = tag.rfind(' ');
    return space == std::string::npos ? std::string_view{}
                                      : std::string_view{tag}.substr(space + 1);
  }

  std::vector<std::vector<std::optional<std::string>>> rows;
  std::string tag;

 private:
  [[nodiscard]] const std::optional<std::string>& at(int row, int column) const {
    return rows[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
  }
};

/// Collects the rows of statements without COPY.
class RowSink : public sql::SilentSink {
 public:
  void data_row(const sql::OutputRow& row) override {
    std::vector<std::optional<std::string>> values;
    values.reserve(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) values.push_back(row.text(i));
    kept->rows.push_back(std::move(values));
  }
  void command_complete(std::string_view tag) override { kept->tag = tag; }

  std::unique_ptr<KeptRows> kept = std::make_unique<KeptRows>();
};

/// Hands each row on and forgets it.
class StreamSink final : public RowSink {
 public:
  explicit StreamSink(const std::function<void(const Rows& row)>& visit) : visit_(visit) {}
  void data_row(const sql::OutputRow& row) override {
    RowSink::data_row(row);
    visit_(Rows{std::exchange(kept, std::make_unique<KeptRows>())});
  }

 private:
  const std::function<void(const Rows& row)>& visit_;
};

class CopySink final : public RowSink {
 public:
  explicit CopySink(const std::function<bool(std::string& buffer)>& next) : next_(next) {}
  std::expected<std::optional<Bytes>, sql::Diagnostic> copy_in_data() override {
    buffer_.clear();
    while (!at_end_ && buffer_.size() < kPiece) at_end_ = !next_(buffer_);
    if (buffer_.empty()) return std::optional<Bytes>{};
    return std::optional{as_bytes(buffer_)};
  }

 private:
  static constexpr std::size_t kPiece = std::size_t{64} << 10U;
  const std::function<bool(std::string& buffer)>& next_;
  std::string buffer_;
  bool at_end_ = false;
};

}  // namespace

Result<std::unique_ptr<Connection>> SessionConnection::open(sql::Database& database,
                                                            std::int32_t number) {
  sql::SessionOptions options;
  options.backend_pid = number;
  auto session = database.connect(std::move(options));
  if (!session) return failure(session.error());
  return std::unique_ptr<Connection>{new SessionConnection{std::move(*session)}};
}

Result<Rows> SessionConnection::execute(const std::string& sql) {
  RowSink sink;
  if (const auto done = session_->simple_query(sql, sink); !done) return failure(done.error());
  return Rows{std::move(sink.kept)};
}

Result<> SessionConnection::prepare(std::uint32_t statement, const std::string& sql) {
  if (names_.size() <= statement) names_.resize(statement + 1);
  names_[statement] = "s" + std::to_string(statement);
  RowSink sink;
  if (const auto done = session_->parse(names_[statement], sql, {}, sink); !done) {
    return failure(done.error());
  }
  return {};
}

Result<Rows> SessionConnection::run_one(const Call& call) {
  std::vector<std::optional<Bytes>> values;
  values.reserve(call.parameters.size());
  for (const std::string& parameter : call.parameters) values.emplace_back(as_bytes(parameter));
  RowSink sink;
  sql::Outcome done = session_->bind({"", names_[call.statement], {}, values, {}}, sink);
  if (done) done = session_->execute("", 0, sink);
  // As over the wire, where each call ends with Sync: a failed one first, then its Sync.
  const sql::Outcome synced = session_->sync(sink);
  if (!done) return failure(done.error());
  if (!synced) return failure(synced.error());
  return Rows{std::move(sink.kept)};
}

Result<std::vector<Rows>> SessionConnection::run(const std::vector<Call>& calls) {
  std::vector<Rows> results;
  results.reserve(calls.size());
  for (const Call& call : calls) {
    ASSIGN_OR_RETURN(Rows rows, run_one(call));
    results.push_back(std::move(rows));
  }
  return results;
}

void SessionConnection::roll_back() {
  if (session_->transaction_status() == sql::TransactionStatus::idle) return;
  // ROLLBACK of a transaction block does not fail.
  (void)execute("ROLLBACK");
}

Result<> SessionConnection::stream(const std::string& sql,
                                   const std::function<void(const Rows& row)>& visit) {
  StreamSink sink{visit};
  if (const auto done = session_->simple_query(sql, sink); !done) return failure(done.error());
  return {};
}

Result<> SessionConnection::copy_in(const std::string& sql,
                                    const std::function<bool(std::string& buffer)>& next) {
  CopySink sink{next};
  if (const auto done = session_->simple_query(sql, sink); !done) return failure(done.error());
  return {};
}

}  // namespace swizzle::tpcc
