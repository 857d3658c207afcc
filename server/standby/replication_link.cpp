#include "server/standby/replication_link.h"

#include <fmt/format.h>
#include <libpq-fe.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace swizzle::server {
namespace {

constexpr SqlState kConnectionFailure{"08006"};
constexpr Duration kConnectsFor = std::chrono::seconds{15};
constexpr Duration kAnswersFor = std::chrono::seconds{60};
/// Interval between looks for a cancel of the statement that waits.
constexpr Duration kLooksEvery = std::chrono::milliseconds{20};

std::string trimmed(const char* message) {
  std::string text = message == nullptr ? "" : message;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

int milliseconds(Duration longest) noexcept {
  const auto count = std::chrono::ceil<std::chrono::milliseconds>(longest).count();
  return static_cast<int>(std::min<std::int64_t>(count, INT32_MAX));
}

/// As a connection string has it.
std::string quoted_value(std::string_view value) {
  const auto is_plain = [](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '.';
  };
  if (std::ranges::all_of(value, is_plain)) return std::string{value};
  std::string text = "'";
  for (const char letter : value) {
    if (letter == '\\' || letter == '\'') text += '\\';
    text += letter;
  }
  return text + '\'';
}

std::string after(std::string_view what, std::string_view message) {
  return what.empty() ? std::string{message} : fmt::format("{}: {}", what, message);
}

/// The error as libpq prints it.
Error told_error(const pg_result* result) {
  return {kConnectionFailure, trimmed(::PQresultErrorMessage(result))};
}

}  // namespace

LinkInterrupt::LinkInterrupt()
    : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      nudges_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void LinkInterrupt::nudge() noexcept {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(nudges_.get(), &one, sizeof one));
}

bool LinkInterrupt::take_nudge() const noexcept {
  std::uint64_t count = 0;
  return ::read(nudges_.get(), &count, sizeof count) > 0;
}

void LinkInterrupt::raise() noexcept {
  is_raised_.store(true);
  const std::uint64_t one = 1;
  static_cast<void>(!::write(event_.get(), &one, sizeof one));
}

void LinkInterrupt::wait_for(Duration longest) const noexcept {
  pollfd waits{event_.get(), POLLIN, 0};
  ::poll(&waits, 1, milliseconds(longest));
}

void ReplicationLink::ClearResult::operator()(pg_result* result) const noexcept {
  ::PQclear(result);
}

ReplicationLink::~ReplicationLink() {
  if (buffer_ != nullptr) ::PQfreemem(buffer_);
  ::PQfinish(connection_);
}

Error ReplicationLink::lost(std::string_view what) const {
  return {kConnectionFailure, after(what, trimmed(::PQerrorMessage(connection_)))};
}

Error ReplicationLink::error_of(const pg_result* result, std::string_view what) const {
  const char* const message = ::PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  if (message == nullptr) return lost(what);
  Error error{kConnectionFailure, after(what, message)};
  if (const char* detail = ::PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL))
    error = std::move(error).with_detail(detail);
  if (const char* hint = ::PQresultErrorField(result, PG_DIAG_MESSAGE_HINT))
    error = std::move(error).with_hint(hint);
  return error;
}

Result<bool> ReplicationLink::await(short events, Duration longest) const {
  Overseer* const overseer = Runtime::current().parker().overseer;
  if (overseer != nullptr) longest = std::min(longest, kLooksEvery);
  std::array<pollfd, 3> waits{{{::PQsocket(connection_), events, 0},
                               {interrupt_.descriptor(), POLLIN, 0},
                               {interrupt_.nudge_descriptor(), POLLIN, 0}}};
  const int ready = ::poll(waits.data(), waits.size(), milliseconds(longest));
  if (overseer != nullptr) overseer->look();
  if (ready < 0 && errno != EINTR)
    return fail(kConnectionFailure, fmt::format("could not wait for {}", peer_));
  return ready > 0 && waits[0].revents != 0;
}

Result<std::unique_ptr<ReplicationLink>> ReplicationLink::connect(const Parameters& parameters,
                                                                  const LinkInterrupt& interrupt,
                                                                  std::string peer) {
  std::vector<const char*> names;
  std::vector<const char*> values;
  for (const auto& [name, value] : parameters) {
    names.push_back(name.c_str());
    values.push_back(value.c_str());
  }
  names.push_back(nullptr);
  values.push_back(nullptr);
  pg_conn* const connection = ::PQconnectStartParams(names.data(), values.data(), 1);
  if (connection == nullptr) return fail(sqlstate::out_of_memory, "out of memory");
  std::unique_ptr<ReplicationLink> link{
      new ReplicationLink{connection, interrupt, std::move(peer)}};
  RETURN_IF_ERROR(link->finish_connecting());
  return link;
}

Result<> ReplicationLink::finish_connecting() {
  const TimePoint deadline = Runtime::current().now() + kConnectsFor;
  if (::PQstatus(connection_) == CONNECTION_BAD) return fail(lost(""));
  short events = POLLOUT;
  for (;;) {
    const Duration left = deadline - Runtime::current().now();
    if (interrupt_.is_raised() || left <= Duration::zero())
      return fail(kConnectionFailure, "no answer");
    ASSIGN_OR_RETURN(const bool is_ready, await(events, left));
    if (!is_ready) static_cast<void>(interrupt_.take_nudge());
    if (!is_ready) continue;
    switch (::PQconnectPoll(connection_)) {
      case PGRES_POLLING_OK:
        return {};
      case PGRES_POLLING_READING:
        events = POLLIN;
        break;
      case PGRES_POLLING_WRITING:
        events = POLLOUT;
        break;
      default:
        return fail(lost(""));
    }
  }
}

Result<ReplicationLink::Answer> ReplicationLink::take_answer(std::string_view what) {
  const TimePoint deadline = Runtime::current().now() + kAnswersFor;
  while (::PQisBusy(connection_) != 0) {
    const Duration left = deadline - Runtime::current().now();
    if (interrupt_.is_raised() || left <= Duration::zero())
      return fail(kConnectionFailure, after(what, "no answer"));
    ASSIGN_OR_RETURN(const bool is_ready, await(POLLIN, left));
    if (!is_ready) static_cast<void>(interrupt_.take_nudge());
    if (is_ready && ::PQconsumeInput(connection_) == 0) return fail(lost(what));
  }
  return Answer{::PQgetResult(connection_)};
}

Result<ReplicationLink::Answer> ReplicationLink::run(const std::string& command, int expected) {
  constexpr std::size_t kShown = 80;
  const std::string what =
      fmt::format("could not run {} on {}", std::string_view{command}.substr(0, kShown), peer_);
  if (::PQsendQuery(connection_, command.c_str()) == 0) return fail(lost(what));
  ASSIGN_OR_RETURN(Answer answer, take_answer(what));
  if (answer == nullptr || ::PQresultStatus(answer.get()) != expected)
    return fail(error_of(answer.get(), what));
  if (expected == PGRES_TUPLES_OK || expected == PGRES_COMMAND_OK) {
    while (Answer rest{::PQgetResult(connection_)}) continue;
  }
  return answer;
}

Result<> ReplicationLink::start(const std::string& command, int expected) {
  if (::PQsendQuery(connection_, command.c_str()) == 0) return fail(lost(""));
  ASSIGN_OR_RETURN(const Answer answer, take_answer(""));
  if (answer == nullptr) return fail(lost(""));
  if (::PQresultStatus(answer.get()) != expected) return fail(told_error(answer.get()));
  return {};
}

Result<std::vector<ReplicationLink::Row>> ReplicationLink::ask(const std::string& command) {
  if (::PQsendQuery(connection_, command.c_str()) == 0) return fail(lost(""));
  std::vector<Row> rows;
  std::optional<Error> failure;
  for (;;) {
    ASSIGN_OR_RETURN(const Answer answer, take_answer(""));
    if (answer == nullptr) break;
    const auto status = ::PQresultStatus(answer.get());
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
      if (!failure) failure = told_error(answer.get());
      if (::PQstatus(connection_) == CONNECTION_BAD) break;
      continue;
    }
    for (int i = 0; i < ::PQntuples(answer.get()); ++i) {
      Row row;
      for (int j = 0; j < ::PQnfields(answer.get()); ++j) {
        if (::PQgetisnull(answer.get(), i, j) != 0) {
          row.emplace_back(std::nullopt);
          continue;
        }
        row.emplace_back(std::string{::PQgetvalue(answer.get(), i, j),
                                     static_cast<std::size_t>(::PQgetlength(answer.get(), i, j))});
      }
      rows.push_back(std::move(row));
    }
  }
  if (failure) return fail(*std::move(failure));
  return rows;
}

int ReplicationLink::version() const {
  return ::PQserverVersion(connection_);
}

bool ReplicationLink::has_used_password() const {
  return ::PQconnectionUsedPassword(connection_) != 0;
}

Result<ReplicationLink::Received> ReplicationLink::receive(Duration longest) {
  const std::string what = fmt::format("could not receive data from {}", peer_);
  if (buffer_ != nullptr) ::PQfreemem(std::exchange(buffer_, nullptr));
  const TimePoint deadline = Runtime::current().now() + longest;
  // A long message comes in many pieces.
  for (bool has_looked = false;; has_looked = true) {
    const int size = ::PQgetCopyData(connection_, &buffer_, 1);
    if (size > 0) {
      return Received{Arrival::message,
                      as_bytes(std::string_view{buffer_, static_cast<std::size_t>(size)})};
    }
    if (size == -2) return fail(lost(what));
    if (size == -1) {
      const Answer answer{::PQgetResult(connection_)};
      const auto status = ::PQresultStatus(answer.get());
      const bool is_good =
          status == PGRES_COMMAND_OK || status == PGRES_COPY_IN || status == PGRES_TUPLES_OK;
      if (!is_good) return fail(error_of(answer.get(), what));
      return Received{Arrival::end, {}};
    }
    const Duration left = std::max(deadline - Runtime::current().now(), Duration::zero());
    if (interrupt_.is_raised() || (has_looked && left == Duration::zero())) return Received{};
    ASSIGN_OR_RETURN(const bool is_ready, await(POLLIN, left));
    if (is_ready && ::PQconsumeInput(connection_) == 0) return fail(lost(what));
    if (!is_ready && interrupt_.take_nudge()) return Received{};
  }
}

ReplicationLink::Address ReplicationLink::address() const {
  const auto text = [](const char* known) { return std::string{known == nullptr ? "" : known}; };
  Address address{.host = text(::PQhost(connection_)), .port = 0, .conninfo = {}};
  const std::string port = text(::PQport(connection_));
  std::from_chars(port.data(), port.data() + port.size(), address.port);
  const std::unique_ptr<PQconninfoOption, decltype(&::PQconninfoFree)> options{
      ::PQconninfo(connection_), ::PQconninfoFree};
  for (const PQconninfoOption* option = options.get();
       option != nullptr && option->keyword != nullptr; ++option) {
    const std::string_view shown_as = option->dispchar;
    const std::string value = text(option->val);
    if (shown_as == "D" || value.empty()) continue;
    if (!address.conninfo.empty()) address.conninfo += ' ';
    address.conninfo += option->keyword;
    address.conninfo += '=';
    address.conninfo += shown_as == "*" ? "********" : quoted_value(value);
  }
  return address;
}

Result<> ReplicationLink::send(Bytes message) {
  const std::string_view text = as_text(message);
  if (::PQputCopyData(connection_, text.data(), static_cast<int>(text.size())) <= 0 ||
      ::PQflush(connection_) < 0)
    return fail(lost(fmt::format("could not send data to {}", peer_)));
  return {};
}

}  // namespace swizzle::server
