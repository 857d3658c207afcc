#include "sql-lite-frontend/ddl/table_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/execute/identifiers.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kDuplicateColumn{"42701"};
constexpr SqlState kDuplicateObject{"42710"};
constexpr SqlState kInvalidTableDefinition{"42P16"};
constexpr SqlState kInvalidForeignKey{"42830"};
constexpr std::size_t kNameBytes = 63;

TypeId serial_type(const ast::TypeName& name) {
  if (name.names.size() != 1) return TypeId::none;
  const std::string_view text = ast::string_of(name.names[0]);
  if (text == "serial" || text == "serial4") return TypeId::int4;
  if (text == "bigserial" || text == "serial8") return TypeId::int8;
  if (text == "smallserial" || text == "serial2") return TypeId::int2;
  return TypeId::none;
}

SequenceDefinition sequence_of(TypeId type) {
  SequenceDefinition definition;
  definition.type = type;
  if (type == TypeId::int4) definition.maximum = INT32_MAX;
  if (type == TypeId::int2) definition.maximum = INT16_MAX;
  return definition;
}

}  // namespace

std::string object_name(std::string_view first, std::string_view second, std::string_view suffix) {
  std::string name{first};
  std::string middle{second};
  const auto size = [&] {
    return name.size() + suffix.size() + 1 + (middle.empty() ? 0 : middle.size() + 1);
  };
  // The longer part gives way first.
  while (size() > kNameBytes) {
    if (name.size() >= middle.size()) {
      name.pop_back();
    } else {
      middle.pop_back();
    }
  }
  if (!middle.empty()) name += "_" + middle;
  return name + "_" + std::string{suffix};
}

std::string free_name(Session::State& session, const Relation& relation, const std::string& base) {
  const auto taken = [&](const std::string& name) {
    return session.catalog.table(relation.schema, name) != nullptr ||
           session.catalog.table_of_index(relation.schema, name) != nullptr ||
           std::ranges::find(relation.indexes, name, &Index::name) != relation.indexes.end() ||
           std::ranges::find(relation.constraints, name, &Constraint::name) !=
               relation.constraints.end() ||
           relation.name == name;
  };
  if (!taken(base)) return base;
  for (int i = 1;; ++i) {
    std::string name = base.substr(0, kNameBytes - 4) + std::to_string(i);
    if (!taken(name)) return name;
  }
}

TablePtr provisional_table(const Relation& relation) {
  auto table = std::make_shared<Table>();
  table->relation = relation;
  for (const Column& column : relation.columns) table->column_types.push_back(column.type);
  return table;
}

std::string stored_expression(Session::State& session, const Relation& relation,
                              const ast::Node* node, Clause clause, TypeId type,
                              std::int32_t typmod) {
  Arena arena;
  Binder binder{session, arena};
  const TablePtr table = provisional_table(relation);
  Scope scope;
  if (clause != Clause::column_default) {
    scope = binder.table_scope(table, relation.name, binder.new_slots(relation.columns.size()));
  }
  scope.clause = clause;
  ExprPtr expr;
  if (clause == Clause::check || clause == Clause::index_predicate) {
    expr = binder.bind_condition(node, scope, clause == Clause::check ? "CHECK" : "WHERE");
  } else {
    expr = binder.bind_expression(node, scope);
    if (type != TypeId::none) {
      Column column;
      column.name = "default";
      column.type = type;
      column.typmod = typmod;
      // The cast to the column's type is added again when the default is used.
      const TypeId source = expr->type();
      if (source == TypeId::unknown) {
        expr = binder.coerce(std::move(expr), type, kNoTypmod, Binder::Implicitness::assignment);
      } else if (!can_coerce(source, type, CastContext::assignment)) {
        throw sql_error(sqlstate::datatype_mismatch,
                        "column is of type {} but default expression is of type {}",
                        format_type(type), format_type(source))
            .with_hint("You will need to rewrite or cast the expression.");
      }
    }
  }
  if (!binder.pending().empty()) {
    throw_error(sqlstate::feature_not_supported, "cannot use subquery in {}",
                clause == Clause::check ? "check constraint" : "this expression");
  }
  ExprPrinter printer{.out = {}};
  printer.print(*expr);
  return std::move(printer.out);
}

SequenceDefinition read_sequence_options(ast::NodeList options, SequenceDefinition definition,
                                         Session::State& session, bool is_new) {
  const auto number = [](const ast::DefElem& option) -> std::int64_t {
    if (const auto* integer = ast::try_as<ast::Integer>(option.arg)) return integer->ival;
    if (const auto* real = ast::try_as<ast::Float>(option.arg)) {
      return std::strtoll(std::string{real->fval}.c_str(), nullptr, 10);
    }
    return 0;
  };
  bool has_start = false;
  bool has_minimum = false;
  bool has_maximum = false;
  for (const ast::Node* node : options) {
    const auto& option = ast::as<ast::DefElem>(node);
    const std::string_view name = option.defname;
    if (name == "as") {
      Arena arena;
      Binder binder{session, arena};
      const TypeId type = binder.bind_type(ast::as<ast::TypeName>(option.arg)).type;
      if (type != TypeId::int2 && type != TypeId::int4 && type != TypeId::int8) {
        throw SqlError{sqlstate::invalid_parameter_value,
                       "sequence type must be smallint, integer, or bigint"};
      }
      const SequenceDefinition usual = sequence_of(type);
      definition.type = type;
      if (!has_maximum) definition.maximum = usual.maximum;
    } else if (name == "increment") {
      definition.increment = number(option);
      if (definition.increment == 0) {
        throw SqlError{sqlstate::invalid_parameter_value, "INCREMENT must not be zero"};
      }
      if (definition.increment < 0 && is_new) {
        if (!has_maximum) definition.maximum = -1;
        if (!has_minimum) definition.minimum = INT64_MIN;
      }
    } else if (name == "start") {
      definition.start = number(option);
      has_start = true;
    } else if (name == "minvalue") {
      if (option.arg != nullptr) definition.minimum = number(option);
      has_minimum = option.arg != nullptr;
    } else if (name == "maxvalue") {
      if (option.arg != nullptr) definition.maximum = number(option);
      has_maximum = option.arg != nullptr;
    } else if (name == "cache") {
      definition.cache = number(option);
    } else if (name == "cycle") {
      const auto* flag = ast::try_as<ast::Boolean>(option.arg);
      const auto* integer = ast::try_as<ast::Integer>(option.arg);
      definition.cycle =
          (flag != nullptr && flag->boolval) || (integer != nullptr && integer->ival != 0);
    }
  }
  if (is_new && !has_start) {
    definition.start = definition.increment > 0 ? definition.minimum : definition.maximum;
  }
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
  return definition;
}

std::string TableBuilder::new_sequence(Column& column, TypeId type, ast::NodeList options,
                                       bool identity) {
  Relation sequence;
  sequence.oid = session_.catalog.allocate_oid();
  sequence.schema = relation_.schema;
  sequence.kind = RelationKind::sequence;
  sequence.persistence = relation_.persistence;
  sequence.owner = relation_.owner;
  sequence.name = free_name(session_, relation_, object_name(relation_.name, column.name, "seq"));
  sequence.sequence = read_sequence_options(options, sequence_of(type), session_, true);
  sequence.sequence->owner_table = relation_.oid;
  sequence.sequence->owner_column = static_cast<std::int16_t>(relation_.columns.size() + 1);
  sequence.sequence->identity = identity;
  std::string call = fmt::format("nextval('{}'::regclass)", sequence.oid);
  sequences.push_back(std::move(sequence));
  column.not_null = true;
  return call;
}

void TableBuilder::add_column(const ast::ColumnDef& definition) {
  for (const Column& other : relation_.columns) {
    if (!other.dropped && other.name == definition.colname) {
      throw_error(kDuplicateColumn, "column \"{}\" specified more than once", definition.colname);
    }
  }
  Column column;
  column.name = definition.colname;
  const TypeId serial = serial_type(*definition.type_name);
  if (serial != TypeId::none) {
    column.type = serial;
    column.default_sql = new_sequence(column, serial, {}, false);
  } else {
    Arena arena;
    Binder binder{session_, arena};
    const TypeReference type = binder.bind_type(*definition.type_name);
    column.type = type.type;
    column.typmod = type.typmod;
    if (!has_io(column.type) || column.type == TypeId::unknown || column.type == TypeId::record) {
      throw_error(kInvalidTableDefinition, "column \"{}\" has pseudo-type {}", column.name,
                  format_type(column.type));
    }
  }
  if (definition.coll_clause != nullptr) {
    const std::string_view name = ast::string_of(definition.coll_clause->collname.back());
    if (name != "C" && name != "default" && name != "POSIX") {
      throw_error(sqlstate::undefined_object,
                  "collation \"{}\" for encoding \"UTF8\" does not exist", name);
    }
  }
  column.not_null |= definition.is_not_null;
  const std::size_t position = relation_.columns.size();
  relation_.columns.push_back(std::move(column));
  for (const ast::Node* node : definition.constraints) {
    const auto& constraint = ast::as<ast::Constraint>(node);
    Column& added = relation_.columns[position];
    switch (constraint.contype) {
      case ast::ConstrType::notnull:
        added.not_null = true;
        break;
      case ast::ConstrType::null:
        break;
      case ast::ConstrType::default_:
        set_default(position, constraint.raw_expr, Clause::column_default);
        break;
      case ast::ConstrType::generated:
        set_default(position, constraint.raw_expr, Clause::generated);
        relation_.columns[position].generated = true;
        break;
      case ast::ConstrType::identity: {
        Column column_copy = added;
        // The sequence belongs to this column, which is in the list already.
        relation_.columns.pop_back();
        column_copy.default_sql =
            new_sequence(column_copy, column_copy.type, constraint.options, true);
        column_copy.identity = constraint.generated_when == "a" ? 'a' : 'd';
        relation_.columns.push_back(std::move(column_copy));
        break;
      }
      case ast::ConstrType::primary:
        added.not_null = true;
        pending_.push_back({&constraint, {added.name}});
        break;
      case ast::ConstrType::unique:
      case ast::ConstrType::check:
      case ast::ConstrType::foreign:
        pending_.push_back({&constraint, {added.name}});
        break;
      case ast::ConstrType::attr_deferrable:
        pending_.back().deferrable = true;
        break;
      case ast::ConstrType::attr_deferred:
        pending_.back().deferrable = true;
        pending_.back().initially_deferred = true;
        break;
      case ast::ConstrType::attr_not_deferrable:
      case ast::ConstrType::attr_immediate:
        break;
      default:
        throw SqlError{sqlstate::feature_not_supported, "this column constraint is not supported"};
    }
  }
}

void TableBuilder::set_default(std::size_t position, const ast::Node* expression, Clause clause) {
  Column& column = relation_.columns[position];
  if (const auto* constant = ast::try_as<ast::A_Const>(expression);
      constant != nullptr && constant->isnull) {
    column.default_sql.clear();
    return;
  }
  column.default_sql =
      stored_expression(session_, relation_, expression, clause, column.type, column.typmod);
}

void TableBuilder::add_constraint(const ast::Constraint& constraint) {
  switch (constraint.contype) {
    case ast::ConstrType::primary:
    case ast::ConstrType::unique:
    case ast::ConstrType::check:
    case ast::ConstrType::foreign:
      pending_.push_back({&constraint, {}, constraint.deferrable, constraint.initdeferred});
      return;
    case ast::ConstrType::exclusion:
      throw SqlError{sqlstate::feature_not_supported, "exclusion constraints are not supported"};
    default:
      throw SqlError{sqlstate::feature_not_supported, "this table constraint is not supported"};
  }
}

void TableBuilder::add_like(const ast::TableLikeClause& like) {
  constexpr std::uint32_t kDefaults = 1U << 3U;
  constexpr std::uint32_t kConstraints = 1U << 2U;
  Arena arena;
  Binder binder{session_, arena};
  const TablePtr other = binder.require_table(*like.relation);
  for (const Column& column : other->relation.columns) {
    if (column.dropped) continue;
    Column copy;
    copy.name = column.name;
    copy.type = column.type;
    copy.typmod = column.typmod;
    copy.not_null = column.not_null;
    if ((like.options & kDefaults) != 0 && column.identity == 0) {
      copy.default_sql = column.default_sql;
    }
    relation_.columns.push_back(std::move(copy));
  }
  if ((like.options & kConstraints) == 0) return;
  for (const Constraint& constraint : other->relation.constraints) {
    if (constraint.kind != ConstraintKind::check) continue;
    Constraint copy = constraint;
    copy.oid = session_.catalog.allocate_oid();
    relation_.constraints.push_back(std::move(copy));
  }
}

std::vector<std::int16_t> TableBuilder::column_numbers(std::span<const std::string> names,
                                                       std::string_view what) const {
  std::vector<std::int16_t> numbers;
  for (const std::string& name : names) {
    std::int16_t number = 0;
    for (std::size_t i = 0; i < relation_.columns.size(); ++i) {
      if (!relation_.columns[i].dropped && relation_.columns[i].name == name) {
        number = static_cast<std::int16_t>(i + 1);
      }
    }
    if (number == 0) {
      if (what == "foreign key") {
        throw_error(sqlstate::undefined_column,
                    "column \"{}\" referenced in foreign key constraint does not exist", name);
      }
      throw_error(sqlstate::undefined_column, "column \"{}\" named in key does not exist", name);
    }
    if (std::ranges::find(numbers, number) != numbers.end() && what != "foreign key") {
      throw_error(kDuplicateColumn, "column \"{}\" appears twice in {} constraint", name, what);
    }
    numbers.push_back(number);
  }
  return numbers;
}

void TableBuilder::finish() {
  using Type = ast::ConstrType;
  for (const Type type : {Type::primary, Type::unique, Type::check, Type::foreign}) {
    for (const Pending& pending : pending_) {
      if (pending.node->contype != type) continue;
      if (type == Type::primary || type == Type::unique) {
        finish_key(pending);
      } else if (type == Type::check) {
        finish_check(pending);
      } else {
        finish_foreign_key(pending);
      }
    }
  }
}

namespace {

std::vector<std::string> strings_of(ast::NodeList list) {
  std::vector<std::string> names;
  for (const ast::Node* node : list) names.emplace_back(ast::string_of(node));
  return names;
}

std::string joined(std::span<const std::string> names) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += "_";
    text += name;
  }
  return text;
}

}  // namespace

void TableBuilder::finish_key(const Pending& pending) {
  const ast::Constraint& node = *pending.node;
  const bool primary = node.contype == ast::ConstrType::primary;
  if (!node.indexname.empty()) {
    throw SqlError{sqlstate::feature_not_supported,
                   "adding a constraint over an existing index is not supported"};
  }
  if (pending.deferrable) {
    throw SqlError{sqlstate::feature_not_supported,
                   "deferrable unique and primary key constraints are not supported"};
  }
  if (primary && std::ranges::any_of(relation_.indexes, &Index::primary)) {
    throw_error(kInvalidTableDefinition, "multiple primary keys for table \"{}\" are not allowed",
                relation_.name);
  }
  const std::vector<std::string> names =
      pending.columns.empty() ? strings_of(node.keys) : pending.columns;
  Index index;
  index.oid = session_.catalog.allocate_oid();
  index.unique = true;
  index.primary = primary;
  index.nulls_not_distinct = node.nulls_not_distinct;
  const auto numbers = column_numbers(names, primary ? "primary key" : "unique");
  for (const std::int16_t number : numbers) {
    Column& column = relation_.columns[static_cast<std::size_t>(number - 1)];
    if (primary) column.not_null = true;
    if (!is_indexable(column.type)) {
      throw_error(sqlstate::undefined_object,
                  "data type {} has no default operator class for access method \"btree\"",
                  format_type(column.type));
    }
    IndexColumn& part = index.columns.emplace_back();
    part.column = number;
    part.type = column.type;
  }
  for (const std::int16_t number : column_numbers(strings_of(node.including), "unique")) {
    index.included.push_back(number);
  }
  Constraint constraint;
  constraint.oid = session_.catalog.allocate_oid();
  constraint.kind = primary ? ConstraintKind::primary_key : ConstraintKind::unique;
  constraint.columns = numbers;
  constraint.index = index.oid;
  if (!node.conname.empty()) {
    constraint.name = node.conname;
  } else {
    constraint.name = free_name(session_, relation_,
                                primary ? object_name(relation_.name, {}, "pkey")
                                        : object_name(relation_.name, joined(names), "key"));
  }
  index.name = constraint.name;
  relation_.indexes.push_back(std::move(index));
  relation_.constraints.push_back(std::move(constraint));
}

void TableBuilder::finish_check(const Pending& pending) {
  const ast::Constraint& node = *pending.node;
  Constraint constraint;
  constraint.oid = session_.catalog.allocate_oid();
  constraint.kind = ConstraintKind::check;
  constraint.no_inherit = node.is_no_inherit;
  constraint.check_sql =
      stored_expression(session_, relation_, node.raw_expr, Clause::check, TypeId::none, kNoTypmod);
  // The columns it reads: one names the constraint.
  Arena arena;
  Binder binder{session_, arena};
  const TablePtr table = provisional_table(relation_);
  const Slot first = binder.new_slots(relation_.columns.size());
  const ExprPtr expr =
      binder.bind_table_expression(constraint.check_sql, *table, first, Clause::check);
  walk(*expr, [&](Expr& part) {
    const auto* column = dynamic_cast<const SlotExpr*>(&part);
    if (column == nullptr || column->slot() < first) return;
    const auto number = static_cast<std::int16_t>(column->slot() - first + 1);
    if (std::ranges::find(constraint.columns, number) == constraint.columns.end()) {
      constraint.columns.push_back(number);
    }
  });
  std::ranges::sort(constraint.columns);
  if (!node.conname.empty()) {
    constraint.name = node.conname;
    const bool taken = std::ranges::any_of(relation_.constraints, [&](const Constraint& other) {
      return other.name == constraint.name;
    });
    if (taken) {
      throw_error(kDuplicateObject, "constraint \"{}\" for relation \"{}\" already exists",
                  constraint.name, relation_.name);
    }
  } else {
    std::string column;
    if (constraint.columns.size() == 1) {
      column = relation_.columns[static_cast<std::size_t>(constraint.columns[0] - 1)].name;
    }
    constraint.name = free_name(session_, relation_, object_name(relation_.name, column, "check"));
  }
  constraint.validated = !node.skip_validation;
  relation_.constraints.push_back(std::move(constraint));
}

namespace {

ReferentialAction action_of(std::string_view text) {
  return text.empty() ? ReferentialAction::no_action : static_cast<ReferentialAction>(text[0]);
}

}  // namespace

void TableBuilder::finish_foreign_key(const Pending& pending) {
  const ast::Constraint& node = *pending.node;
  const std::vector<std::string> names =
      pending.columns.empty() ? strings_of(node.fk_attrs) : pending.columns;
  Constraint constraint;
  constraint.oid = session_.catalog.allocate_oid();
  constraint.kind = ConstraintKind::foreign_key;
  constraint.columns = column_numbers(names, "foreign key");
  constraint.on_update = action_of(node.fk_upd_action);
  constraint.on_delete = action_of(node.fk_del_action);
  constraint.match = node.fk_matchtype.empty() ? 's' : node.fk_matchtype[0];
  constraint.deferrable = pending.deferrable;
  constraint.initially_deferred = pending.initially_deferred;
  constraint.validated = !node.skip_validation;
  constraint.set_columns = column_numbers(strings_of(node.fk_del_set_cols), "foreign key");

  Arena arena;
  Binder binder{session_, arena};
  const bool to_itself = node.pktable->relname == relation_.name &&
                         (node.pktable->schemaname.empty() ||
                          node.pktable->schemaname == session_.schema_name(relation_.schema)) &&
                         session_.catalog.table(relation_.oid) == nullptr;
  TablePtr referenced =
      to_itself ? provisional_table(relation_) : binder.require_table(*node.pktable);
  if (!to_itself && referenced->relation.oid != relation_.oid && referenced->computed == nullptr) {
    // Its key must stay, and from now on its writers must know of us.
    referenced = session_.catalog.lock_for_change(*session_.transaction, referenced,
                                                  lock::RelationMode::share_row_exclusive);
  }
  if (referenced->relation.kind != RelationKind::table) {
    throw_error(sqlstate::wrong_object_type, "referenced relation \"{}\" is not a table",
                referenced->relation.name);
  }
  const Relation& target =
      to_itself || referenced->relation.oid == relation_.oid ? relation_ : referenced->relation;
  constraint.referenced_table = target.oid;
  if (node.pk_attrs.empty()) {
    const auto primary = std::ranges::find(target.indexes, true, &Index::primary);
    if (primary == target.indexes.end()) {
      throw_error(sqlstate::undefined_object, "there is no primary key for referenced table \"{}\"",
                  target.name);
    }
    for (const IndexColumn& column : primary->columns) {
      constraint.referenced_columns.push_back(column.column);
    }
  } else {
    for (const std::string& name : strings_of(node.pk_attrs)) {
      std::int16_t number = 0;
      for (std::size_t i = 0; i < target.columns.size(); ++i) {
        if (!target.columns[i].dropped && target.columns[i].name == name) {
          number = static_cast<std::int16_t>(i + 1);
        }
      }
      if (number == 0) {
        throw_error(sqlstate::undefined_column,
                    "column \"{}\" referenced in foreign key constraint does not exist", name);
      }
      constraint.referenced_columns.push_back(number);
    }
  }
  if (constraint.columns.size() != constraint.referenced_columns.size()) {
    throw SqlError{kInvalidForeignKey,
                   "number of referencing and referenced columns for foreign key disagree"};
  }
  std::vector<std::int16_t> wanted = constraint.referenced_columns;
  std::ranges::sort(wanted);
  for (const Index& index : target.indexes) {
    if (!index.unique || !index.predicate_sql.empty()) continue;
    std::vector<std::int16_t> has;
    for (const IndexColumn& column : index.columns) has.push_back(column.column);
    std::ranges::sort(has);
    if (has == wanted) constraint.index = index.oid;
  }
  if (constraint.index == kNoOid) {
    throw_error(kInvalidForeignKey,
                "there is no unique constraint matching given keys for referenced table \"{}\"",
                target.name);
  }
  for (std::size_t i = 0; i < constraint.columns.size(); ++i) {
    const TypeId from = relation_.columns[static_cast<std::size_t>(constraint.columns[i] - 1)].type;
    const TypeId to =
        target.columns[static_cast<std::size_t>(constraint.referenced_columns[i] - 1)].type;
    if (!try_resolve_operator("=", to, from)) {
      throw sql_error(sqlstate::datatype_mismatch,
                      "foreign key constraint \"{}\" cannot be implemented",
                      node.conname.empty() ? object_name(relation_.name, joined(names), "fkey")
                                           : std::string{node.conname})
          .with_detail(fmt::format(
              "Key columns \"{}\" and \"{}\" are of incompatible types: {} and {}.", names[i],
              target.columns[static_cast<std::size_t>(constraint.referenced_columns[i] - 1)].name,
              format_type(from), format_type(to)));
    }
  }
  constraint.name =
      node.conname.empty()
          ? free_name(session_, relation_, object_name(relation_.name, joined(names), "fkey"))
          : std::string{node.conname};
  relation_.constraints.push_back(std::move(constraint));
}

void create_trees(Session::State& session, Relation& relation) {
  Engine& engine = session.shared.engine;
  relation.tree = value_of(engine.create_tree(*session.transaction));
  for (Index& index : relation.indexes) {
    if (!index.primary) index.tree = value_of(engine.create_tree(*session.transaction));
  }
}

TablePtr create_relation(Session::State& session, Relation relation) {
  if (session.catalog.table(relation.schema, relation.name) != nullptr ||
      session.catalog.table_of_index(relation.schema, relation.name) != nullptr) {
    throw_error(SqlState{"42P07"}, "relation \"{}\" already exists", relation.name);
  }
  if (relation.kind == RelationKind::table || relation.kind == RelationKind::view) {
    relation.row_type = session.catalog.allocate_oid();
    relation.array_type = session.catalog.allocate_oid();
  }
  if (relation.kind == RelationKind::table) create_trees(session, relation);
  TablePtr table = session.catalog.create(*session.transaction, std::move(relation));
  return table;
}

}  // namespace swizzle::sql
