#include "server/session/connection.h"

#include <algorithm>
#include <exception>
#include <new>
#include <optional>

#include "base/fibers/crash_report.h"
#include "server/protocol/backend_messages.h"
#include "server/session/conversation.h"
#include "server/session/login.h"
#include "server/session/reports.h"
#include "sql-lite-frontend/session_usage.h"

namespace swizzle::server {
namespace {

/// Subject of a crash report: the statement that the session runs.
class RunningStatement final : public CrashSubject {
 public:
  explicit RunningStatement(const sql::Session& session) : session_(session) {}
  std::size_t describe(std::span<char> into) const noexcept override {
    constexpr std::string_view kLabel = "STATEMENT:  ";
    if (into.size() < kLabel.size()) return 0;
    std::ranges::copy(kLabel, into.begin());
    return kLabel.size() + session_.describe_work(into.subspan(kLabel.size()));
  }

 private:
  const sql::Session& session_;
};

/// Parts of a connection, in the order of construction.
class Connection {
 public:
  Connection(Stream& stream, const Peer& peer, ServerContext& context, SocketWaiter& waiter,
             BufferPool& buffers)
      : peer_(peer),
        context_(context),
        interrupts_(Runtime::current().parker()),
        channel_(stream, waiter, interrupts_, buffers) {}

  void serve() {
    if (auto place = context_.registry().enter(interrupts_); place) {
      converse(*place);
    } else {
      tell(report_of(sql::Severity::fatal, place.error()));
    }
    channel_.flush();
    channel_.stream().close();
  }

 private:
  /// Returns the connection's subject for log lines.
  [[nodiscard]] LogSubject subject_of(const sql::SessionOptions& options) const {
    LogSubject subject;
    subject.user = options.user;
    subject.database = options.database;
    subject.host = peer_.address ? peer_.address->text() : "[local]";
    subject.port = peer_.port;
    subject.backend_pid = static_cast<std::uint32_t>(options.backend_pid);
    subject.connected_us = Runtime::current().wall_clock_us();
    return subject;
  }
  void note_refusal(const sql::Diagnostic& why, LogSubject& subject) {
    context_.log().write({.severity = sql::severity_name(why.severity),
                          .message = why.message,
                          .sqlstate = why.state.code()},
                         &subject);
  }
  void tell(const sql::Diagnostic& diagnostic) {
    put_report(channel_.out(), BackendKind::error_response, diagnostic);
  }

  void converse(SessionRegistry::Place& place);
  void end_after(const std::exception_ptr& fault);

  const Peer& peer_;
  ServerContext& context_;
  Interrupts interrupts_;
  Channel channel_;
};

void Connection::converse(SessionRegistry::Place& place) {
  std::optional<Admission> admission = Login{channel_, peer_, context_, place.id()}.run();
  if (!admission) return;
  admission->options.backend_pid = static_cast<std::int32_t>(place.id());
  admission->options.wake = [this] { interrupts_.announce_news(); };
  admission->options.end = [this] { interrupts_.request_end(EndReason::administrator); };
  LogSubject subject = subject_of(admission->options);
  const bool is_replication = admission->options.is_replication;
  const auto whom = admission->is_physical_replication
                        ? sql::ReplicationCommands::For::followers
                        : sql::ReplicationCommands::For::readers_of_changes;
  auto session = context_.database().connect(std::move(admission->options));
  if (!session) {
    session.error().severity = sql::Severity::fatal;
    note_refusal(session.error(), subject);
    return tell(session.error());
  }
  const Rank rank = (*session)->setting("is_superuser") == "on" ? Rank::superuser : Rank::ordinary;
  if (auto admitted = place.admit(rank); !admitted) {
    sql::usage_of(**session).note_end(sql::SessionEnd::refused);
    return tell(report_of(sql::Severity::fatal, admitted.error()));
  }
  if (admission->is_physical_replication)
    place.note_follower();
  else if (is_replication)
    place.note_change_reader();
  const std::size_t key_bytes = admission->version >= ProtocolVersion{3, 2}
                                    ? SessionRegistry::kLongKeyBytes
                                    : SessionRegistry::kShortKeyBytes;
  const Bytes key = place.attach(**session, channel_.stream().descriptor(), key_bytes);
  std::exception_ptr fault;
  try {
    const RunningStatement statement{**session};
    const CrashSubjectScope crash_scope{statement};
    SessionJournal journal{context_.statement_metrics(), context_.log(), sql::usage_of(**session),
                           std::move(subject)};
    Conversation conversation{channel_, **session, interrupts_, context_.statement_timer(),
                              journal};
    if (is_replication) conversation.allow_replication(whom, context_.copy_server());
    journal.note_connection();
    conversation.greet(place.id(), key);
    conversation.run();
    journal.note_disconnection();
  } catch (...) {
    // A catch block must not park, and the session's end may: leave it first.
    fault = std::current_exception();
  }
  if (fault) end_after(fault);
  place.detach();
}

/// Ends the session: outside of statements no answer can carry an error.
void Connection::end_after(const std::exception_ptr& fault) {
  channel_.flush();
  std::optional<sql::Diagnostic> report;
  try {
    std::rethrow_exception(fault);
  } catch (const std::bad_alloc&) {
    refuse_without_memory(channel_.stream());
  } catch (const std::exception& error) {
    report = fatal_report(sqlstate::internal_error, error.what());
  }
  if (!report) return;
  context_.log().write({.severity = sql::severity_name(report->severity),
                        .message = report->message,
                        .sqlstate = report->state.code()},
                       nullptr);
  tell(*report);
  channel_.flush();
}

}  // namespace

void serve_connection(Stream& stream, const Peer& peer, ServerContext& context,
                      SocketWaiter& waiter, BufferPool& buffers) {
  try {
    Connection{stream, peer, context, waiter, buffers}.serve();
  } catch (const std::bad_alloc&) {
    refuse_without_memory(stream);
  }
}

void refuse_without_memory(Stream& stream) noexcept {
  // The same bytes as put_report() writes, without an allocation.
  static constexpr char kReport[] = "E\0\0\0\x29SFATAL\0VFATAL\0C53200\0Mout of memory\0";
  static_cast<void>(stream.write(as_bytes(std::string_view{kReport, sizeof kReport})));
}

}  // namespace swizzle::server
