#include "server/subscriptions/publisher_connection.h"

#include <fmt/format.h>
#include <libpq-fe.h>
#include <spdlog/spdlog.h>

#include <string_view>
#include <utility>

namespace swizzle::server {
namespace {

constexpr SqlState kMustHavePassword{"2F003"};

class PublisherConnection final : public sql::PublisherLink {
 public:
  explicit PublisherConnection(std::unique_ptr<ReplicationLink> link) : link_(std::move(link)) {}

  Result<std::vector<Row>> ask(const std::string& statement) override {
    return link_->ask(statement);
  }
  Result<> start(const std::string& statement) override {
    const bool is_copy = statement.starts_with("COPY");
    return link_->start(statement, is_copy ? PGRES_COPY_OUT : PGRES_COPY_BOTH);
  }
  Result<Received> receive(Duration longest) override {
    ASSIGN_OR_RETURN(const ReplicationLink::Received received, link_->receive(longest));
    switch (received.arrival) {
      case ReplicationLink::Arrival::message:
        return Received{Arrival::message, received.bytes};
      case ReplicationLink::Arrival::none:
        return Received{Arrival::none, {}};
      case ReplicationLink::Arrival::end:
        break;
    }
    return Received{Arrival::end, {}};
  }
  Result<> send(Bytes message) override { return link_->send(message); }
  [[nodiscard]] int version() const override { return link_->version(); }

 private:
  std::unique_ptr<ReplicationLink> link_;
};

spdlog::level::level_enum level_of(sql::Severity severity) {
  switch (severity) {
    case sql::Severity::debug:
      return spdlog::level::debug;
    case sql::Severity::warning:
      return spdlog::level::warn;
    case sql::Severity::error:
    case sql::Severity::fatal:
      return spdlog::level::err;
    case sql::Severity::log:
    case sql::Severity::info:
    case sql::Severity::notice:
      break;
  }
  return spdlog::level::info;
}

}  // namespace

Result<std::unique_ptr<sql::PublisherLink>> PublisherConnections::connect(
    const sql::PublisherTarget& target) {
  ASSIGN_OR_RETURN(
      auto link,
      ReplicationLink::connect(
          {{"dbname", target.conninfo},
           {"replication", "database"},
           {"fallback_application_name", target.application_name},
           {"client_encoding", "UTF8"},
           {"options", "-c datestyle=ISO -c intervalstyle=postgres -c extra_float_digits=3"}},
          interrupt_, "the publisher"));
  if (target.must_use_password && !link->has_used_password()) {
    return fail(
        Error{kMustHavePassword, "password is required"}
            .with_detail("Non-superuser cannot connect if the server does not request a password.")
            .with_hint("Target server's authentication method must be changed, or set "
                       "password_required=false in the subscription parameters."));
  }
  return std::unique_ptr<sql::PublisherLink>{
      std::make_unique<PublisherConnection>(std::move(link))};
}

Result<> PublisherConnections::check(const std::string& conninfo, bool must_have_password) {
  char* message = nullptr;
  const std::unique_ptr<PQconninfoOption, decltype(&::PQconninfoFree)> options{
      ::PQconninfoParse(conninfo.c_str(), &message), ::PQconninfoFree};
  const std::unique_ptr<char, decltype(&::PQfreemem)> owned{message, ::PQfreemem};
  if (options == nullptr) {
    std::string_view text = message == nullptr ? "out of memory" : message;
    while (text.ends_with('\n')) text.remove_suffix(1);
    return fail(SqlState{"42601"}, fmt::format("invalid connection string syntax: {}", text));
  }
  if (!must_have_password) return {};
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    const bool is_password = std::string_view{option->keyword} == "password";
    if (is_password && option->val != nullptr && *option->val != '\0') return {};
  }
  return fail(Error{kMustHavePassword, "password is required"}.with_detail(
      "Non-superusers must provide a password in the connection string."));
}

void PublisherConnections::log(const sql::Diagnostic& diagnostic) {
  const auto level = level_of(diagnostic.severity);
  spdlog::log(level, "{}", diagnostic.message);
  if (!diagnostic.detail.empty()) spdlog::log(level, "DETAIL: {}", diagnostic.detail);
  if (!diagnostic.hint.empty()) spdlog::log(level, "HINT: {}", diagnostic.hint);
  if (!diagnostic.where.empty()) spdlog::log(level, "CONTEXT: {}", diagnostic.where);
}

}  // namespace swizzle::server
