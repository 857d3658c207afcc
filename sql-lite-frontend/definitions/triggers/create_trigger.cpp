#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/definitions/partitions/partition_parts.h"
#include "sql-lite-frontend/definitions/tables/named_relation.h"
#include "sql-lite-frontend/definitions/triggers/trigger_definition.h"
#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/routines/triggers/builtin_triggers.h"
#include "sql-lite-frontend/routines/triggers/condition.h"

/// CREATE TRIGGER.
namespace swizzle::sql {
namespace {

constexpr SqlState kInvalidTrigger{"42P17"};
// The grammar's numbers for times and events.
constexpr std::int32_t kBefore = 1 << 1;
constexpr std::int32_t kInsert = 1 << 2;
constexpr std::int32_t kDelete = 1 << 3;
constexpr std::int32_t kUpdate = 1 << 4;
constexpr std::int32_t kTruncate = 1 << 5;
constexpr std::int32_t kInstead = 1 << 6;

std::uint8_t bit_of(TriggerEvent event) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(event));
}

[[noreturn]] void unsupported_form(std::string_view message) {
  throw SqlError{sqlstate::feature_not_supported, std::string{message}};
}

/// Reads one statement.
class TriggerBuilder {
 public:
  TriggerBuilder(StatementContext& session, const ast::CreateTrigStmt& statement)
      : session_(session), statement_(statement) {}

  void run() {
    find_table();
    read_form();
    read_transition_tables();
    if (statement_.when_clause != nullptr) {
      trigger_.when_sql = stored_condition(session_, table_, trigger_, statement_.when_clause);
    }
    find_function();
    Relation relation = table_->relation;
    place(relation);
    read_columns();
    for (const ast::Node* argument : statement_.args) {
      trigger_.arguments.emplace_back(ast::string_of(argument));
    }
    std::erase_if(relation.triggers,
                  [&](const Trigger& other) { return other.name == trigger_.name; });
    const auto behind =
        std::ranges::upper_bound(relation.triggers, trigger_.name, {}, &Trigger::name);
    relation.triggers.insert(behind, trigger_);
    table_ = session_.catalog.replace(*session_.transaction, *table_, std::move(relation));
    if (trigger_.for_each_row) hand_down();
  }

 private:
  /// Each partition has a trigger of its own for one of the whole table's rows.
  void hand_down() {
    drop_parts(session_, *table_, &Relation::triggers, trigger_.oid);
    for (const Oid oid : table_->relation.partitions) {
      give_trigger(session_, table_->relation, trigger_, session_.names.table(oid));
    }
  }

  void find_table() {
    const NamedRelation found = require_named_relation(session_, *statement_.relation);
    table_ = found.table;
    const Relation& relation = table_->relation;
    const auto refuse = [&](std::string_view kind, std::string_view why) {
      throw sql_error(sqlstate::wrong_object_type, "\"{}\" is a {}", relation.name, kind)
          .with_detail(std::string{why});
    };
    const bool is_view = relation.kind == RelationKind::view;
    const bool may_fire = is_table(relation.kind) || relation.kind == RelationKind::computed;
    if (found.index != nullptr || (!is_view && !may_fire)) {
      throw sql_error(sqlstate::wrong_object_type, "relation \"{}\" cannot have triggers",
                      found.index != nullptr ? found.index->name : relation.name)
          .with_detail(fmt::format("This operation is not supported for {}.", plural_of(found)));
    }
    if (!is_view && (statement_.timing & kInstead) != 0) {
      refuse("table", "Tables cannot have INSTEAD OF triggers.");
    }
    if (is_view && (statement_.timing & kInstead) == 0 && statement_.row) {
      refuse("view", "Views cannot have row-level BEFORE or AFTER triggers.");
    }
    if (is_view && (statement_.events & kTruncate) != 0) {
      refuse("view", "Views cannot have TRUNCATE triggers.");
    }
    if (table_->computed != nullptr) {
      throw_error(sqlstate::insufficient_privilege, "permission denied: \"{}\" is a system catalog",
                  relation.name);
    }
    session_.rights.require(table_, privilege::kTrigger);
    table_ = session_.catalog.lock_for_change(*session_.transaction, table_,
                                              lock::RelationMode::share_row_exclusive);
  }

  void read_form() {
    trigger_.name = statement_.trigname;
    trigger_.for_each_row = statement_.row;
    trigger_.time = (statement_.timing & kBefore) != 0    ? TriggerTime::before
                    : (statement_.timing & kInstead) != 0 ? TriggerTime::instead_of
                                                          : TriggerTime::after;
    const auto add = [&](std::int32_t said, TriggerEvent event) {
      if ((statement_.events & said) != 0) trigger_.events |= bit_of(event);
    };
    add(kInsert, TriggerEvent::insert);
    add(kUpdate, TriggerEvent::update);
    add(kDelete, TriggerEvent::remove);
    add(kTruncate, TriggerEvent::truncate);
    if (trigger_.for_each_row && trigger_.fires_on(TriggerEvent::truncate)) {
      unsupported_form("TRUNCATE FOR EACH ROW triggers are not supported");
    }
    if (trigger_.time == TriggerTime::instead_of) {
      if (!trigger_.for_each_row) {
        unsupported_form("INSTEAD OF triggers must be FOR EACH ROW");
      }
      if (statement_.when_clause != nullptr) {
        unsupported_form("INSTEAD OF triggers cannot have WHEN conditions");
      }
      if (!statement_.columns.empty()) {
        unsupported_form("INSTEAD OF triggers cannot have column lists");
      }
    }
    if (statement_.isconstraint) read_constraint();
  }

  void read_constraint() {
    if (statement_.replace) {
      unsupported_form("CREATE OR REPLACE CONSTRAINT TRIGGER is not supported");
    }
    trigger_.deferrable = statement_.deferrable;
    trigger_.initially_deferred = statement_.initdeferred;
    if (statement_.constrrel == nullptr) return;
    trigger_.referenced_table =
        require_named_relation(session_, *statement_.constrrel).table->relation.oid;
  }

  void read_transition_tables() {
    const auto invalid = [](std::string_view message) {
      throw SqlError{kInvalidTrigger, std::string{message}};
    };
    if (!statement_.transition_rels.empty() && table_->relation.kind == RelationKind::view) {
      throw sql_error(sqlstate::wrong_object_type, "\"{}\" is a view", table_->relation.name)
          .with_detail("Triggers on views cannot have transition tables.");
    }
    std::string& old_name = trigger_.old_table;
    std::string& new_name = trigger_.new_table;
    for (const ast::Node* node : statement_.transition_rels) {
      const auto& named = ast::as<ast::TriggerTransition>(node);
      if (!named.is_table) {
        throw SqlError{sqlstate::feature_not_supported,
                       "ROW variable naming in the REFERENCING clause is not supported"}
            .with_hint("Use OLD TABLE or NEW TABLE for naming transition tables.");
      }
      if (trigger_.time != TriggerTime::after) {
        invalid("transition table name can only be specified for an AFTER trigger");
      }
      if (trigger_.fires_on(TriggerEvent::truncate)) {
        unsupported_form("TRUNCATE triggers with transition tables are not supported");
      }
      if (std::popcount(trigger_.events) > 1) {
        unsupported_form(
            "transition tables cannot be specified for triggers with more than one event");
      }
      if (!statement_.columns.empty()) {
        unsupported_form("transition tables cannot be specified for triggers with column lists");
      }
      if (named.is_new) {
        if (trigger_.fires_on(TriggerEvent::remove)) {
          invalid("NEW TABLE can only be specified for an INSERT or UPDATE trigger");
        }
        if (!new_name.empty()) invalid("NEW TABLE cannot be specified multiple times");
        new_name = named.name;
      } else {
        if (trigger_.fires_on(TriggerEvent::insert)) {
          invalid("OLD TABLE can only be specified for a DELETE or UPDATE trigger");
        }
        if (!old_name.empty()) invalid("OLD TABLE cannot be specified multiple times");
        old_name = named.name;
      }
    }
    if (trigger_.for_each_row && (!old_name.empty() || !new_name.empty())) {
      refuse_row_transition_tables();
    }
    if (!old_name.empty() && old_name == new_name) {
      invalid("OLD TABLE name and NEW TABLE name cannot be the same");
    }
  }

  /// Throws for row triggers with transition tables on partitions and heirs, since their rows are
  /// also written through the parent.
  void refuse_row_transition_tables() const {
    const Relation& relation = table_->relation;
    if (relation.is_partitioned()) {
      throw sql_error(sqlstate::feature_not_supported, "\"{}\" is a partitioned table",
                      relation.name)
          .with_detail(
              "ROW triggers with transition tables are not supported on partitioned tables.");
    }
    if (relation.is_partition()) {
      throw SqlError{sqlstate::feature_not_supported,
                     "ROW triggers with transition tables are not supported on partitions"};
    }
    if (!relation.parents.empty()) {
      throw SqlError{sqlstate::feature_not_supported,
                     "ROW triggers with transition tables are not supported on inheritance "
                     "children"};
    }
  }

  void find_function() {
    const ast::NodeList names = statement_.funcname;
    const std::string_view name = ast::string_of(names.back());
    const std::string_view schema =
        names.size() > 1 ? ast::string_of(names[names.size() - 2]) : std::string_view{};
    RoutinePtr routine;
    for (const NameSource::FoundRoutine& found : session_.names.find_routines(schema, name)) {
      const RoutinePtr& one = found.callable->routine;
      if (!routine && one->argument_types().empty()) routine = one;
    }
    const bool is_system = schema.empty() || schema == "pg_catalog";
    const BuiltinTriggerFunction* const builtin =
        !routine && is_system ? find_builtin_trigger_function(name) : nullptr;
    if (builtin != nullptr) {
      trigger_.function = builtin->oid;
      return;
    }
    if (!routine) {
      throw_error(sqlstate::undefined_function, "function {}{}{}() does not exist", schema,
                  schema.empty() ? "" : ".", name);
    }
    session_.rights.require_execute(*routine);
    if (routine->result != TypeId::trigger) {
      throw_error(kInvalidTrigger, "function {} must return type trigger", name);
    }
    trigger_.function = session_.catalog.lock_routine(*session_.transaction, *routine)->oid;
  }

  void place(const Relation& relation) {
    const auto known = std::ranges::find(relation.triggers, trigger_.name, &Trigger::name);
    if (known == relation.triggers.end()) {
      trigger_.oid = session_.catalog.allocate_oid();
      if (statement_.isconstraint) trigger_.constraint = session_.catalog.allocate_oid();
      return;
    }
    if (!statement_.replace) {
      throw_error(sqlstate::duplicate_object, "trigger \"{}\" for relation \"{}\" already exists",
                  trigger_.name, relation.name);
    }
    if (known->parent != kNoOid) {
      throw_error(sqlstate::duplicate_object,
                  "trigger \"{}\" for relation \"{}\" is an internal or a child trigger",
                  trigger_.name, relation.name);
    }
    if (known->constraint != kNoOid) {
      throw_error(sqlstate::duplicate_object,
                  "trigger \"{}\" for relation \"{}\" is a constraint trigger", trigger_.name,
                  relation.name);
    }
    trigger_.oid = known->oid;
    trigger_.comment = known->comment;
  }

  void read_columns() {
    for (const ast::Node* node : statement_.columns) {
      const std::string_view name = ast::string_of(node);
      const auto position = table_->column_position(name);
      if (!position) {
        throw_error(sqlstate::undefined_column, "column \"{}\" of relation \"{}\" does not exist",
                    name, table_->relation.name);
      }
      const auto number = static_cast<std::int16_t>(*position + 1);
      if (std::ranges::find(trigger_.columns, number) != trigger_.columns.end()) {
        throw_error(sqlstate::duplicate_column, "column \"{}\" specified more than once", name);
      }
      trigger_.columns.push_back(number);
    }
  }

  StatementContext& session_;
  const ast::CreateTrigStmt& statement_;
  TablePtr table_;
  Trigger trigger_;
};

}  // namespace

void create_trigger(StatementContext& session, const ast::CreateTrigStmt& statement) {
  TriggerBuilder{session, statement}.run();
}

}  // namespace swizzle::sql
