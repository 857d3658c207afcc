#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sql-lite-frontend/session.h"
#include "tpcc/wire/connection.h"

namespace swizzle::tpcc {

/// The frontend in this process: the same statements as over the wire, without a server and without
/// messages. Parameters and results are text, as libpq's are here.
class SessionConnection final : public Connection {
 public:
  static Result<std::unique_ptr<Connection>> open(sql::Database& database, std::int32_t number);

  Result<Rows> execute(const std::string& sql) override;
  Result<> prepare(std::uint32_t statement, const std::string& sql) override;
  Result<std::vector<Rows>> run(const std::vector<Call>& calls) override;
  void roll_back() override;
  Result<> stream(const std::string& sql,
                  const std::function<void(const Rows& row)>& visit) override;
  Result<> copy_in(const std::string& sql,
                   const std::function<bool(std::string& buffer)>& next) override;

 private:
  explicit SessionConnection(std::unique_ptr<sql::Session> session)
      : session_(std::move(session)) {}
  Result<Rows> run_one(const Call& call);

  std::unique_ptr<sql::Session> session_;
  std::vector<std::string> names_;
};

}  // namespace swizzle::tpcc
