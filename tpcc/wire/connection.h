#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace swizzle::tpcc {

/// The rows of one statement. Columns are text.
class Rows {
 public:
  /// A driver's result.
  class Source {
   public:
    Source() = default;
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;
    virtual ~Source() = default;
    [[nodiscard]] virtual int count() const = 0;
    [[nodiscard]] virtual bool is_null(int row, int column) const = 0;
    [[nodiscard]] virtual std::string_view text(int row, int column) const = 0;
    /// The number of rows in the command's tag, as text.
    [[nodiscard]] virtual std::string_view affected() const = 0;
  };

  explicit Rows(std::unique_ptr<Source> source) : source_(std::move(source)) {}
  [[nodiscard]] int count() const { return source_->count(); }
  [[nodiscard]] bool is_null(int row, int column) const { return source_->is_null(row, column); }
  [[nodiscard]] std::string_view text(int row, int column) const {
    return source_->text(row, column);
  }
  [[nodiscard]] std::int64_t number(int row, int column) const;
  /// A numeric(…, 2) in cents, or a numeric(…, 4) in ten-thousandths.
  [[nodiscard]] std::int64_t scaled(int row, int column, unsigned digits) const;
  /// Rows that INSERT, UPDATE or DELETE touched.
  [[nodiscard]] std::int64_t affected() const;

 private:
  std::unique_ptr<Source> source_;
};

/// A prepared statement's number and parameters.
struct Call {
  std::uint32_t statement = 0;
  std::vector<std::string> parameters;
};

enum class Pipelining : std::uint8_t { off, on };

/// A conversation in SQL, over the wire or within the process. One thread or fiber at a time.
class Connection {
 public:
  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  virtual ~Connection() = default;

  /// Runs a statement by the simple protocol; for set-up.
  virtual Result<Rows> execute(const std::string& sql) = 0;
  virtual Result<> prepare(std::uint32_t statement, const std::string& sql) = 0;
  /// Runs all calls in order, and stops at the first that fails.
  virtual Result<std::vector<Rows>> run(const std::vector<Call>& calls) = 0;
  /// Ends an open transaction after an error.
  virtual void roll_back() = 0;

  /// Calls `visit` row by row without holding them all.
  virtual Result<> stream(const std::string& sql,
                          const std::function<void(const Rows& row)>& visit) = 0;
  /// COPY … FROM STDIN: `next` appends lines to the buffer and returns false at the end.
  virtual Result<> copy_in(const std::string& sql,
                           const std::function<bool(std::string& buffer)>& next) = 0;
};

/// Opens connections to one database.
using Connect = std::function<Result<std::unique_ptr<Connection>>(Pipelining)>;

/// SQLSTATE that the procedure of a new order raises for an item that does not exist.
inline constexpr SqlState kUnusedItem{"TC001"};
/// The codes that the driver tells apart; any other is XX000.
SqlState known_state(std::string_view code) noexcept;

}  // namespace swizzle::tpcc
