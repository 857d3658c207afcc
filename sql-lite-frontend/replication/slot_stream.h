#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sql-lite-frontend/replication.h"
#include "sql-lite-frontend/replication/pgoutput.h"
#include "sql-lite-frontend/replication/published_changes.h"
#include "sql-lite-frontend/session/session_state.h"
#include "storage/logical/logical_log.h"

namespace swizzle::sql {

/// The messages of pgoutput for a slot's reader. Holds the slot.
class SlotStream final : public ChangeStream {
 public:
  /// From the slot's position on, or from a later one. Throws 42704, 55006, 55000, 0A000.
  SlotStream(Session::State& session, std::string_view slot, Lsn from,
             std::vector<std::string> publications);
  ~SlotStream() override;

  std::optional<Message> next() override;
  [[nodiscard]] bool is_at_end() const noexcept override {
    return !current_ && reader_->is_at_end();
  }
  [[nodiscard]] Lsn position() const noexcept override {
    return current_ ? current_->commit : read_up_to_;
  }
  void confirm(Lsn lsn) override;
  [[nodiscard]] Lsn confirmed() const noexcept override { return confirmed_; }
  void show(const Progress& progress) override;
  [[nodiscard]] Duration timeout() const override;

 private:
  class Files;
  struct Mark {
    Lsn position;
    Lsn needed;
  };
  void take_next_transaction();
  void tell_next_change();
  void keep_mark();

  Session::State& session_;
  LogSlots& slots_;
  std::string name_;
  std::unique_ptr<Files> files_;
  PublishedChanges published_;
  std::unique_ptr<ChangeReader> reader_;
  std::optional<CommittedChanges> current_;
  pgoutput::TransactionFacts facts_;
  bool has_begun_ = false;
  std::deque<Message> ready_;
  std::vector<std::string> told_;
  Lsn read_up_to_ = Lsn::none;
  Lsn confirmed_ = Lsn::none;
  std::deque<Mark> marks_;
  TimePoint saved_at_{};
};

}  // namespace swizzle::sql
