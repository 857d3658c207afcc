#include "storage/recovery/backup/restore_options.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <ctime>
#include <optional>
#include <string_view>

#include "storage/recovery/backup/recovery_stop.h"
#include "storage/recovery/records/restore_point_record.h"
#include "wal/archive_command.h"

namespace swizzle {
namespace {

std::optional<std::uint64_t> parse_number(std::string_view text, int base) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Parses a decimal number, as the programs print LSNs, or the form in which SQL shows them.
std::optional<Lsn> parse_lsn(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    const auto number = parse_number(text, 10);
    return number ? std::optional{Lsn{*number}} : std::nullopt;
  }
  const auto high = parse_number(text.substr(0, slash), 16);
  const auto low = parse_number(text.substr(slash + 1), 16);
  if (!high || !low || *high > UINT32_MAX || *low > UINT32_MAX) return std::nullopt;
  return Lsn{*high << 32U | *low};
}

/// Parses a time in the form in which now() shows it in time zone UTC, with or without "+00".
std::optional<std::int64_t> parse_time(std::string text) {
  constexpr std::int64_t kMicros = 1'000'000;
  if (text.ends_with("+00")) text.resize(text.size() - 3);
  std::tm parts{};
  const char* rest = strptime(text.c_str(), "%Y-%m-%d %H:%M:%S", &parts);
  if (rest == nullptr) return std::nullopt;
  std::int64_t micros = 0;
  if (*rest == '.') {
    std::string digits{rest + 1};
    if (digits.empty() || digits.size() > 6) return std::nullopt;
    digits.resize(6, '0');
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), micros);
    if (error != std::errc{} || end != digits.data() + digits.size() || micros < 0)
      return std::nullopt;
  } else if (*rest != '\0') {
    return std::nullopt;
  }
  return std::int64_t{timegm(&parts)} * kMicros + micros;
}

}  // namespace

void add_restore_options(CLI::App& app, RestoreWords& words) {
  app.add_option("--restore-command", words.restore_command,
                 "fetches the archived log segment %f to the path %p")
      ->type_name("COMMAND");
  app.add_option_function<std::string>(
         "--archive-folder",
         [&words](const std::string& word) {
           words.archive_folder = std::filesystem::absolute(word);
         },
         "has the archived log segments, which are read there")
      ->check(CLI::ExistingDirectory)
      ->type_name("FOLDER")
      ->excludes(app.get_option("--restore-command"));
  RecoveryTarget& target = words.target;
  const auto add = [&app](const char* name, const char* type, const char* description, auto read) {
    app.add_option_function<std::string>(
           name,
           [read, name](const std::string& word) {
             if (!read(word))
               throw CLI::ValidationError{fmt::format("{}: \"{}\" is not valid", name, word)};
           },
           description)
        ->type_name(type);
  };
  add("--target-lsn", "LSN", "stop behind the first record at or behind LSN, a number or X/Y",
      [&target](const std::string& word) {
        target.lsn = parse_lsn(word);
        return target.lsn.has_value();
      });
  add("--target-time", "TIME",
      "stop before the first commit that is younger, \"YYYY-MM-DD hh:mm:ss[.uuuuuu]\" in UTC",
      [&target](const std::string& word) {
        target.time_us = parse_time(word);
        return target.time_us.has_value();
      });
  add("--target-name", "NAME", "stop behind the restore point NAME: pg_create_restore_point()",
      [&target](const std::string& word) {
        target.restore_point = word;
        return word.size() <= payload::kMostRestorePointBytes;
      });
  add("--target-xid", "XID",
      "stop behind the end of the transaction XID, as backend_xid and the server's log have it",
      [&target](const std::string& word) {
        const auto number = parse_number(word, 10);
        if (number) target.transaction = TxnId{*number};
        return number.has_value() && *number != 0;
      });
  app.add_flag_function(
      "--target-exclusive",
      [&target](std::int64_t) { target.bound = RecoveryTarget::Bound::exclusive; },
      "stop before the target's own record");
  // A second target would make the first one void.
  constexpr std::array kTargets{"--target-lsn", "--target-time", "--target-name", "--target-xid"};
  for (const char* const one : kTargets) {
    for (const char* const other : kTargets) {
      if (one != other) app.get_option(one)->excludes(app.get_option(other));
    }
  }
}

Result<> check_restore_words(const RestoreWords& words) {
  if (words.target.bound == RecoveryTarget::Bound::exclusive && !has_target(words.target))
    return fail(sqlstate::invalid_parameter_value, "--target-exclusive needs a target");
  return {};
}

RestoreArchive archive_of(const RestoreWords& words) {
  RestoreArchive archive;
  archive.folder = words.archive_folder;
  archive.command = words.restore_command;
  return archive;
}

std::string describe_stop(const RestoreOutcome& made) {
  std::string text = fmt::format("LSN {} ({:X}/{:X})", raw(made.end), raw(made.end) >> 32U,
                                 raw(made.end) & UINT32_MAX);
  if (made.last_commit_us) {
    constexpr std::int64_t kMicros = 1'000'000;
    text += fmt::format(", the last commit of {:%Y-%m-%d %H:%M:%S}.{:06} UTC by transaction {}",
                        fmt::gmtime(static_cast<std::time_t>(*made.last_commit_us / kMicros)),
                        *made.last_commit_us % kMicros, raw(made.last_commit));
  } else {
    text += ", with no commit in that log";
  }
  if (made.restore_point) text += fmt::format(", restore point \"{}\"", *made.restore_point);
  return text;
}

}  // namespace swizzle
