#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sql-lite-frontend/definitions/statements.h"
#include "sql-lite-frontend/definitions/tables/named_relation.h"
#include "sql-lite-frontend/definitions/tables/table_builder.h"
#include "sql-lite-frontend/statement/statement_options.h"

/// CREATE and ALTER SEQUENCE, and the sequences of serial and identity columns.
namespace swizzle::sql {
namespace {

std::int64_t number_of(const ast::DefElem& option) {
  if (const auto* integer = ast::try_as<ast::Integer>(option.arg)) return integer->ival;
  std::int64_t value = 0;
  if (const auto* real = ast::try_as<ast::Float>(option.arg)) {
    const std::string_view digits = real->fval;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (read.ec != std::errc{} || read.ptr != digits.data() + digits.size()) {
      throw_error(sqlstate::numeric_value_out_of_range,
                  "value \"{}\" is out of range for type bigint", digits);
    }
  }
  return value;
}

bool flag_of(const ast::DefElem& option) {
  const auto* flag = ast::try_as<ast::Boolean>(option.arg);
  const auto* integer = ast::try_as<ast::Integer>(option.arg);
  return (flag != nullptr && flag->boolval) || (integer != nullptr && integer->ival != 0);
}

void check_limits(const SequenceDefinition& definition) {
  const auto check = [](std::string_view what, std::int64_t value, TypeId type) {
    const SequenceDefinition usual = sequence_of(type);
    const std::int64_t lowest = type == TypeId::int8 ? INT64_MIN : -usual.maximum - 1;
    if (value >= lowest && value <= usual.maximum) return;
    throw_error(sqlstate::invalid_parameter_value,
                "{} ({}) is out of range for sequence data type {}", what, value,
                format_type(type));
  };
  check("MAXVALUE", definition.maximum, definition.type);
  check("MINVALUE", definition.minimum, definition.type);
  if (definition.minimum >= definition.maximum) {
    throw_error(sqlstate::invalid_parameter_value, "MINVALUE ({}) must be less than MAXVALUE ({})",
                definition.minimum, definition.maximum);
  }
  if (definition.start < definition.minimum) {
    throw_error(sqlstate::invalid_parameter_value,
                "START value ({}) cannot be less than MINVALUE ({})", definition.start,
                definition.minimum);
  }
  if (definition.start > definition.maximum) {
    throw_error(sqlstate::invalid_parameter_value,
                "START value ({}) cannot be greater than MAXVALUE ({})", definition.start,
                definition.maximum);
  }
  if (definition.cache <= 0) {
    throw_error(sqlstate::invalid_parameter_value, "CACHE ({}) must be greater than zero",
                definition.cache);
  }
}

/// Sets the owner: OWNED BY table.column or OWNED BY NONE.
void set_owner(StatementContext& session, const ast::DefElem& option,
               SequenceDefinition& definition) {
  const ast::NodeList names = ast::as<ast::List>(option.arg).items;
  if (names.size() < 2) {
    if (ast::string_of(names[0]) != "none") {
      throw SqlError{sqlstate::syntax_error, "invalid OWNED BY option"}.with_hint(
          "Specify OWNED BY table.column or OWNED BY NONE.");
    }
    definition.owner_table = kNoOid;
    definition.owner_column = 0;
    return;
  }
  const std::string_view schema =
      names.size() > 2 ? ast::string_of(names[names.size() - 3]) : std::string_view{};
  const std::string_view name = ast::string_of(names[names.size() - 2]);
  ast::RangeVar range;
  range.schemaname = schema;
  range.relname = name;
  const NamedRelation named = require_named_relation(session, range);
  const TablePtr& table = named.table;
  const RelationKind kind = table->relation.kind;
  if (named.index != nullptr || kind == RelationKind::sequence ||
      kind == RelationKind::materialized) {
    throw sql_error(sqlstate::wrong_object_type, "sequence cannot be owned by relation \"{}\"",
                    name)
        .with_detail(fmt::format("This operation is not supported for {}.", plural_of(named)));
  }
  const auto position = table->column_position(ast::string_of(names.back()));
  if (!position) {
    throw_error(sqlstate::undefined_column, "column \"{}\" of relation \"{}\" does not exist",
                ast::string_of(names.back()), table->relation.name);
  }
  definition.owner_table = table->relation.oid;
  definition.owner_column = static_cast<std::int16_t>(*position + 1);
}

}  // namespace

namespace {

/// Checks that a sequence has the schema and the owner of the table to whose column it will belong.
void require_fit_for_owner(StatementContext& session, const Relation& sequence,
                           ast::NodeList options) {
  const bool says_owner = std::ranges::any_of(options, [](const ast::Node* node) {
    return ast::as<ast::DefElem>(node).defname == "owned_by";
  });
  const TablePtr owner = says_owner ? session.names.table(sequence.sequence->owner_table) : nullptr;
  if (!owner) return;
  const auto require = [](bool fits, const char* what) {
    if (!fits) throw SqlError{sqlstate::object_not_in_prerequisite_state, what};
  };
  require(owner->relation.owner == sequence.owner,
          "sequence must have same owner as table it is linked to");
  require(owner->relation.schema == sequence.schema,
          "sequence must be in same schema as table it is linked to");
}

/// Refuses to change the owner of an identity column's sequence.
void refuse_owner_of_identity(StatementContext& session, const Relation& sequence,
                              ast::NodeList options) {
  if (!sequence.sequence->identity) return;
  for (const ast::Node* node : options) {
    if (ast::as<ast::DefElem>(node).defname != "owned_by") continue;
    const TablePtr owner = session.names.table(sequence.sequence->owner_table);
    throw SqlError{sqlstate::feature_not_supported, "cannot change ownership of identity sequence"}
        .with_detail(fmt::format("Sequence \"{}\" is linked to table \"{}\".", sequence.name,
                                 owner ? owner->relation.name : ""));
  }
}

}  // namespace

bool is_sequence_type(TypeId type) noexcept {
  return type == TypeId::int2 || type == TypeId::int4 || type == TypeId::int8;
}

SequenceDefinition sequence_of(TypeId type) {
  SequenceDefinition definition;
  definition.type = type;
  if (type == TypeId::int4) definition.maximum = INT32_MAX;
  if (type == TypeId::int2) definition.maximum = INT16_MAX;
  return definition;
}

namespace {

std::int64_t lowest_of(TypeId type) {
  return type == TypeId::int8 ? INT64_MIN : -sequence_of(type).maximum - 1;
}

/// A limit equal to the old type's becomes the new type's.
void change_type(SequenceDefinition& definition, TypeId type) {
  if (definition.maximum == sequence_of(definition.type).maximum) {
    definition.maximum = sequence_of(type).maximum;
  }
  if (definition.minimum == lowest_of(definition.type)) definition.minimum = lowest_of(type);
  definition.type = type;
}

}  // namespace

SequenceDefinition read_sequence_options(ast::NodeList options, SequenceDefinition definition,
                                         StatementContext& session, bool is_new) {
  refuse_repeats(options);
  const auto find = [&](std::string_view name) -> const ast::DefElem* {
    for (const ast::Node* node : options) {
      const auto& option = ast::as<ast::DefElem>(node);
      if (option.defname == name) return &option;
    }
    return nullptr;
  };
  if (const auto* as = find("as")) {
    Arena arena;
    Binder binder{session.names, arena};
    const TypeId type = binder.bind_type(ast::as<ast::TypeName>(as->arg)).type;
    if (!is_sequence_type(type)) {
      throw SqlError{sqlstate::invalid_parameter_value,
                     "sequence type must be smallint, integer, or bigint"};
    }
    change_type(definition, type);
  }
  if (const auto* increment = find("increment")) {
    definition.increment = number_of(*increment);
    if (definition.increment == 0) {
      throw SqlError{sqlstate::invalid_parameter_value, "INCREMENT must not be zero"};
    }
  }
  const SequenceDefinition usual = sequence_of(definition.type);
  const bool down = definition.increment < 0;
  const auto* maximum = find("maxvalue");
  const auto* minimum = find("minvalue");
  if (maximum != nullptr && maximum->arg != nullptr) {
    definition.maximum = number_of(*maximum);
  } else if (maximum != nullptr || is_new) {
    definition.maximum = down ? -1 : usual.maximum;
  }
  if (minimum != nullptr && minimum->arg != nullptr) {
    definition.minimum = number_of(*minimum);
  } else if (minimum != nullptr || is_new) {
    definition.minimum = down ? lowest_of(definition.type) : 1;
  }
  if (const auto* start = find("start")) {
    definition.start = number_of(*start);
  } else if (is_new) {
    definition.start = down ? definition.maximum : definition.minimum;
  }
  if (const auto* cache = find("cache")) definition.cache = number_of(*cache);
  if (const auto* cycle = find("cycle")) definition.cycle = flag_of(*cycle);
  if (const auto* owner = find("owned_by")) set_owner(session, *owner, definition);
  check_limits(definition);
  return definition;
}

namespace {

/// Records the position under a new number (SequenceDefinition::position), which others see with
/// the new definition.
void move_position(StatementContext& session, Relation& relation, std::int64_t next) {
  const Oid before = position_of(relation);
  relation.sequence->position = session.catalog.allocate_oid();
  session.transaction.note_sequence_move(relation.sequence->position, before);
  session.shared.sequences.set(session.catalog.of_database(), relation, *session.transaction, next,
                               false);
}

}  // namespace

namespace {

/// Throws 22023 if the sequence's next number is outside of its limits.
void require_position(const SequenceDefinition& definition, std::int64_t position) {
  for (const auto& [limit, value] :
       {std::pair{"MINVALUE", definition.minimum}, {"MAXVALUE", definition.maximum}}) {
    const bool low = std::string_view{limit} == "MINVALUE";
    if (low ? position >= value : position <= value) continue;
    throw_error(sqlstate::invalid_parameter_value, "RESTART value ({}) cannot be {} than {} ({})",
                position, low ? "less" : "greater", limit, value);
  }
}

}  // namespace

void change_identity_type(StatementContext& session, const TablePtr& sequence, TypeId type) {
  if (!is_sequence_type(type)) {
    throw SqlError{sqlstate::invalid_parameter_value,
                   "identity column type must be smallint, integer, or bigint"};
  }
  const TablePtr table = session.catalog.lock_for_change(*session.transaction, sequence,
                                                         lock::RelationMode::share_row_exclusive);
  Relation relation = table->relation;
  const SequenceState state =
      session.shared.sequences.state(session.catalog.of_database(), relation);
  change_type(*relation.sequence, type);
  check_limits(*relation.sequence);
  require_position(*relation.sequence, state.last_value);
  session.shared.sequences.return_values_ahead(session.catalog.of_database(), relation);
  session.catalog.replace(*session.transaction, *table, std::move(relation));
}

void change_sequence(StatementContext& session, const TablePtr& sequence, ast::NodeList options) {
  const TablePtr table = session.catalog.lock_for_change(*session.transaction, sequence,
                                                         lock::RelationMode::share_row_exclusive);
  Relation relation = table->relation;
  const SequenceState state =
      session.shared.sequences.state(session.catalog.of_database(), relation);
  refuse_owner_of_identity(session, relation, options);
  relation.sequence = read_sequence_options(options, *relation.sequence, session, false);
  require_fit_for_owner(session, relation, options);
  std::optional<std::int64_t> restart;
  for (const ast::Node* node : options) {
    const auto& option = ast::as<ast::DefElem>(node);
    if (option.defname != "restart") continue;
    restart = option.arg == nullptr ? relation.sequence->start : number_of(option);
  }
  const std::int64_t position = restart.value_or(state.last_value);
  require_position(*relation.sequence, position);
  if (restart) {
    move_position(session, relation, *restart);
  } else {
    session.shared.sequences.return_values_ahead(session.catalog.of_database(), relation);
  }
  session.catalog.replace(*session.transaction, *table, std::move(relation));
}

void restart_sequence(StatementContext& session, const TablePtr& sequence, std::int64_t next) {
  const TablePtr table = session.catalog.lock_for_change(*session.transaction, sequence,
                                                         lock::RelationMode::share_row_exclusive);
  Relation relation = table->relation;
  move_position(session, relation, next);
  session.catalog.replace(*session.transaction, *table, std::move(relation));
}

void create_sequence(StatementContext& session, const ast::CreateSeqStmt& statement,
                     ResultSink& sink) {
  Relation relation = new_relation(session, *statement.sequence, RelationKind::sequence);
  if (skip_existing(session, relation, statement.if_not_exists, sink)) return;
  relation.sequence = read_sequence_options(statement.options, SequenceDefinition{}, session, true);
  require_fit_for_owner(session, relation, statement.options);
  create_relation(session, std::move(relation));
}

void alter_sequence(StatementContext& session, const ast::AlterSeqStmt& statement,
                    ResultSink& sink) {
  const auto found = find_to_change(session, *statement.sequence, statement.missing_ok, sink);
  if (!found) return;
  require_named_kind(*found, ast::ObjectType::sequence);
  require_alterable(session, *found);
  change_sequence(session, found->table, statement.options);
}

}  // namespace swizzle::sql
