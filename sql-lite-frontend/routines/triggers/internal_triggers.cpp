#include "sql-lite-frontend/routines/triggers/internal_triggers.h"

#include <fmt/format.h>

#include <utility>

#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

/// A trigger's number is its constraint's with one of these above it, so it needs no record.
enum class TriggerRole : std::uint8_t {
  check_insert = 1,
  check_update,
  act_on_delete,
  act_on_update
};
constexpr unsigned kRoleShift = 28;
static_assert(kUserTypeIds == 1U << kRoleShift, "numbers of objects lie below");

constexpr Oid kUniqueRecheck = 1250;
constexpr Oid kCheckInsert = 1644;
constexpr Oid kCheckUpdate = 1645;

Oid number_of(TriggerRole role, const Constraint& constraint) {
  return (static_cast<Oid>(std::to_underlying(role)) << kRoleShift) | constraint.oid;
}

/// Returns the function of an action on DELETE; that on UPDATE is the next number.
Oid function_of(ReferentialAction action) {
  switch (action) {
    case ReferentialAction::cascade:
      return 1646;
    case ReferentialAction::restrict_:
      return 1648;
    case ReferentialAction::set_null:
      return 1650;
    case ReferentialAction::set_default:
      return 1652;
    case ReferentialAction::no_action:
      break;
  }
  return 1654;
}

std::uint8_t bit_of(TriggerEvent event) {
  return static_cast<std::uint8_t>(1U << std::to_underlying(event));
}

class InternalTriggers {
 public:
  explicit InternalTriggers(const Table& table) : table_(table) {}

  void add_key(const Constraint& key) {
    Trigger& trigger =
        add(TriggerRole::check_insert, key, kUniqueRecheck, "Unique_ConstraintTrigger_");
    trigger.events =
        static_cast<std::uint8_t>(bit_of(TriggerEvent::insert) | bit_of(TriggerEvent::update));
    // DISABLE TRIGGER ALL is refused for such a table.
    trigger.enabled = 'O';
  }

  void add_checks(const Constraint& key) {
    add_check(TriggerRole::check_insert, key, kCheckInsert, TriggerEvent::insert);
    add_check(TriggerRole::check_update, key, kCheckUpdate, TriggerEvent::update);
  }

  void add_actions(const Table& referencing, const Constraint& key) {
    add_action(TriggerRole::act_on_delete, referencing, key, function_of(key.on_delete),
               TriggerEvent::remove);
    add_action(TriggerRole::act_on_update, referencing, key, function_of(key.on_update) + 1,
               TriggerEvent::update);
  }

  std::vector<InternalTrigger> take() && { return std::move(all_); }

 private:
  Trigger& add(TriggerRole role, const Constraint& constraint, Oid function,
               std::string_view prefix) {
    InternalTrigger& made = all_.emplace_back();
    made.index = constraint.index;
    Trigger& trigger = made.trigger;
    trigger.oid = number_of(role, constraint);
    trigger.name = fmt::format("{}{}", prefix, trigger.oid);
    trigger.function = function;
    trigger.time = TriggerTime::after;
    trigger.for_each_row = true;
    trigger.enabled = table_.relation.leaves_keys ? 'D' : 'O';
    trigger.constraint = constraint.oid;
    trigger.deferrable = constraint.deferrable;
    trigger.initially_deferred = constraint.initially_deferred;
    return trigger;
  }
  void add_check(TriggerRole role, const Constraint& key, Oid function, TriggerEvent event) {
    Trigger& trigger = add(role, key, function, "RI_ConstraintTrigger_c_");
    trigger.events = bit_of(event);
    trigger.referenced_table = key.referenced_table;
    if (key.parent == kNoOid) return;
    Constraint parent;
    parent.oid = key.parent;
    trigger.parent = number_of(role, parent);
  }
  void add_action(TriggerRole role, const Table& referencing, const Constraint& key, Oid function,
                  TriggerEvent event) {
    Trigger& trigger = add(role, key, function, "RI_ConstraintTrigger_a_");
    trigger.events = bit_of(event);
    trigger.referenced_table = referencing.relation.oid;
    const ReferentialAction action = event == TriggerEvent::remove ? key.on_delete : key.on_update;
    if (action == ReferentialAction::no_action) return;
    // Only the check of NO ACTION can wait.
    trigger.deferrable = trigger.initially_deferred = false;
  }

  const Table& table_;
  std::vector<InternalTrigger> all_;
};

}  // namespace

std::vector<InternalTrigger> internal_triggers(StatementContext& session, const Table& table) {
  InternalTriggers made{table};
  for (const Constraint& constraint : table.relation.constraints) {
    const bool is_foreign = constraint.kind == ConstraintKind::foreign_key;
    if (is_foreign && constraint.enforced) made.add_checks(constraint);
    if (!is_foreign && constraint.deferrable && constraint.index != kNoOid)
      made.add_key(constraint);
  }
  for (const TablePtr& referencing : session.names.referencing_tables(table.relation.oid)) {
    for (const Constraint& constraint : referencing->relation.constraints) {
      // A partition's foreign key acts by its parent's triggers.
      if (constraint.kind == ConstraintKind::foreign_key && constraint.enforced &&
          constraint.referenced_table == table.relation.oid && constraint.parent == kNoOid) {
        made.add_actions(*referencing, constraint);
      }
    }
  }
  return std::move(made).take();
}

Oid constraint_of_internal_trigger(Oid trigger) noexcept {
  const Oid role = trigger >> kRoleShift;
  const bool is_one = role >= std::to_underlying(TriggerRole::check_insert) &&
                      role <= std::to_underlying(TriggerRole::act_on_update);
  return is_one ? trigger & (kUserTypeIds - 1) : kNoOid;
}

}  // namespace swizzle::sql
