#include "wal/waldump.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <map>
#include <optional>
#include <string_view>

#include "base/posix_file_system.h"
#include "wal/internal/segment_store.h"
#include "wal/reader.h"

namespace swizzle::wal {
namespace {

constexpr const char* kUsage =
    "swizzle-waldump prints the records of a log.\n"
    "\n"
    "usage: swizzle-waldump [option ...] DIRECTORY\n"
    "The log is in DIRECTORY, or in its folder \"log\". Its records come oldest first.\n"
    "  --from LSN    begin at the first record at or behind LSN\n"
    "  --to LSN      end before LSN\n"
    "  --limit N     at most N records\n"
    "  --txn ID      only records of this transaction\n"
    "  --page ID     only records that touch this page\n"
    "  --backward    newest first, from --to or the end\n"
    "  --stats       counts and bytes per kind instead of records\n";

struct Arguments {
  std::string directory;
  std::uint64_t from = 0;
  std::uint64_t to = UINT64_MAX;
  std::uint64_t limit = UINT64_MAX;
  std::optional<std::uint64_t> txn;
  std::optional<std::uint64_t> page;
  bool backward = false;
  bool stats = false;
};

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Arguments> parse(std::span<const char* const> words) {
  Arguments arguments;
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string_view word = words[at];
    if (word == "--backward") {
      arguments.backward = true;
    } else if (word == "--stats") {
      arguments.stats = true;
    } else if (word.starts_with("--")) {
      if (at + 1 == words.size()) return std::nullopt;
      const auto value = parse_number(words[++at]);
      if (!value) return std::nullopt;
      if (word == "--from") {
        arguments.from = *value;
      } else if (word == "--to") {
        arguments.to = *value;
      } else if (word == "--limit") {
        arguments.limit = *value;
      } else if (word == "--txn") {
        arguments.txn = value;
      } else if (word == "--page") {
        arguments.page = value;
      } else {
        return std::nullopt;
      }
    } else if (arguments.directory.empty()) {
      arguments.directory = word;
    } else {
      return std::nullopt;
    }
  }
  if (arguments.directory.empty()) return std::nullopt;
  return arguments;
}

class Dump {
 public:
  Dump(const Arguments& arguments, const RecordKinds& kinds)
      : arguments_(arguments), kinds_(kinds) {}

  /// False when enough has been shown.
  bool show(const Record& record) {
    if (arguments_.txn && raw(record.header.txn) != *arguments_.txn) return true;
    if (arguments_.page && raw(record.header.page) != *arguments_.page &&
        raw(record.header.page2) != *arguments_.page) {
      return true;
    }
    if (shown_ == arguments_.limit) return false;
    ++shown_;
    if (arguments_.stats) {
      Total& total = totals_[record.header.kind];
      ++total.records;
      total.bytes += raw(record.end) - raw(record.lsn);
      total.payload_bytes += record.payload.size();
    } else {
      fmt::print("{}\n", kinds_.describe(record));
    }
    return true;
  }

  void finish() const {
    if (!arguments_.stats) return;
    fmt::print("{:<28} {:>12} {:>14} {:>14}\n", "kind", "records", "bytes", "payload bytes");
    for (const auto& [kind, total] : totals_) {
      fmt::print("{:<28} {:>12} {:>14} {:>14}\n", kinds_.name(kind), total.records, total.bytes,
                 total.payload_bytes);
    }
  }

 private:
  struct Total {
    std::uint64_t records = 0;
    std::uint64_t bytes = 0;
    std::uint64_t payload_bytes = 0;
  };
  const Arguments& arguments_;
  const RecordKinds& kinds_;
  std::uint64_t shown_ = 0;
  std::map<RecordKind, Total> totals_;
};

// Where the unbroken run from `from` ends.
std::uint64_t end_of_run(Reader& reader, Lsn from, std::uint64_t to) {
  reader.seek(from);
  while (raw(reader.position()) < to) {
    const auto record = reader.next();
    if (!record || !*record) break;
  }
  return raw(reader.position());
}

Result<> dump_forward(Reader& reader, Lsn from, const Arguments& arguments, Dump& dump) {
  reader.seek(from);
  while (raw(reader.position()) < arguments.to) {
    // Here the log ends: whether rightly so is for restart to judge.
    auto record = reader.next();
    if (!record && record.error().state() != sqlstate::io_error) {
      fmt::print(stderr, "end of the log, or damage, at LSN {}\n", raw(reader.position()));
      return {};
    }
    if (!record) return fail(std::move(record).error());
    if (!*record || !dump.show(**record)) return {};
  }
  return {};
}

Result<> dump_backward(Reader& reader, Lsn from, const Arguments& arguments, Dump& dump) {
  reader.seek(Lsn{end_of_run(reader, from, arguments.to)});
  while (raw(reader.position()) > raw(from)) {
    ASSIGN_OR_RETURN(const auto record, reader.previous());
    if (!record || !dump.show(*record)) return {};
  }
  return {};
}

Result<> run(const Arguments& arguments, const RecordKinds& kinds) {
  PosixFileSystem files;
  const std::filesystem::path given = arguments.directory;
  ASSIGN_OR_RETURN(const bool holds_log, files.exists(given / "log"));
  ASSIGN_OR_RETURN(const LogLocation location, find_log(files, holds_log ? given / "log" : given));
  ASSIGN_OR_RETURN(const auto first, find_record(location, Lsn{arguments.from}));
  if (!first) {
    return fail(sqlstate::data_corrupted,
                fmt::format("there is no log record in \"{}\" at or behind LSN {}",
                            arguments.directory, arguments.from));
  }
  Dump dump{arguments, kinds};
  Reader reader{location, Lsn::max};
  if (arguments.backward) {
    RETURN_IF_ERROR(dump_backward(reader, *first, arguments, dump));
  } else {
    RETURN_IF_ERROR(dump_forward(reader, *first, arguments, dump));
  }
  dump.finish();
  return {};
}

}  // namespace

int waldump_main(int argc, const char* const* argv, const RecordKinds& kinds) {
  const auto words = std::span{argv, static_cast<std::size_t>(argc)}.subspan(1);
  if (words.size() == 1 && std::string_view{words[0]} == "--help") {
    std::fputs(kUsage, stdout);
    return 0;
  }
  const auto arguments = parse(words);
  if (!arguments) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  if (auto done = run(*arguments, kinds); !done) {
    fmt::print(stderr, "swizzle-waldump: {}\n", done.error().message());
    return 1;
  }
  return 0;
}

}  // namespace swizzle::wal
