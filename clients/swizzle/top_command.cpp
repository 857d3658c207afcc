#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <optional>
#include <pqxx/pqxx>
#include <thread>

#include "clients/swizzle/commands.h"
#include "clients/swizzle/text_table.h"

namespace swizzle::clients {
namespace {

using Counters = std::map<std::string, std::int64_t>;

Counters read_counters(pqxx::connection& connection) {
  Counters counters;
  for (const auto& row :
       pqxx::nontransaction{connection}.exec("SELECT name, value FROM swizzle_statistics")) {
    counters[row[0].c_str()] = row[1].as<std::int64_t>();
  }
  return counters;
}

void print_counters(const Counters& now, const Counters& before, double seconds) {
  const auto value = [&](const char* name) { return static_cast<double>(now.at(name)); };
  const auto rate = [&](const char* name) {
    return static_cast<double>(now.at(name) - before.at(name)) / seconds;
  };
  std::printf("transactions  %9.0f commits/s  %9.0f rollbacks/s\n", rate("commits"),
              rate("rollbacks"));
  std::printf("log           %9.2f MB/s       %9.1f KB not yet durable\n", rate("log_tail") / 1e6,
              (value("log_tail") - value("log_durable")) / 1e3);
  std::printf("pool          %9.0f of %.0f frames free\n", value("pool_free_frames"),
              value("pool_frames"));
  std::printf("pages         %9.0f read/s     %9.0f written/s  %9.0f evicted/s\n\n",
              rate("pages_read"), rate("pages_written"), rate("pages_evicted"));
}

void print_sessions(pqxx::connection& connection) {
  const pqxx::result counts = pqxx::nontransaction{connection}.exec(
      "SELECT state, count(*) FROM pg_stat_activity GROUP BY state ORDER BY state");
  std::string line = "sessions     ";
  for (const auto& row : counts) {
    line += std::string{" "} + row[1].c_str() + " " + row[0].c_str() + ",";
  }
  if (line.ends_with(',')) line.pop_back();
  std::printf("%s\n\n", line.c_str());
  TextTable table{{"pid", "user", "application", "state", "seconds", "query"}};
  table.align(0, TextTable::Align::right);
  table.align(4, TextTable::Align::right);
  const pqxx::result busy = pqxx::nontransaction{connection}.exec(
      "SELECT pid, usename, application_name, state,"
      " round(extract(epoch FROM now() - state_change)::numeric, 1),"
      " left(regexp_replace(query, '\\s+', ' ', 'g'), 60)"
      " FROM pg_stat_activity WHERE state <> 'idle' AND pid <> pg_backend_pid()"
      " ORDER BY state_change LIMIT 20");
  for (const auto& row : busy) {
    std::vector<TextTable::Cell> cells;
    for (const auto& field : row) cells.emplace_back(field.is_null() ? "" : field.c_str());
    table.add(std::move(cells));
  }
  std::fputs(table.print().c_str(), stdout);
}

}  // namespace

/// A live view: what sessions do, and what pool and log do per second, until interrupted.
int run_top(const std::string& conninfo, const TopOptions& options) {
  pqxx::connection connection{conninfo};
  const bool is_terminal = ::isatty(STDOUT_FILENO) != 0;
  Counters before = read_counters(connection);
  auto then = std::chrono::steady_clock::now();
  for (unsigned turn = 0; !options.turns || turn < *options.turns; ++turn) {
    std::this_thread::sleep_for(std::chrono::duration<double>{options.seconds});
    const auto now = std::chrono::steady_clock::now();
    const Counters counters = read_counters(connection);
    // Home and clear: the next picture in the same place.
    if (is_terminal) std::fputs("\033[H\033[2J", stdout);
    print_counters(counters, before, std::chrono::duration<double>(now - then).count());
    print_sessions(connection);
    std::fflush(stdout);
    before = counters;
    then = now;
  }
  return 0;
}

}  // namespace swizzle::clients
