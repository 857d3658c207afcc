#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fibers/descriptor_watch.h"
#include "tpcc/wire/connection.h"

struct pg_conn;
struct pg_result;

namespace swizzle::tpcc {

/// Connection by libpq. With pipelining, run() is one round trip for all its calls. In a fiber,
/// calls within a transaction let other fibers run while they wait; the fiber that used it first
/// also ends it. Setting up, stream() and copy_in() block their thread.
class LibpqConnection final : public Connection {
 public:
  static Result<std::unique_ptr<Connection>> open(const std::string& url, Pipelining pipelining);
  ~LibpqConnection() override;

  Result<Rows> execute(const std::string& sql) override;
  Result<> prepare(std::uint32_t statement, const std::string& sql) override;
  Result<std::vector<Rows>> run(const std::vector<Call>& calls) override;
  void roll_back() override;
  Result<> stream(const std::string& sql,
                  const std::function<void(const Rows& row)>& visit) override;
  Result<> copy_in(const std::string& sql,
                   const std::function<bool(std::string& buffer)>& next) override;

 private:
  LibpqConnection(pg_conn* connection, Pipelining pipelining)
      : connection_(connection), pipelining_(pipelining) {}
  /// The next of a request's results; null after the last.
  pg_result* next_result();
  void drop_results();
  Result<Rows> checked(pg_result* result);
  Result<> send(const Call& call);
  Result<std::vector<Rows>> run_pipelined(const std::vector<Call>& calls);
  [[nodiscard]] Error lost() const;

  struct Finish {
    void operator()(pg_conn* connection) const noexcept;
  };
  std::unique_ptr<pg_conn, Finish> connection_;
  /// From the first wait in a fiber on.
  std::optional<DescriptorWatch> watch_;
  Pipelining pipelining_;
  std::vector<std::string> names_;
};

}  // namespace swizzle::tpcc
