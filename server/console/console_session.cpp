#include "server/console/console_session.h"

#include "server/console/json_sink.h"
#include "server/session/reports.h"
#include "sql-lite-frontend/session_usage.h"
#include "sql-lite-frontend/silent_sink.h"

namespace swizzle::server {
namespace {

class FirstValue final : public sql::SilentSink {
 public:
  void data_row(const sql::OutputRow& row) override {
    if (!value && row.size() > 0) value = row.text(0);
  }
  std::optional<std::string> value;
};

}  // namespace

ConsoleSession::ConsoleSession(ServerContext& context)
    : context_(context), interrupts_(Runtime::current().parker()) {}

ConsoleSession::~ConsoleSession() = default;

std::expected<std::unique_ptr<ConsoleSession>, sql::Diagnostic> ConsoleSession::open(
    ServerContext& context, const std::string& user, const std::string& database,
    const std::optional<sql::Endpoint>& client, std::function<void()> on_end) {
  std::unique_ptr<ConsoleSession> made{new ConsoleSession{context}};
  auto place = context.registry().enter(made->interrupts_);
  if (!place) return std::unexpected{report_of(sql::Severity::fatal, place.error())};
  made->place_.emplace(std::move(*place));
  sql::SessionOptions options;
  options.user = user;
  options.database = database;
  options.parameters = {{"application_name", "swizzle console"},
                        {"search_path", "pg_catalog"},
                        {"default_transaction_read_only", "on"},
                        {"lock_timeout", "1s"},
                        {"DateStyle", "ISO"},
                        {"TimeZone", "UTC"}};
  options.backend_pid = static_cast<std::int32_t>(made->place_->id());
  options.client = client;
  Interrupts& interrupts = made->interrupts_;
  options.end = [&interrupts, on_end = std::move(on_end)] {
    interrupts.request_end(EndReason::administrator);
    on_end();
  };
  auto session = context.database().connect(std::move(options));
  if (!session) return std::unexpected{std::move(session.error())};
  made->session_ = std::move(*session);
  const Rank rank = made->has_setting_on("is_superuser") ? Rank::superuser : Rank::ordinary;
  if (auto admitted = made->place_->admit(rank); !admitted) {
    sql::usage_of(*made->session_).note_end(sql::SessionEnd::refused);
    return std::unexpected{report_of(sql::Severity::fatal, admitted.error())};
  }
  return made;
}

bool ConsoleSession::has_setting_on(std::string_view name) const {
  return session_->setting(name) == "on";
}

std::expected<void, sql::Diagnostic> ConsoleSession::run(std::string_view statement,
                                                         sql::ResultSink& sink) {
  StatementTimer::Watch watch{context_.statement_timer(), *session_};
  watch.start(kLongestStatement, StatementTimer::Watch::Ends::statement);
  return session_->simple_query(statement, sink);
}

std::expected<std::string, sql::Diagnostic> ConsoleSession::ask(std::string_view statement) {
  JsonSink sink;
  if (auto done = run(statement, sink); !done) return std::unexpected{std::move(done.error())};
  return sink.take();
}

std::optional<std::string> ConsoleSession::value_of(std::string_view statement) {
  FirstValue sink;
  if (!run(statement, sink)) return std::nullopt;
  return std::move(sink.value);
}

}  // namespace swizzle::server
