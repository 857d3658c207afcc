#include "sql-lite-frontend/session/replication/slots.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/runtime/runtime.h"
#include "sql-lite-frontend/query/bound/statement_services.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "storage/logical/logical_log.h"

namespace swizzle::sql {
namespace {

constexpr std::size_t kLongestSlotName = 63;
constexpr SqlState kInvalidName{"42602"};
constexpr SqlState kNameTooLong{"42622"};
constexpr SqlState kObjectInUse{"55006"};
constexpr Duration kLooksForFreeSlotEvery = std::chrono::milliseconds{20};

void require_plugin(std::string_view plugin) {
  if (plugin == "pgoutput") return;
  throw sql_error(sqlstate::feature_not_supported, "output plugin \"{}\" is not supported", plugin)
      .with_hint("The server has one output plugin, \"pgoutput\".");
}

/// Drops the slot again unless its creation succeeds.
class HalfMade {
 public:
  HalfMade(LogSlots& slots, const std::string& name) : slots_(slots), name_(name) {}
  HalfMade(const HalfMade&) = delete;
  HalfMade& operator=(const HalfMade&) = delete;
  ~HalfMade() {
    if (!is_whole_) slots_.drop_unfinished(name_);
  }
  void finish() noexcept { is_whole_ = true; }

 private:
  LogSlots& slots_;
  const std::string& name_;
  bool is_whole_ = false;
};

}  // namespace

void require_may_use_slots(Session::State& session) {
  const RolePtr role = session.catalog.role(session.user);
  if (role && (role->superuser || role->replication)) return;
  throw SqlError{sqlstate::insufficient_privilege,
                 "must be superuser or replication role to use replication slots"};
}

void require_slots(Session::State& session) {
  if (session.settings.integer("max_replication_slots") == 0) {
    throw SqlError{sqlstate::object_not_in_prerequisite_state,
                   "replication slots can only be used if max_replication_slots > 0"};
  }
}

void require_logical_decoding(Session::State& session) {
  require_slots(session);
  if (!session.logs_changes()) {
    throw SqlError{sqlstate::object_not_in_prerequisite_state,
                   "logical decoding requires wal_level >= logical"};
  }
}

void require_slot_name(std::string_view name) {
  if (name.empty()) throw_error(kInvalidName, "replication slot name \"{}\" is too short", name);
  if (name.size() > kLongestSlotName)
    throw_error(kNameTooLong, "replication slot name \"{}\" is too long", name);
  const bool is_plain = std::ranges::all_of(name, [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '_';
  });
  if (is_plain) return;
  throw sql_error(kInvalidName, "replication slot name \"{}\" contains invalid character", name)
      .with_hint(
          "Replication slot names may only contain lower case letters, numbers, and the underscore "
          "character.");
}

MadeSlot make_slot(Session::State& session, const NewSlot& wanted) {
  require_slot_name(wanted.name);
  if (session.transaction && session.transaction->id() != TxnId::none) {
    throw SqlError{SqlState{"25001"},
                   "cannot create logical replication slot in transaction that has performed "
                   "writes"};
  }
  require_plugin(wanted.plugin);
  LogicalLog& log = session.shared.engine.logical_log();
  const std::int32_t pid = session.options.backend_pid;
  session.slots_used = true;
  swizzle::Slot slot;
  slot.name = wanted.name;
  slot.plugin = wanted.plugin;
  slot.database = session.catalog.of_database().database();
  slot.lifetime = wanted.lifetime;
  slot.holder = pid;
  const auto most = static_cast<std::size_t>(session.settings.integer("max_replication_slots"));
  std::optional<HalfMade> half;
  value_of(log.begin_slot(std::move(slot), most, [&] {
    // From the first wait for transactions on, the slot is in the list, and must be dropped after
    // an error.
    if (!half) half.emplace(log.slots(), wanted.name);
    session.check_cancelled();
  }));
  if (!half) half.emplace(log.slots(), wanted.name);
  MadeSlot made;
  switch (wanted.snapshot) {
    case NewSlot::Snapshot::none:
      made.consistent = log.durable();
      break;
    case NewSlot::Snapshot::use:
      made.consistent = LogicalLog::view_of(*session.transaction).lsn;
      break;
    case NewSlot::Snapshot::hold:
      made.held =
          session.transaction.begin_in_engine(Isolation::repeatable_read, Access::read_only);
      made.view = LogicalLog::view_of(*made.held);
      made.consistent = made.view.lsn;
      break;
  }
  if (wanted.two_phase) value_of(log.slots().enable_two_phase(wanted.name, made.consistent));
  value_of(log.slots().complete(wanted.name, made.consistent));
  half->finish();
  log.slots().release(wanted.name);
  return made;
}

Lsn make_physical_slot(Session::State& session, const NewPhysicalSlot& wanted) {
  require_slot_name(wanted.name);
  swizzle::Slot slot;
  slot.name = wanted.name;
  slot.lifetime = wanted.lifetime;
  slot.holder = session.options.backend_pid;
  if (wanted.reserves_log) slot.restart = Lsn::max;
  session.slots_used = true;
  LogicalLog& log = session.shared.engine.logical_log();
  const auto most = static_cast<std::size_t>(session.settings.integer("max_replication_slots"));
  const Lsn kept = value_of(log.make_physical_slot(std::move(slot), most));
  log.slots().release(wanted.name);
  return kept;
}

void drop_slot(Session::State& session, std::string_view name, DropWhen when) {
  LogSlots& slots = session.shared.engine.logical_log().slots();
  for (;;) {
    auto dropped = slots.drop(name, session.options.backend_pid);
    if (dropped) return;
    if (when == DropWhen::now || dropped.error().state() != kObjectInUse)
      throw_storage_error(std::move(dropped).error());
    Runtime::current().sleep_until(Runtime::current().now() + kLooksForFreeSlotEvery);
    session.check_cancelled();
  }
}

std::string lsn_text(Lsn lsn) {
  return fmt::format("{:X}/{:X}", raw(lsn) >> 32U, raw(lsn) & UINT32_MAX);
}

Lsn parse_lsn(std::string_view text) {
  std::uint32_t halves[2] = {0, 0};
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto high = std::from_chars(at, end, halves[0], 16);
  bool is_good = high.ec == std::errc{} && high.ptr != end && *high.ptr == '/';
  if (is_good) {
    const auto low = std::from_chars(high.ptr + 1, end, halves[1], 16);
    is_good = low.ec == std::errc{} && low.ptr == end;
  }
  if (!is_good) {
    throw_error(SqlState{"22P02"}, "invalid input syntax for type {}: \"{}\"", "pg_lsn", text);
  }
  return Lsn{(std::uint64_t{halves[0]} << 32U) | halves[1]};
}

}  // namespace swizzle::sql
