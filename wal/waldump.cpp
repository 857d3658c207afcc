#include "wal/waldump.h"

#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <optional>

#include "base/io/posix_file_system.h"
#include "base/programs/program_words.h"
#include "wal/internal/segment_store.h"
#include "wal/reader.h"

namespace swizzle::wal {
namespace {

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

class Dump {
 public:
  Dump(const Arguments& arguments, const RecordKinds& kinds)
      : arguments_(arguments), kinds_(kinds) {}

  /// Returns false when enough has been shown.
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

// Returns the end of the unbroken run of records from `from` on.
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
    // Here the log ends; only a restart can tell a torn tail from damage.
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
  CLI::App app{"swizzle-waldump prints the records of a log.", "swizzle-waldump"};
  Arguments arguments;
  app.add_option("DIRECTORY", arguments.directory,
                 "where the log is, or a folder \"log\" with it; its records come oldest first")
      ->required();
  app.add_option("--from", arguments.from, "begin at the first record at or behind LSN")
      ->type_name("LSN");
  app.add_option("--to", arguments.to, "end before LSN")->type_name("LSN");
  app.add_option("--limit", arguments.limit, "at most N records")->type_name("N");
  app.add_option("--txn", arguments.txn, "only records of this transaction")->type_name("ID");
  app.add_option("--page", arguments.page, "only records that touch this page")->type_name("ID");
  app.add_flag("--backward", arguments.backward, "newest first, from --to or the end");
  app.add_flag("--stats", arguments.stats, "counts and bytes of each kind instead of records");
  if (const auto exit_code = read_program_words(app, argc, argv)) return *exit_code;

  if (auto done = run(arguments, kinds); !done) {
    fmt::print(stderr, "swizzle-waldump: {}\n", done.error().message());
    return 1;
  }
  return 0;
}

}  // namespace swizzle::wal
