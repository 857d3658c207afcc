#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sql-lite-frontend/session/state/session_state.h"
#include "storage/logical/slots.h"

/// Replication slots as SQL and the walsender's commands have them.
namespace swizzle::sql {

/// 42501 without the right; 55000 if wal_level or the number of slots does not allow it.
void require_may_use_slots(Session::State& session);
void require_logical_decoding(Session::State& session);

struct NewSlot {
  std::string name;
  std::string plugin;
  swizzle::Slot::Lifetime lifetime = swizzle::Slot::Lifetime::permanent;
  enum class Snapshot : std::uint8_t {
    none,
    use,   ///< the session's transaction sees what the slot's changes build on
    hold,  ///< a transaction of its own does, in `held`
  } snapshot = Snapshot::none;
};
struct MadeSlot {
  Lsn consistent = Lsn::none;  ///< what commits from here on is handed out
  ReadView view;               ///< Snapshot::hold
  std::unique_ptr<Transaction> held;
};
/// Waits for all transactions that have written something and not ended. Throws SqlError 42710,
/// 53400, 42602, 0A000 …
MadeSlot make_slot(Session::State& session, const NewSlot& wanted);

struct NewPhysicalSlot {
  std::string name;
  swizzle::Slot::Lifetime lifetime = swizzle::Slot::Lifetime::permanent;
  bool reserves_log = false;
};
/// Returns the position from which the log is kept; none if the slot reserves none. Throws 42710,
/// 53400, 42602 …
Lsn make_physical_slot(Session::State& session, const NewPhysicalSlot& wanted);
/// 55000.
void require_slots(Session::State& session);

enum class DropWhen : std::uint8_t { now, once_free };
void drop_slot(Session::State& session, std::string_view name, DropWhen when);

/// "16/B374D848".
std::string lsn_text(Lsn lsn);
/// 22P02.
Lsn parse_lsn(std::string_view text);

}  // namespace swizzle::sql
