#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "sql-lite-frontend/statement/statement_context.h"

namespace swizzle::sql {

/// Progress of a long command, for pg_stat_progress_…: numbers with the meaning of PostgreSQL's
/// parameters of the command. Visible to other sessions while it lives; written by its session
/// alone.
class CommandProgress {
 public:
  enum class Command : std::uint8_t { analyze, backup, create_index, copy };
  static constexpr std::size_t kParameters = 20;
  /// A parameter's number as pg_stat_get_progress_info() has it, from 1.
  enum Parameter : std::uint8_t {
    analyze_phase = 1,
    analyze_pages = 2,
    analyze_pages_done = 3,
    backup_phase = 1,
    backup_bytes_all = 2,
    backup_bytes_done = 3,
    backup_tablespaces_all = 4,
    backup_tablespaces_done = 5,
    copy_bytes = 1,
    copy_bytes_all = 2,
    copy_rows_done = 3,
    copy_rows_excluded = 4,
    copy_command = 5,
    copy_kind = 6,
    index_command = 1,
    index_waits_all = 4,
    index_waits_done = 5,
    index_oid = 7,
    index_phase = 10,
    index_rows_all = 12,
    index_rows_done = 13,
    index_pages = 16,
    index_pages_done = 17,
  };
  // Values of copy_command and copy_kind.
  static constexpr std::uint64_t kCopyFrom = 1;
  static constexpr std::uint64_t kCopyTo = 2;
  static constexpr std::uint64_t kCopyFile = 1;
  static constexpr std::uint64_t kCopyProgram = 2;
  static constexpr std::uint64_t kCopyPipe = 3;
  // Values of backup_phase, and of backup_bytes_all while it is unknown.
  static constexpr std::uint64_t kBackupCheckpoint = 1;
  static constexpr std::uint64_t kBackupPages = 3;
  static constexpr std::uint64_t kBackupLog = 5;
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};

  struct Seen {
    std::int32_t pid;
    Oid database;
    Oid role;
    Oid relation;
    std::array<std::int64_t, kParameters> parameters;
  };

  CommandProgress(const StatementContext& session, Command command, Oid relation)
      : server_(&session.shared),
        command_(command),
        seen_{session.options.backend_pid,
              session.catalog.of_database().database(),
              session.login,
              relation,
              {}} {
    Board& all = board();
    const std::lock_guard lock{all.mutex};
    all.running.push_back(this);
  }
  CommandProgress(const CommandProgress&) = delete;
  CommandProgress& operator=(const CommandProgress&) = delete;
  ~CommandProgress() {
    Board& all = board();
    const std::lock_guard lock{all.mutex};
    std::erase(all.running, this);
  }

  void set(Parameter which, std::uint64_t value) noexcept {
    parameters_[which - 1U].store(static_cast<std::int64_t>(value), std::memory_order_relaxed);
  }

  /// Returns the commands of the server that run now.
  static std::vector<Seen> of(const ServerContext& server, Command command) {
    std::vector<Seen> found;
    Board& all = board();
    const std::lock_guard lock{all.mutex};
    for (const CommandProgress* const one : all.running) {
      if (one->server_ != &server || one->command_ != command) continue;
      found.push_back(one->seen_);
      for (std::size_t i = 0; i < kParameters; ++i)
        found.back().parameters[i] = one->parameters_[i].load(std::memory_order_relaxed);
    }
    return found;
  }

 private:
  struct Board {
    std::mutex mutex;
    std::vector<const CommandProgress*> running;
  };
  static Board& board() {
    static Board all;
    return all;
  }

  const ServerContext* server_;
  Command command_;
  Seen seen_;  ///< without the parameters
  std::array<std::atomic<std::int64_t>, kParameters> parameters_{};
};

}  // namespace swizzle::sql
