#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <map>
#include <optional>
#include <pqxx/pqxx>
#include <set>
#include <thread>

#include "clients/swizzle/commands.h"
#include "clients/swizzle/text_table.h"

namespace swizzle::clients {
namespace {

using Counters = std::map<std::string, std::int64_t>;

/// Calls, milliseconds and rows of a statement since the server's start.
struct StatementUse {
  std::string text;
  std::int64_t calls = 0;
  double total_ms = 0;
  std::int64_t rows = 0;
};
using StatementUses = std::map<std::string, StatementUse>;

/// Values whose differences between two readings are shown.
struct Reading {
  std::chrono::steady_clock::time_point taken;
  Counters counters;
  StatementUses statements;
};

Reading take_reading(pqxx::connection& connection) {
  pqxx::nontransaction work{connection};
  Reading reading;
  reading.taken = std::chrono::steady_clock::now();
  for (const auto& row :
       work.exec("/* swizzle top */ SELECT name, value FROM swizzle_statistics")) {
    reading.counters[row[0].c_str()] = row[1].as<std::int64_t>();
  }
  // Statements of this program are recognised by their first comment and left out.
  const pqxx::result statements = work.exec(
      "/* swizzle top */ SELECT dbid || ' ' || queryid, left(query, 500), calls, total_exec_time, "
      "rows FROM pg_catalog.pg_stat_statements WHERE query NOT LIKE '/* swizzle top */%' "
      "ORDER BY total_exec_time DESC LIMIT 500");
  for (const auto& row : statements) {
    if (row[0].is_null()) continue;
    reading.statements[row[0].c_str()] = {row[1].c_str(), row[2].as<std::int64_t>(),
                                          row[3].as<double>(), row[4].as<std::int64_t>()};
  }
  return reading;
}

/// The terminal; without one, a screen of unlimited size.
class Screen {
 public:
  Screen() : is_terminal_(::isatty(STDOUT_FILENO) != 0) {
    if (::isatty(STDIN_FILENO) == 0 || ::tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios keys = before_;
    // Read keys one at a time and without echo.
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    has_keys_ = ::tcsetattr(STDIN_FILENO, TCSANOW, &keys) == 0;
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  ~Screen() {
    if (has_keys_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }

  /// Waits for a key. Returns 0 if none came in time.
  [[nodiscard]] char wait_for_key(std::chrono::duration<double> time) const {
    if (!has_keys_) {
      std::this_thread::sleep_for(time);
      return 0;
    }
    pollfd input{STDIN_FILENO, POLLIN, 0};
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(time);
    if (::poll(&input, 1, static_cast<int>(ms.count())) <= 0) return 0;
    char key = 0;
    return ::read(STDIN_FILENO, &key, 1) == 1 ? key : 'q';
  }

  /// Replaces the screen's content by `text`, cut to its size.
  void show(const std::string& text) const {
    if (!is_terminal_) {
      std::fputs(text.c_str(), stdout);
      std::fflush(stdout);
      return;
    }
    winsize size{};
    const bool is_known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    const std::size_t width = is_known ? size.ws_col : 80;
    std::size_t room = is_known ? size.ws_row : 24;
    std::string out = "\033[H\033[2J";
    for (std::size_t at = 0; at < text.size() && room > 1; --room) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      std::size_t stop = at;
      for (std::size_t column = 0; stop < end && column < width; ++column) {
        ++stop;
        while (stop < end && (static_cast<unsigned char>(text[stop]) & 0xC0U) == 0x80U) ++stop;
      }
      out += text.substr(at, stop - at) + "\n";
      at = end + 1;
    }
    std::fputs(out.c_str(), stdout);
    std::fflush(stdout);
  }

 private:
  bool is_terminal_;
  bool has_keys_ = false;
  termios before_{};
};

std::string describe_counters(const Counters& now, const Counters& before, double seconds) {
  const auto value = [&](const char* name) { return static_cast<double>(now.at(name)); };
  const auto rate = [&](const char* name) {
    return static_cast<double>(now.at(name) - before.at(name)) / seconds;
  };
  return fmt::format(
      "transactions  {:9.0f} commits/s  {:9.0f} rollbacks/s  {:9.0f} lock waits/s\n"
      "log           {:9.2f} MB/s       {:9.1f} KB not yet durable\n"
      "pool          {:9.0f} of {:.0f} frames free\n"
      "pages         {:9.0f} read/s     {:9.0f} written/s    {:9.0f} evicted/s\n\n",
      rate("commits"), rate("rollbacks"), rate("lock_waits"), rate("log_tail") / 1e6,
      (value("log_tail") - value("log_durable")) / 1e3, value("pool_free_frames"),
      value("pool_frames"), rate("pages_read"), rate("pages_written"), rate("pages_evicted"));
}

/// A session that is active or holds something.
struct BusySession {
  std::vector<TextTable::Cell> cells;
  std::vector<std::string> blockers;
};

/// Appends a session, and below it the sessions that wait for it.
void append_branch(const std::map<std::string, BusySession>& sessions, const std::string& pid,
                   const std::string& indent, std::set<std::string>& shown, TextTable& table) {
  const auto found = sessions.find(pid);
  if (found == sessions.end() || !shown.insert(pid).second) return;
  std::vector<TextTable::Cell> cells = found->second.cells;
  cells[0] = indent + cells[0].value_or("");
  table.add(std::move(cells));
  for (const auto& [waiter, session] : sessions) {
    if (std::ranges::find(session.blockers, pid) == session.blockers.end()) continue;
    append_branch(sessions, waiter, indent + "  ", shown, table);
  }
}

std::string describe_sessions(pqxx::connection& connection) {
  pqxx::nontransaction work{connection};
  const pqxx::result counts = work.exec(
      "/* swizzle top */ SELECT state, count(*) FROM pg_stat_activity WHERE state IS NOT NULL "
      "GROUP BY state ORDER BY state");
  std::string out = "sessions     ";
  for (const auto& row : counts) out += fmt::format(" {} {},", row[1].c_str(), row[0].c_str());
  if (out.ends_with(',')) out.pop_back();
  out += "\n\n";
  const pqxx::result busy = work.exec(
      "/* swizzle top */ SELECT pid, usename, datname, application_name, state, "
      "round(extract(epoch FROM clock_timestamp() - xact_start)::numeric, 1), "
      "CASE WHEN state = 'active' "
      "THEN round(extract(epoch FROM clock_timestamp() - query_start)::numeric, 1) END, "
      "CASE WHEN state = 'active' THEN wait_event END, "
      "left(regexp_replace(query, '\\s+', ' ', 'g'), 200), "
      "CASE WHEN wait_event_type = 'Lock' THEN array_to_string(pg_blocking_pids(pid), ' ') END "
      "FROM pg_stat_activity WHERE state <> 'idle' AND pid <> pg_backend_pid() "
      "ORDER BY xact_start LIMIT 30");
  TextTable table{{"pid", "user", "database", "application", "state", "transaction s", "query s",
                   "waits for", "query"}};
  for (const std::size_t column : {5U, 6U}) table.align(column, TextTable::Align::right);
  std::map<std::string, BusySession> sessions;
  std::vector<std::string> order;
  for (const auto& row : busy) {
    BusySession session;
    for (int column = 0; column < 9; ++column) {
      session.cells.emplace_back(row[column].is_null() ? "" : row[column].c_str());
    }
    std::string blocker;
    for (const char letter : std::string{row[9].is_null() ? "" : row[9].c_str()} + " ") {
      if (letter != ' ') {
        blocker += letter;
      } else if (!blocker.empty()) {
        session.blockers.push_back(std::exchange(blocker, {}));
      }
    }
    order.emplace_back(row[0].c_str());
    sessions[order.back()] = std::move(session);
  }
  std::set<std::string> shown;
  const auto waits = [&](const std::string& pid) {
    return std::ranges::any_of(sessions[pid].blockers, [&](const std::string& blocker) {
      return sessions.contains(blocker);
    });
  };
  for (const std::string& pid : order) {
    if (!waits(pid)) append_branch(sessions, pid, "", shown, table);
  }
  // Sessions in a cycle of waits have no root: append the rest.
  for (const std::string& pid : order) append_branch(sessions, pid, "", shown, table);
  return out + table.print() + "\n";
}

/// Returns the statements that took most time between two readings.
std::string describe_statements(const StatementUses& now, const StatementUses& before,
                                double seconds) {
  constexpr std::size_t kMost = 10;
  std::vector<StatementUse> uses;
  double all_ms = 0;
  for (const auto& [id, use] : now) {
    StatementUse change = use;
    if (const auto found = before.find(id); found != before.end()) {
      change.calls -= found->second.calls;
      change.total_ms -= found->second.total_ms;
      change.rows -= found->second.rows;
    }
    if (change.calls <= 0) continue;
    all_ms += change.total_ms;
    uses.push_back(std::move(change));
  }
  std::ranges::sort(uses, std::greater{}, &StatementUse::total_ms);
  if (uses.size() > kMost) uses.resize(kMost);
  TextTable table{{"% of time", "calls/s", "mean ms", "rows/call", "statement"}};
  for (std::size_t column = 0; column < 4; ++column) table.align(column, TextTable::Align::right);
  for (const StatementUse& use : uses) {
    const auto calls = static_cast<double>(use.calls);
    std::string text;
    for (const char letter : use.text) {
      const bool is_blank = std::isspace(static_cast<unsigned char>(letter)) != 0;
      if (!is_blank || !text.ends_with(' ')) text += is_blank ? ' ' : letter;
    }
    table.add({fmt::format("{:.1f}", all_ms > 0 ? 100 * use.total_ms / all_ms : 0),
               fmt::format("{:.1f}", calls / seconds), fmt::format("{:.3f}", use.total_ms / calls),
               fmt::format("{:.1f}", static_cast<double>(use.rows) / calls), text});
  }
  return fmt::format("statements that ended in these {:.1f} s\n\n{}", seconds, table.print());
}

}  // namespace

/// Live view until interrupted: transactions, log and pool per second, sessions with their
/// blockers, and the statements that take most time.
int run_top(const std::string& conninfo, const TopOptions& options) {
  pqxx::connection connection{conninfo};
  const Screen screen;
  Reading before = take_reading(connection);
  bool is_paused = false;
  for (unsigned turn = 0; !options.turns || turn < *options.turns;) {
    const char key = screen.wait_for_key(std::chrono::duration<double>{options.seconds});
    if (key == 'q') return 0;
    if (key == 'p') is_paused = !is_paused;
    if (is_paused) continue;
    Reading now = take_reading(connection);
    const double seconds =
        std::max(1e-3, std::chrono::duration<double>(now.taken - before.taken).count());
    screen.show(describe_counters(now.counters, before.counters, seconds) +
                describe_sessions(connection) +
                describe_statements(now.statements, before.statements, seconds));
    before = std::move(now);
    ++turn;
  }
  return 0;
}

}  // namespace swizzle::clients
