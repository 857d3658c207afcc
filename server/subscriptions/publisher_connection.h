#pragma once

#include <memory>
#include <string>

#include "server/standby/replication_link.h"
#include "sql-lite-frontend/publisher.h"

namespace swizzle::server {

/// Connects to publishers by libpq. Each worker has one of its own, so that it can be stopped.
class PublisherConnections final : public sql::PublisherDoor {
 public:
  Result<std::unique_ptr<sql::PublisherLink>> connect(const sql::PublisherTarget& target) override;
  Result<> check(const std::string& conninfo, bool must_have_password) override;
  void stop() noexcept override { interrupt_.raise(); }
  [[nodiscard]] bool is_stopping() const noexcept override { return interrupt_.is_raised(); }
  void log(const sql::Diagnostic& diagnostic) override;
  /// Waits; returns early once stopped.
  void wait_for(Duration longest) const noexcept { interrupt_.wait_for(longest); }

 private:
  LinkInterrupt interrupt_;
};

}  // namespace swizzle::server
