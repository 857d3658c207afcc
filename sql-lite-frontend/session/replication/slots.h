#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sql-lite-frontend/session/state/session_state.h"
#include "storage/logical/slots.h"

/// Replication slots for SQL functions and the walsender's commands.
namespace swizzle::sql {

/// Throws 42501 if the user lacks the right, and 55000 if wal_level or max_replication_slots
/// forbids slots.
void require_may_use_slots(Session::State& session);
void require_logical_decoding(Session::State& session);

struct NewSlot {
  std::string name;
  std::string plugin;
  swizzle::Slot::Lifetime lifetime = swizzle::Slot::Lifetime::permanent;
  bool two_phase = false;  ///< prepared transactions are delivered when they are prepared
  enum class Snapshot : std::uint8_t {
    none,
    use,   ///< the session's transaction gets the slot's snapshot
    hold,  ///< a transaction in `held` gets it, for export
  } snapshot = Snapshot::none;
};
struct MadeSlot {
  Lsn consistent = Lsn::none;  ///< commits from here on are delivered
  ReadView view;               ///< for Snapshot::hold
  std::unique_ptr<Transaction> held;
};
/// Creates a slot. Waits for the end of all transactions that have written something. Throws
/// SqlError 42710, 53400, 42602, 0A000 and others.
MadeSlot make_slot(Session::State& session, const NewSlot& wanted);

struct NewPhysicalSlot {
  std::string name;
  swizzle::Slot::Lifetime lifetime = swizzle::Slot::Lifetime::permanent;
  bool reserves_log = false;
};
/// Creates a physical slot. Returns the position from which it keeps the log, or none if it does
/// not keep any yet. Throws 42710, 53400, 42602 and others.
Lsn make_physical_slot(Session::State& session, const NewPhysicalSlot& wanted);
/// Throws 42602 or 42622 for a name that no slot can have.
void require_slot_name(std::string_view name);
/// Throws 55000 if the server has no slots.
void require_slots(Session::State& session);

enum class DropWhen : std::uint8_t { now, once_free };
void drop_slot(Session::State& session, std::string_view name, DropWhen when);

/// Returns the position in PostgreSQL's form, "16/B374D848".
std::string lsn_text(Lsn lsn);
/// Parses this form. Throws 22P02.
Lsn parse_lsn(std::string_view text);

}  // namespace swizzle::sql
