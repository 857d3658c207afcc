#include "server/standby/primary_link.h"

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

std::string trimmed(const char* message) {
  std::string text = message == nullptr ? "" : message;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

int milliseconds(Duration longest) noexcept {
  const auto count = std::chrono::ceil<std::chrono::milliseconds>(longest).count();
  return static_cast<int>(std::min<std::int64_t>(count, INT32_MAX));
}

std::string quoted_name(std::string_view name) {
  std::string text = "\"";
  for (const char letter : name) {
    if (letter == '"') text += letter;
    text += letter;
  }
  return text + '"';
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

std::string position_text(Lsn lsn) {
  return fmt::format("{:X}/{:X}", raw(lsn) >> 32U, raw(lsn) & UINT32_MAX);
}

/// Reads an LSN as the protocol writes it: two hexadecimal numbers with a slash between. Returns
/// nothing for any other text.
Lsn parse_position(std::string_view text) noexcept {
  constexpr int kHexadecimal = 16;
  std::uint32_t high = 0;
  std::uint32_t low = 0;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, high, kHexadecimal);
  if (first.ec != std::errc{} || first.ptr == end || *first.ptr != '/') return Lsn::none;
  const auto second = std::from_chars(first.ptr + 1, end, low, kHexadecimal);
  if (second.ec != std::errc{}) return Lsn::none;
  return Lsn{(std::uint64_t{high} << 32U) | low};
}

/// Drops a word by which Patroni asks a newer libpq for what an older one, which does not know it,
/// does anyway.
std::string without_unknown_default(std::string conninfo) {
  constexpr std::string_view kName = "sslnegotiation";
  constexpr std::string_view kWord = "sslnegotiation=postgres";
  const std::unique_ptr<PQconninfoOption, decltype(&::PQconninfoFree)> known{::PQconndefaults(),
                                                                             ::PQconninfoFree};
  for (const PQconninfoOption* option = known.get();
       option != nullptr && option->keyword != nullptr; ++option)
    if (option->keyword == kName) return conninfo;
  const std::size_t at = conninfo.find(kWord);
  if (at == std::string::npos) return conninfo;
  const std::size_t end = at + kWord.size();
  const bool is_word =
      (at == 0 || conninfo[at - 1] == ' ') && (end == conninfo.size() || conninfo[end] == ' ');
  if (is_word) conninfo.erase(at, kWord.size());
  return conninfo;
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

void PrimaryLink::ClearResult::operator()(pg_result* result) const noexcept {
  ::PQclear(result);
}

PrimaryLink::~PrimaryLink() {
  if (buffer_ != nullptr) ::PQfreemem(buffer_);
  ::PQfinish(connection_);
}

Error PrimaryLink::lost(std::string_view what) const {
  return {kConnectionFailure, fmt::format("{}: {}", what, trimmed(::PQerrorMessage(connection_)))};
}

Error PrimaryLink::error_of(const pg_result* result, std::string_view what) const {
  const char* const message = ::PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  if (message == nullptr) return lost(what);
  Error error{kConnectionFailure, fmt::format("{}: {}", what, message)};
  if (const char* detail = ::PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL))
    error = std::move(error).with_detail(detail);
  if (const char* hint = ::PQresultErrorField(result, PG_DIAG_MESSAGE_HINT))
    error = std::move(error).with_hint(hint);
  return error;
}

Result<bool> PrimaryLink::await(short events, Duration longest) const {
  std::array<pollfd, 3> waits{{{::PQsocket(connection_), events, 0},
                               {interrupt_.descriptor(), POLLIN, 0},
                               {interrupt_.nudge_descriptor(), POLLIN, 0}}};
  const int ready = ::poll(waits.data(), waits.size(), milliseconds(longest));
  if (ready < 0 && errno != EINTR)
    return fail(kConnectionFailure, "could not wait for the primary");
  return ready > 0 && waits[0].revents != 0;
}

Result<std::unique_ptr<PrimaryLink>> PrimaryLink::connect(const std::string& conninfo,
                                                          const LinkInterrupt& interrupt) {
  const std::string words = without_unknown_default(conninfo);
  // Later words win over those of the connection string.
  const std::array<const char*, 5> names{"dbname", "replication", "fallback_application_name",
                                         "options", nullptr};
  const std::array<const char*, 5> values{words.c_str(), "true", "walreceiver", "", nullptr};
  pg_conn* const connection = ::PQconnectStartParams(names.data(), values.data(), 1);
  if (connection == nullptr) return fail(sqlstate::out_of_memory, "out of memory");
  std::unique_ptr<PrimaryLink> link{new PrimaryLink{connection, interrupt}};
  RETURN_IF_ERROR(link->finish_connecting());
  return link;
}

Result<> PrimaryLink::finish_connecting() {
  constexpr std::string_view kWhat = "could not connect to the primary server";
  const TimePoint deadline = Runtime::current().now() + kConnectsFor;
  if (::PQstatus(connection_) == CONNECTION_BAD) return fail(lost(kWhat));
  short events = POLLOUT;
  for (;;) {
    const Duration left = deadline - Runtime::current().now();
    if (interrupt_.is_raised() || left <= Duration::zero())
      return fail(kConnectionFailure, fmt::format("{}: no answer", kWhat));
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
        return fail(lost(kWhat));
    }
  }
}

Result<PrimaryLink::Answer> PrimaryLink::run(const std::string& command, int expected) {
  constexpr std::size_t kShown = 80;
  const std::string what =
      fmt::format("could not run {} on the primary", std::string_view{command}.substr(0, kShown));
  if (::PQsendQuery(connection_, command.c_str()) == 0) return fail(lost(what));
  const TimePoint deadline = Runtime::current().now() + kAnswersFor;
  while (::PQisBusy(connection_) != 0) {
    const Duration left = deadline - Runtime::current().now();
    if (interrupt_.is_raised() || left <= Duration::zero())
      return fail(kConnectionFailure, fmt::format("{}: no answer", what));
    ASSIGN_OR_RETURN(const bool is_ready, await(POLLIN, left));
    if (!is_ready) static_cast<void>(interrupt_.take_nudge());
    if (is_ready && ::PQconsumeInput(connection_) == 0) return fail(lost(what));
  }
  Answer answer{::PQgetResult(connection_)};
  if (answer == nullptr || ::PQresultStatus(answer.get()) != expected)
    return fail(error_of(answer.get(), what));
  if (expected == PGRES_TUPLES_OK || expected == PGRES_COMMAND_OK) {
    while (Answer rest{::PQgetResult(connection_)}) continue;
  }
  return answer;
}

Result<PrimaryLink::System> PrimaryLink::identify() {
  ASSIGN_OR_RETURN(const Answer answer, run("IDENTIFY_SYSTEM", PGRES_TUPLES_OK));
  System system;
  const std::string_view id = ::PQgetvalue(answer.get(), 0, 0);
  const std::string_view timeline = ::PQgetvalue(answer.get(), 0, 1);
  std::from_chars(id.data(), id.data() + id.size(), system.id);
  std::from_chars(timeline.data(), timeline.data() + timeline.size(), system.timeline);
  system.durable = parse_position(::PQgetvalue(answer.get(), 0, 2));
  return system;
}

Result<std::string> PrimaryLink::history(std::uint32_t timeline) {
  if (timeline == 1) return std::string{};
  ASSIGN_OR_RETURN(const Answer answer,
                   run(fmt::format("TIMELINE_HISTORY {}", timeline), PGRES_TUPLES_OK));
  return std::string{::PQgetvalue(answer.get(), 0, 1),
                     static_cast<std::size_t>(::PQgetlength(answer.get(), 0, 1))};
}

Result<> PrimaryLink::create_slot(const std::string& name) {
  RETURN_IF_ERROR(
      run(fmt::format("CREATE_REPLICATION_SLOT {} PHYSICAL RESERVE_WAL", quoted_name(name)),
          PGRES_TUPLES_OK));
  return {};
}

Result<> PrimaryLink::start_log(const std::string& slot, Lsn from, std::uint32_t timeline) {
  const std::string with =
      slot.empty() ? std::string{} : fmt::format("SLOT {} ", quoted_name(slot));
  RETURN_IF_ERROR(run(fmt::format("START_REPLICATION {}PHYSICAL {} TIMELINE {}", with,
                                  position_text(from), timeline),
                      PGRES_COPY_BOTH));
  return {};
}

Result<> PrimaryLink::start_base_copy() {
  RETURN_IF_ERROR(run("BASE_COPY", PGRES_COPY_OUT));
  return {};
}

Result<> PrimaryLink::tell_page_lsns(std::uint64_t first_page, std::span<const Lsn> lsns) {
  std::string digits;
  for (const Lsn lsn : lsns) digits += fmt::format("{:016x}", raw(lsn));
  RETURN_IF_ERROR(run(fmt::format("PAGE_LSNS {} '{}'", first_page, digits), PGRES_COMMAND_OK));
  return {};
}

Result<PrimaryLink::Received> PrimaryLink::receive(Duration longest) {
  constexpr std::string_view kWhat = "could not receive data from the primary";
  if (buffer_ != nullptr) ::PQfreemem(std::exchange(buffer_, nullptr));
  const TimePoint deadline = Runtime::current().now() + longest;
  // A long message comes in many pieces.
  for (bool has_looked = false;; has_looked = true) {
    const int size = ::PQgetCopyData(connection_, &buffer_, 1);
    if (size > 0) {
      return Received{Arrival::message,
                      as_bytes(std::string_view{buffer_, static_cast<std::size_t>(size)})};
    }
    if (size == -2) return fail(lost(kWhat));
    if (size == -1) {
      const Answer answer{::PQgetResult(connection_)};
      const auto status = ::PQresultStatus(answer.get());
      const bool is_good =
          status == PGRES_COMMAND_OK || status == PGRES_COPY_IN || status == PGRES_TUPLES_OK;
      if (!is_good) return fail(error_of(answer.get(), kWhat));
      return Received{Arrival::end, {}};
    }
    const Duration left = std::max(deadline - Runtime::current().now(), Duration::zero());
    if (interrupt_.is_raised() || (has_looked && left == Duration::zero())) return Received{};
    ASSIGN_OR_RETURN(const bool is_ready, await(POLLIN, left));
    if (is_ready && ::PQconsumeInput(connection_) == 0) return fail(lost(kWhat));
    if (!is_ready && interrupt_.take_nudge()) return Received{};
  }
}

PrimaryLink::Address PrimaryLink::address() const {
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

Result<> PrimaryLink::send(Bytes message) {
  const std::string_view text = as_text(message);
  if (::PQputCopyData(connection_, text.data(), static_cast<int>(text.size())) <= 0 ||
      ::PQflush(connection_) < 0)
    return fail(lost("could not send data to the primary"));
  return {};
}

}  // namespace swizzle::server
