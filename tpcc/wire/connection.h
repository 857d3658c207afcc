#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

struct pg_conn;
struct pg_result;

namespace swizzle::tpcc {

/// The rows of one statement. Columns are text, as the server sent them.
class Rows {
 public:
  explicit Rows(pg_result* result) : result_(result) {}
  [[nodiscard]] int count() const;
  [[nodiscard]] bool is_null(int row, int column) const;
  [[nodiscard]] std::string_view text(int row, int column) const;
  [[nodiscard]] std::int64_t number(int row, int column) const;
  /// A numeric(…, 2) in cents, or a numeric(…, 4) in ten-thousandths.
  [[nodiscard]] std::int64_t scaled(int row, int column, unsigned digits) const;
  /// Rows that INSERT, UPDATE or DELETE touched.
  [[nodiscard]] std::int64_t affected() const;

 private:
  struct Clear {
    void operator()(pg_result* result) const noexcept;
  };
  std::unique_ptr<pg_result, Clear> result_;
};

/// A prepared statement's text and, in Call, its number.
struct Call {
  std::uint32_t statement = 0;
  std::vector<std::string> parameters;
};

enum class Pipelining : std::uint8_t { off, on };

/// One libpq connection. Blocking: one thread each.
class Connection {
 public:
  static Result<std::unique_ptr<Connection>> open(const std::string& url, Pipelining pipelining);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  /// By the simple protocol; for set-up.
  Result<Rows> execute(const std::string& sql);
  Result<> prepare(std::uint32_t statement, const std::string& sql);
  /// Runs all calls in order; one round trip for all with pipelining, one each without. Stops at
  /// the first that fails.
  Result<std::vector<Rows>> run(const std::vector<Call>& calls);
  /// Ends an open transaction after an error.
  void roll_back();

  /// Calls `visit` row by row without holding them all.
  Result<> stream(const std::string& sql, const std::function<void(const Rows& row)>& visit);
  /// COPY … FROM STDIN: `next` appends lines to the buffer and returns false at the end.
  Result<> copy_in(const std::string& sql, const std::function<bool(std::string& buffer)>& next);

 private:
  Connection(pg_conn* connection, Pipelining pipelining)
      : connection_(connection), pipelining_(pipelining) {}
  Result<Rows> checked(pg_result* result);
  Result<> send(const Call& call);
  Result<std::vector<Rows>> run_pipelined(const std::vector<Call>& calls);
  [[nodiscard]] Error lost() const;

  struct Finish {
    void operator()(pg_conn* connection) const noexcept;
  };
  std::unique_ptr<pg_conn, Finish> connection_;
  Pipelining pipelining_;
  std::vector<std::string> names_;
};

}  // namespace swizzle::tpcc
