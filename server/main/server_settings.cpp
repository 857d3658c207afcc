#include "server/main/server_settings.h"

#include <fmt/format.h>

#include <charconv>
#include <functional>
#include <limits>
#include <map>
#include <optional>

namespace swizzle::server {
namespace {

struct Measure {
  std::uint64_t number = 0;
  std::string_view unit;
};

std::optional<Measure> parse_measure(std::string_view text) {
  Measure measure;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, measure.number);
  if (error != std::errc{}) return std::nullopt;
  measure.unit = {stop, static_cast<std::size_t>(end - stop)};
  while (measure.unit.starts_with(' ')) measure.unit.remove_prefix(1);
  return measure;
}

std::optional<std::uint64_t> scaled(std::uint64_t number, std::uint64_t factor) {
  if (factor != 0 && number > std::numeric_limits<std::uint64_t>::max() / factor) {
    return std::nullopt;
  }
  return number * factor;
}

/// A number with a unit of time; without one it counts `default_unit`.
std::optional<Duration> parse_duration(std::string_view text, Duration default_unit) {
  using namespace std::chrono_literals;
  static const std::map<std::string_view, Duration> units{{"us", 1us},   {"ms", 1ms}, {"s", 1s},
                                                          {"min", 1min}, {"h", 1h},   {"d", 24h}};
  const auto measure = parse_measure(text);
  if (!measure) return std::nullopt;
  const auto unit = units.find(measure->unit);
  if (unit == units.end() && !measure->unit.empty()) return std::nullopt;
  const Duration step = unit == units.end() ? default_unit : unit->second;
  const auto total = scaled(measure->number, static_cast<std::uint64_t>(step.count()));
  if (!total || *total > static_cast<std::uint64_t>(Duration::max().count())) return std::nullopt;
  return Duration{static_cast<std::int64_t>(*total)};
}

std::optional<std::uint64_t> parse_bytes(std::string_view text, std::uint64_t default_unit) {
  static const std::map<std::string_view, std::uint64_t> units{{"B", 1},
                                                               {"kB", 1U << 10U},
                                                               {"MB", 1U << 20U},
                                                               {"GB", 1U << 30U},
                                                               {"TB", std::uint64_t{1} << 40U}};
  const auto measure = parse_measure(text);
  if (!measure) return std::nullopt;
  const auto unit = units.find(measure->unit);
  if (unit == units.end() && !measure->unit.empty()) return std::nullopt;
  return scaled(measure->number, unit == units.end() ? default_unit : unit->second);
}

std::optional<std::uint32_t> parse_count(std::string_view text, std::uint32_t most) {
  const auto measure = parse_measure(text);
  if (!measure || !measure->unit.empty() || measure->number > most) return std::nullopt;
  return static_cast<std::uint32_t>(measure->number);
}

std::vector<std::string> parse_list(std::string_view text) {
  std::vector<std::string> items;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view item = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    if (!item.empty()) items.emplace_back(item);
  }
  return items;
}

template <class T, class Parsed>
bool put(T& target, const std::optional<Parsed>& value) {
  if (!value) return false;
  target = static_cast<T>(*value);
  return true;
}

using Setter = bool (*)(ServerSettings& settings, std::string_view value);

const std::map<std::string_view, Setter>& setters() {
  constexpr std::uint64_t kBlock = 8192;  // PostgreSQL counts shared_buffers in these
  static const std::map<std::string_view, Setter> table{
      {"port", [](auto& s, auto v) { return put(s.port, parse_count(v, 65'535)); }},
      {"listen_addresses",
       [](auto& s, auto v) {
         s.listen_addresses = parse_list(v);
         return true;
       }},
      {"unix_socket_directories",
       [](auto& s, auto v) {
         s.unix_socket_directories = parse_list(v);
         return true;
       }},
      {"hba_file",
       [](auto& s, auto v) {
         s.hba_file = v;
         return !v.empty();
       }},
      {"ssl_cert_file",
       [](auto& s, auto v) {
         s.ssl_cert_file = v;
         return true;
       }},
      {"ssl_key_file",
       [](auto& s, auto v) {
         s.ssl_key_file = v;
         return true;
       }},
      {"max_connections",
       [](auto& s, auto v) {
         return put(s.limits.max_connections, parse_count(v, 262'143)) &&
                s.limits.max_connections > 0;
       }},
      {"superuser_reserved_connections",
       [](auto& s, auto v) { return put(s.limits.reserved, parse_count(v, 262'143)); }},
      {"max_authenticating_connections",
       [](auto& s, auto v) {
         return put(s.limits.max_authenticating, parse_count(v, 262'143)) &&
                s.limits.max_authenticating > 0;
       }},
      {"authentication_timeout",
       [](auto& s, auto v) {
         return put(s.authentication_timeout, parse_duration(v, std::chrono::seconds{1})) &&
                s.authentication_timeout > Duration::zero();
       }},
      {"client_send_timeout",
       [](auto& s, auto v) {
         return put(s.client_send_timeout, parse_duration(v, std::chrono::milliseconds{1})) &&
                s.client_send_timeout > Duration::zero();
       }},
      {"reactor_threads",
       [](auto& s, auto v) { return put(s.reactor_threads, parse_count(v, 1024)); }},
      {"reactor_spin",
       [](auto& s, auto v) {
         return put(s.reactor_spin, parse_duration(v, std::chrono::microseconds{1}));
       }},
      {"shared_buffers",
       [](auto& s, auto v) { return put(s.engine.pool_bytes, parse_bytes(v, kBlock)); }},
      {"wal_buffers",
       [](auto& s, auto v) { return put(s.engine.log_buffer_bytes, parse_bytes(v, kBlock)); }},
      {"max_wal_size",
       [](auto& s, auto v) {
         return put(s.engine.checkpoint_log_bytes, parse_bytes(v, std::uint64_t{1} << 20U));
       }},
      {"checkpoint_timeout",
       [](auto& s, auto v) {
         const auto time = parse_duration(v, std::chrono::seconds{1});
         if (!time || *time < std::chrono::seconds{1}) return false;
         s.engine.checkpoint_seconds = static_cast<std::uint32_t>(
             std::chrono::duration_cast<std::chrono::seconds>(*time).count());
         return true;
       }},
  };
  return table;
}

}  // namespace

Result<ServerSettings> make_settings(const std::vector<Assignment>& assignments) {
  ServerSettings settings;
  for (const Assignment& assignment : assignments) {
    const auto setter = setters().find(assignment.name);
    if (setter == setters().end()) {
      settings.session_defaults.emplace_back(assignment.name, assignment.value);
    } else if (!setter->second(settings, assignment.value)) {
      return fail(sqlstate::invalid_parameter_value,
                  fmt::format("invalid value for parameter \"{}\": \"{}\" ({})", assignment.name,
                              assignment.value, assignment.origin));
    }
  }
  if (settings.ssl_cert_file.empty() != settings.ssl_key_file.empty()) {
    return fail(sqlstate::config_file_error,
                "TLS needs both ssl_cert_file and ssl_key_file, or neither");
  }
  return settings;
}

}  // namespace swizzle::server
