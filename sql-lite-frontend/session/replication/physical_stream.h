#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "sql-lite-frontend/replication.h"
#include "sql-lite-frontend/session/replication/command.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "storage/logical/logical_log.h"
#include "storage/standby/sent_log.h"

namespace swizzle::sql {

/// The log as it is, for a server that follows. Holds the slot, if the command names one.
class PhysicalStream final : public ChangeStream {
 public:
  /// Throws XX000 for a position that is not in this server's history, 42704, 55006, 55000 …
  PhysicalStream(Session::State& session, const ReplicationCommand& command);
  ~PhysicalStream() override;

  std::optional<Message> next() override;
  [[nodiscard]] bool is_at_end() const noexcept override { return sent_.is_at_end(); }
  [[nodiscard]] Lsn position() const noexcept override { return sent_.position(); }
  [[nodiscard]] bool is_over() const noexcept override { return sent_.is_over(); }
  bool awaits_more(const std::function<void()>& wake) override;
  void confirm(Lsn lsn) override;
  [[nodiscard]] Lsn confirmed() const noexcept override { return sent_.position(); }
  void show(const Progress& progress) override;
  [[nodiscard]] Duration timeout() const override;

  /// The place at which the timeline that is sent was left, and the one that goes on there.
  [[nodiscard]] Lsn until() const noexcept { return sent_.until(); }
  [[nodiscard]] std::uint32_t next_timeline() const noexcept { return sent_.next_timeline(); }

 private:
  /// Counts the stream for as long as it uses the log.
  class Counted {
   public:
    explicit Counted(std::atomic<std::size_t>& count) : count_(count) { ++count_; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    ~Counted() { --count_; }

   private:
    std::atomic<std::size_t>& count_;
  };

  void check_start();
  void take_slot();

  Session::State& session_;
  const Counted counted_;  ///< before what uses the log
  LogicalLog& log_;
  const std::string slot_;
  SentLog sent_;
  std::unique_ptr<wal::LogFollower> follower_;
  TimePoint saved_at_{};
};

/// Moves a physical slot on. Returns its position.
Lsn advance_physical_slot(Session::State& session, const swizzle::Slot& slot, Lsn upto);

}  // namespace swizzle::sql
