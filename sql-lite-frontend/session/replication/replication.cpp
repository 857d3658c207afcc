#include "sql-lite-frontend/replication.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

#include "sql-lite-frontend/session/replication/big_endian_text.h"
#include "sql-lite-frontend/session/replication/command.h"
#include "sql-lite-frontend/session/replication/physical_stream.h"
#include "sql-lite-frontend/session/replication/slot_stream.h"
#include "sql-lite-frontend/session/replication/slots.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "storage/logical/logical_log.h"
#include "storage/standby/sent_files.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kInFailedTransaction{"25P02"};
constexpr SqlState kActiveTransaction{"25001"};

struct TextColumn {
  std::string_view name;
  TypeId type = TypeId::text;
  std::optional<std::string> value;
};

/// A row whose values are already text.
class TextRow final : public OutputRow {
 public:
  explicit TextRow(std::span<const TextColumn> columns) : columns_(columns) {}
  [[nodiscard]] std::size_t size() const noexcept override { return columns_.size(); }
  void append_data_row(std::string& buffer) const override {
    put_number(buffer, static_cast<std::int16_t>(columns_.size()));
    for (const TextColumn& column : columns_) {
      put_number(buffer, column.value ? static_cast<std::int32_t>(column.value->size()) : -1);
      if (column.value) buffer += *column.value;
    }
  }
  [[nodiscard]] std::optional<std::string> text(std::size_t column) const override {
    return columns_[column].value;
  }

 private:
  std::span<const TextColumn> columns_;
};

void send_row(ResultSink& sink, std::span<const TextColumn> columns) {
  std::vector<OutputColumn> described;
  for (const TextColumn& column : columns) {
    OutputColumn out;
    out.name = column.name;
    out.type_oid = static_cast<std::uint32_t>(raw(column.type));
    if (column.type == TypeId::int4) out.type_size = 4;
    described.push_back(out);
  }
  sink.row_description(described);
  sink.data_row(TextRow{columns});
}

bool is_show(std::string_view text) {
  constexpr std::string_view kShow = "show";
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return text.size() > kShow.size() &&
         std::ranges::equal(text.substr(0, kShow.size()), kShow,
                            [](char a, char b) { return (a | ' ') == b; });
}

/// Throws unless the session's transaction has no snapshot yet, since it is to get the slot's.
void require_unread_transaction(Session::State& session) {
  const SessionTransaction& transaction = session.transaction;
  const auto refuse = [](std::string_view why) {
    throw_error(sqlstate::internal_error, "CREATE_REPLICATION_SLOT ... (SNAPSHOT 'use') must {}",
                why);
  };
  if (!transaction || !transaction.in_explicit_block()) refuse("be called inside a transaction");
  if (transaction.modes().isolation != Isolation::repeatable_read)
    refuse("be called in REPEATABLE READ isolation mode transaction");
  if (transaction.has_run_statements()) refuse("be called before any query");
}

}  // namespace

ReplicationCommands::ReplicationCommands(Session& session, For whom)
    : session_(session), for_(whom) {}

ReplicationCommands::~ReplicationCommands() {
  end_export();
}

bool ReplicationCommands::takes(std::string_view text) const noexcept {
  try {
    if (parse_replication_command(text).has_value()) return true;
    return for_ == For::followers && !is_show(text);
  } catch (const SqlError&) {
    // It is treated as a command: run() reports the error.
    return true;
  }
}

void ReplicationCommands::end_export() noexcept {
  if (!exported_) return;
  session_.state().shared.exported_snapshots.remove(export_name_);
  exported_.reset();
}

Outcome ReplicationCommands::run(std::string_view text, ResultSink& sink, ChangeSender& sender) {
  return session_.run_request(text, sink, [&] {
    Session::State& session = session_.state();
    const auto command = parse_replication_command(text);
    if (!command) {
      throw SqlError{sqlstate::feature_not_supported,
                     "cannot execute SQL commands in WAL sender for physical replication"};
    }
    if (session.transaction.is_failed()) {
      throw SqlError{kInFailedTransaction,
                     "current transaction is aborted, commands ignored until end of transaction "
                     "block"};
    }
    using Kind = ReplicationCommand::Kind;
    switch (command->kind) {
      case Kind::identify_system:
        identify(sink);
        break;
      case Kind::timeline_history:
        send_history(*command, sink);
        break;
      case Kind::create_slot:
        command->is_physical ? create_physical(*command, sink) : create(*command, sink);
        break;
      case Kind::read_slot:
        show_slot(*command, sink);
        break;
      case Kind::base_copy:
        send_base_copy(sink, sender);
        break;
      case Kind::page_lsns:
        note_page_lsns(*command);
        break;
      case Kind::drop_slot:
        require_may_use_slots(session);
        drop_slot(session, command->slot, command->waits ? DropWhen::once_free : DropWhen::now);
        break;
      case Kind::start:
        command->is_physical ? start_physical(*command, sink, sender) : start(*command, sender);
        break;
    }
    sink.command_complete(command->tag());
  });
}

void ReplicationCommands::identify(ResultSink& sink) {
  Session::State& session = session_.state();
  const LogicalLog& log = session.shared.engine.logical_log();
  const std::array row{
      TextColumn{"systemid", TypeId::text, std::to_string(log.log_id())},
      TextColumn{"timeline", TypeId::int4, std::to_string(log.timeline())},
      TextColumn{"xlogpos", TypeId::text, lsn_text(log.durable())},
      TextColumn{"dbname", TypeId::text,
                 for_ == For::followers ? std::nullopt : std::optional{session.options.database}}};
  send_row(sink, row);
}

void ReplicationCommands::send_history(const ReplicationCommand& command, ResultSink& sink) {
  LogicalLog& log = session_.state().shared.engine.logical_log();
  const wal::TimelineHistory history = value_of(log.history(command.timeline));
  const std::array row{
      TextColumn{"filename", TypeId::text, wal::TimelineHistory::file_name(command.timeline)},
      TextColumn{"content", TypeId::text, history.text()}};
  send_row(sink, row);
}

void ReplicationCommands::show_slot(const ReplicationCommand& command, ResultSink& sink) {
  LogicalLog& log = session_.state().shared.engine.logical_log();
  const auto slot = log.slots().find(command.slot);
  if (slot && !slot->is_physical()) {
    throw SqlError{sqlstate::object_not_in_prerequisite_state,
                   "cannot use READ_REPLICATION_SLOT with a logical replication slot"};
  }
  std::array row{TextColumn{"slot_type", TypeId::text, std::nullopt},
                 TextColumn{"restart_lsn", TypeId::text, std::nullopt},
                 TextColumn{"restart_tli", TypeId::int8, std::nullopt}};
  if (slot) row[0].value = "physical";
  if (slot && slot->restart != Lsn::none) {
    row[1].value = lsn_text(slot->restart);
    row[2].value = std::to_string(log.timeline());
  }
  send_row(sink, row);
}

void ReplicationCommands::create_physical(const ReplicationCommand& command, ResultSink& sink) {
  Session::State& session = session_.state();
  require_may_use_slots(session);
  require_slots(session);
  NewPhysicalSlot wanted{.name = command.slot, .reserves_log = command.reserves_log};
  if (command.is_temporary) wanted.lifetime = swizzle::Slot::Lifetime::temporary;
  const Lsn kept = make_physical_slot(session, wanted);
  const std::array row{TextColumn{"slot_name", TypeId::text, command.slot},
                       TextColumn{"consistent_point", TypeId::text, lsn_text(kept)},
                       TextColumn{"snapshot_name", TypeId::text, std::nullopt},
                       TextColumn{"output_plugin", TypeId::text, std::nullopt}};
  send_row(sink, row);
}

void ReplicationCommands::start_physical(const ReplicationCommand& command, ResultSink& sink,
                                         ChangeSender& sender) {
  Session::State& session = session_.state();
  if (session.transaction && session.transaction.in_explicit_block()) {
    throw SqlError{kActiveTransaction, "START_REPLICATION cannot run inside a transaction block"};
  }
  require_may_use_slots(session);
  PhysicalStream stream{session, command};
  // Replay on a standby goes on beside it.
  if (session.is_inside_gate.load(std::memory_order_relaxed)) session.leave_gate();
  sender.send(stream);
  if (!stream.is_over()) return;
  const std::array row{TextColumn{"next_tli", TypeId::int8, std::to_string(stream.next_timeline())},
                       TextColumn{"next_tli_startpos", TypeId::text, lsn_text(stream.until())}};
  send_row(sink, row);
}

/// Pages that the follower has, before a BASE_COPY that leaves them out.
void ReplicationCommands::note_page_lsns(const ReplicationCommand& command) {
  constexpr std::size_t kDigits = 16;
  constexpr int kHexadecimal = 16;
  Session::State& session = session_.state();
  require_may_use_slots(session);
  const std::string_view digits = command.page_lsns;
  if (command.first_page != page_lsns_.size() || digits.size() % kDigits != 0)
    throw SqlError{sqlstate::protocol_violation, "invalid numbers of pages in PAGE_LSNS"};
  const std::size_t count = page_lsns_.size() + digits.size() / kDigits;
  page_lsns_share_.set(&session.memory, count * sizeof(Lsn));
  page_lsns_.reserve(count);
  for (std::size_t at = 0; at < digits.size(); at += kDigits) {
    std::uint64_t lsn = 0;
    const char* const begin = digits.data() + at;
    const auto [end, error] = std::from_chars(begin, begin + kDigits, lsn, kHexadecimal);
    if (error != std::errc{} || end != begin + kDigits)
      throw SqlError{sqlstate::protocol_violation, "invalid position of a page in PAGE_LSNS"};
    page_lsns_.push_back(Lsn{lsn});
  }
}

/// Sends a copy of the server's directory, as a sequence of operations on its files.
void ReplicationCommands::send_base_copy(ResultSink& sink, ChangeSender& sender) {
  Session::State& session = session_.state();
  require_may_use_slots(session);
  if (session.shared.engine.is_standby())
    throw SqlError{sqlstate::feature_not_supported, "a standby cannot be copied"};
  SentFiles files{[&sink](Bytes message) { sink.copy_out_data(message); }};
  if (!page_lsns_.empty())
    files.leave_out_pages(std::filesystem::path{"engine"} / "data", std::exchange(page_lsns_, {}));
  sink.copy_out_begin({.overall = Format::binary, .columns = 0});
  value_of(sender.copy_server(files,
                              [&files](const RecoveryProgress& now) { files.tell_progress(now); }));
  sink.copy_out_end();
}

void ReplicationCommands::create(const ReplicationCommand& command, ResultSink& sink) {
  Session::State& session = session_.state();
  require_may_use_slots(session);
  require_logical_decoding(session);
  NewSlot wanted;
  wanted.name = command.slot;
  wanted.plugin = command.plugin;
  wanted.two_phase = command.two_phase;
  if (command.is_temporary) wanted.lifetime = swizzle::Slot::Lifetime::temporary;
  if (command.snapshot == "use") {
    require_unread_transaction(session);
    wanted.snapshot = NewSlot::Snapshot::use;
  } else if (command.snapshot == "export") {
    if (session.transaction && session.transaction.in_explicit_block()) {
      throw SqlError{sqlstate::internal_error,
                     "CREATE_REPLICATION_SLOT ... (SNAPSHOT 'export') must not be called inside a "
                     "transaction"};
    }
    wanted.snapshot = NewSlot::Snapshot::hold;
  }
  MadeSlot made = make_slot(session, wanted);
  if (wanted.snapshot == NewSlot::Snapshot::use) session.transaction.begin_statement();
  TextColumn snapshot{"snapshot_name", TypeId::text, std::nullopt};
  if (made.held) {
    exported_ = std::move(made.held);
    export_name_ = session.shared.exported_snapshots.add(
        {session.catalog.of_database().database(), made.view});
    snapshot.value = export_name_;
  }
  const std::array row{TextColumn{"slot_name", TypeId::text, command.slot},
                       TextColumn{"consistent_point", TypeId::text, lsn_text(made.consistent)},
                       snapshot, TextColumn{"output_plugin", TypeId::text, command.plugin}};
  send_row(sink, row);
}

void ReplicationCommands::start(const ReplicationCommand& command, ChangeSender& sender) {
  Session::State& session = session_.state();
  if (session.transaction && session.transaction.in_explicit_block()) {
    throw SqlError{kActiveTransaction, "START_REPLICATION cannot run inside a transaction block"};
  }
  require_may_use_slots(session);
  require_logical_decoding(session);
  if (session.session_context.format.client_encoding != nullptr) {
    throw SqlError{sqlstate::feature_not_supported,
                   "START_REPLICATION with a client_encoding other than UTF8 is not supported"};
  }
  const auto stream = std::make_unique<SlotStream>(session, command.slot,
                                                   SlotStream::Part{.from = command.from}, command);
  sender.send(*stream);
}

}  // namespace swizzle::sql
