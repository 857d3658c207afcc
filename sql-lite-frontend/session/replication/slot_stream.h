#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sql-lite-frontend/replication.h"
#include "sql-lite-frontend/session/replication/pgoutput.h"
#include "sql-lite-frontend/session/replication/published_changes.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "storage/logical/logical_log.h"

namespace swizzle::sql {

/// Stream of pgoutput's messages for the reader of a slot. Holds the slot.
class SlotStream final : public ChangeStream {
 public:
  struct Part {
    Lsn from = Lsn::none;  ///< the slot's position counts instead if it is later
    Lsn until = Lsn::max;  ///< transactions that commit from here on are not delivered
  };
  /// `command` has the options for the plugin. Throws 42704, 55006, 55000, 0A000 and others.
  SlotStream(Session::State& session, std::string_view slot, Part part,
             const ReplicationCommand& command);
  ~SlotStream() override;

  std::optional<Message> next() override;
  [[nodiscard]] bool is_at_end() const noexcept override {
    return !current_ && reader_->is_at_end();
  }
  [[nodiscard]] Lsn position() const noexcept override {
    return current_ ? current_->commit : read_up_to_;
  }
  /// The transaction of the last message that was returned.
  [[nodiscard]] TxnId transaction() const noexcept { return handed_out_of_; }
  /// True between two transactions.
  [[nodiscard]] bool is_between() const noexcept { return !current_ && ready_.empty(); }
  bool awaits_more(const std::function<void()>& wake) override;
  void confirm(Lsn lsn) override;
  [[nodiscard]] Lsn confirmed() const noexcept override { return confirmed_; }
  void show(const Progress& progress) override;
  [[nodiscard]] Duration timeout() const override;

  class Files;
  /// Exclusive use of the slot.
  class Hold {
   public:
    Hold(Session::State& session, std::string name);
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    ~Hold();
    /// The slot as it was when it was acquired.
    [[nodiscard]] const swizzle::Slot& slot() const noexcept { return slot_; }

   private:
    LogSlots& slots_;
    swizzle::Slot slot_;
  };

 private:
  struct Mark {
    Lsn position;
    Lsn needed;
  };
  /// A large transaction that is sent in parts before it ends.
  struct Streamed {
    PublishedChanges::ToldTables told;
    std::set<std::uint32_t> parts;  ///< that were sent, from which there were messages
    bool has_begun = false;
    bool is_left_out = false;
  };
  using Event = DecodedChanges::Event;

  void take_next_transaction();
  /// Takes an event without changes.
  void take_end(const DecodedChanges& event);
  void take_back_parts(std::uint32_t first);
  void send_abort(std::uint32_t number);
  [[nodiscard]] std::uint32_t number_of_part(std::uint32_t part) const noexcept;
  void tell_next_change();
  PublishedChanges::Place tell(const ChangeBuffer::Change& change);
  void begin_current(Lsn lsn);
  void end_current();
  void send(Lsn lsn, std::string message);
  [[nodiscard]] bool is_repeated() const noexcept { return current_ && current_->is_repeated; }
  void keep_mark();

  Session::State& session_;
  LogSlots& slots_;
  std::string name_;
  Hold hold_;
  std::unique_ptr<Files> files_;
  const OutputOptions options_;
  PublishedChanges published_;
  std::unique_ptr<ChangeReader> reader_;
  std::unique_ptr<wal::LogFollower> follower_;
  std::optional<DecodedChanges> current_;
  Streamed* streamed_ = nullptr;  ///< `current_` is a part of it
  std::map<TxnId, Streamed> all_streamed_;
  std::set<TxnId> prepared_;  ///< that were sent
  pgoutput::TransactionFacts facts_;
  bool has_begun_ = false;
  std::string origin_;  ///< the message that comes after BEGIN
  TxnId handed_out_of_ = TxnId::none;
  std::deque<Message> ready_;
  std::vector<std::string> told_;
  Lsn read_up_to_ = Lsn::none;
  Lsn confirmed_ = Lsn::none;
  std::deque<Mark> marks_;
  TimePoint saved_at_{};
};

/// Advances the slot to `upto`, or to the log's end if that is earlier, and returns its position:
/// the reader has everything that commits before it. Throws as SlotStream does, and 55000 if the
/// slot is already further.
Lsn advance_slot(Session::State& session, std::string_view slot, Lsn upto);

}  // namespace swizzle::sql
