#include "sql-lite-frontend/definitions/tables/table_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/catalog/default_grants.h"
#include "sql-lite-frontend/catalog/facts.h"
#include "sql-lite-frontend/catalog/object_codec.h"
#include "sql-lite-frontend/definitions/tables/column_hints.h"
#include "sql-lite-frontend/definitions/tables/virtual_columns.h"
#include "sql-lite-frontend/definitions/text/collations.h"
#include "sql-lite-frontend/definitions/types/user_types.h"
#include "sql-lite-frontend/statement/names/definitions.h"
#include "sql-lite-frontend/statement/names/in_use.h"
#include "sql-lite-frontend/types/cast_volatility.h"
#include "sql-lite-frontend/types/text/identifiers.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

TypeId serial_type(const ast::TypeName& name) {
  if (name.names.size() != 1) return TypeId::none;
  const std::string_view text = ast::string_of(name.names[0]);
  if (text == "serial" || text == "serial4") return TypeId::int4;
  if (text == "bigserial" || text == "serial8") return TypeId::int8;
  if (text == "smallserial" || text == "serial2") return TypeId::int2;
  return TypeId::none;
}

}  // namespace

void tell_debug(StatementContext& session, std::string message) {
  if (session.sink_for_notices == nullptr) return;
  session.notice(*session.sink_for_notices, Severity::debug, SqlState{"00000"}, std::move(message));
}

std::string joined_once(std::vector<std::string> names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto before = std::span{names}.first(i);
    const std::string plain = names[i];
    for (int number = 1; std::ranges::find(before, names[i]) != before.end(); ++number) {
      names[i] = plain + std::to_string(number);
    }
    text += (text.empty() ? "" : "_") + names[i];
  }
  return text;
}

FreeName free_name(StatementContext& session, const Relation& relation, const ObjectName& base,
                   int first) {
  const auto taken = [&](const std::string& name) {
    constexpr std::size_t kWorkOfName = 5;
    yield_point(kWorkOfName * (relation.constraints.size() + relation.indexes.size()));
    return session.catalog.table(relation.schema, name) != nullptr ||
           session.catalog.table_of_index(relation.schema, name) != nullptr ||
           std::ranges::find(relation.indexes, name, &Index::name) != relation.indexes.end() ||
           std::ranges::find(relation.constraints, name, &Constraint::name) !=
               relation.constraints.end() ||
           relation.name == name;
  };
  for (int number = first;; ++number) {
    std::string name = base.numbered(number);
    if (!taken(name)) return {std::move(name), number};
  }
}

std::string free_name(StatementContext& session, const Relation& relation, const ObjectName& base) {
  return free_name(session, relation, base, 0).name;
}

std::string TableBuilder::own_free_name(const ObjectName& base) {
  const auto [place, is_new] = next_numbers_.try_emplace(base.numbered(0), 0);
  FreeName found = free_name(session_, relation_, base, place->second);
  place->second = found.number + 1;
  return std::move(found.name);
}

TablePtr columns_alone(const Relation& relation) {
  auto table = std::make_shared<Table>();
  table->relation.oid = relation.oid;
  table->relation.schema = relation.schema;
  table->relation.name = relation.name;
  table->relation.kind = relation.kind;
  table->relation.persistence = relation.persistence;
  table->relation.owner = relation.owner;
  table->relation.columns = relation.columns;
  for (const Column& column : relation.columns) table->column_types.push_back(column.type);
  return table;
}

TablePtr provisional_table(const Relation& relation) {
  auto table = std::make_shared<Table>();
  table->relation = relation;
  for (const Column& column : relation.columns) table->column_types.push_back(column.type);
  return table;
}

namespace {

/// False where the text of the type's values depends on settings or names: dates, regclass, arrays.
bool has_immutable_text(TypeId type) {
  const TypeFunctions* const functions = type_functions(base_type(type));
  if (functions == nullptr) return false;
  const auto output =
      std::ranges::find(internal_function_names(), functions->functions[1], &FunctionName::oid);
  return output != internal_function_names().end() && output->volatility == 'i';
}

/// A call that is as immutable as the text of its operands: || of a text and anything.
bool joins_immutable_text(const FunctionExpr& call) {
  const Function& function = call.function();
  constexpr std::array kJoins = {std::string_view{"textanycat"}, std::string_view{"anytextcat"}};
  return std::ranges::find(kJoins, function.name) != kJoins.end() &&
         std::ranges::all_of(call.operands(), [](const ExprPtr& operand) {
           return has_immutable_text(without_collation(operand->type()));
         });
}

/// Refuses expressions that depend on more than the row, in indexes, generated columns and
/// partition keys.
void require_immutable(Expr& expr, Clause clause) {
  std::string_view message;
  if (clause == Clause::generated) message = "generation expression is not immutable";
  if (clause == Clause::index_expression) {
    message = "functions in index expression must be marked IMMUTABLE";
  }
  if (clause == Clause::index_predicate) {
    message = "functions in index predicate must be marked IMMUTABLE";
  }
  if (clause == Clause::partition_key) {
    message = "functions in partition key expression must be marked IMMUTABLE";
  }
  if (message.empty()) return;
  walk(expr, [&](Expr& part) {
    const auto* call = dynamic_cast<const FunctionExpr*>(&part);
    const auto* session = dynamic_cast<const SessionFunctionExpr*>(&part);
    const auto* routine = dynamic_cast<const RoutineExpr*>(&part);
    const auto* cast = dynamic_cast<const CastExpr*>(&part);
    const bool immutable =
        session == nullptr &&
        (cast == nullptr || cast_volatility(cast->cast()) == Volatility::immutable) &&
        (call == nullptr || call->function().volatility == Volatility::immutable ||
         joins_immutable_text(*call)) &&
        (routine == nullptr || routine->routine().volatility == 'i');
    if (!immutable) throw SqlError{SqlState{"42P17"}, std::string{message}};
  });
}

}  // namespace

std::string stored_expression(StatementContext& session, const Relation& relation,
                              const ast::Node* node, Clause clause, const Column* column) {
  Arena arena;
  Binder binder{session.names, arena};
  const TablePtr table = columns_alone(relation);
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
    if (column != nullptr && column->is_virtual) require_built_in(*expr);
    if (column != nullptr) {
      const TypeId type = column->type;
      // The cast to the column's type is added again when the default is used.
      const TypeId source = expr->type();
      if (source == TypeId::unknown) {
        expr = binder.coerce(std::move(expr), type, kNoTypmod, Binder::Implicitness::assignment);
      } else if (!can_coerce(source, type, CastContext::assignment)) {
        throw sql_error(sqlstate::datatype_mismatch,
                        "column \"{}\" is of type {} but {} expression is of type {}", column->name,
                        format_type(type), clause == Clause::generated ? "generation" : "default",
                        format_type(source))
            .with_hint("You will need to rewrite or cast the expression.");
      }
    }
  }
  require_immutable(*expr, clause);
  hold_named(session, binder.routines_read());
  require_type_usage(session, binder.types_read());
  ExprPrinter printer{.out = {}, .is_kept = true};
  printer.print(*expr);
  return std::move(printer.out);
}

std::string TableBuilder::new_sequence(Column& column, TypeId type, ast::NodeList options,
                                       bool identity) {
  Relation sequence;
  sequence.oid = session_.catalog.allocate_oid();
  sequence.schema = relation_.schema;
  sequence.kind = RelationKind::sequence;
  sequence.persistence = relation_.persistence;
  sequence.owner = relation_.owner;
  sequence.name = own_free_name(object_name(relation_.name, column.name, "seq"));
  sequence.sequence = read_sequence_options(options, sequence_of(type), session_, true);
  sequence.sequence->owner_table = relation_.oid;
  sequence.sequence->owner_column = static_cast<std::int16_t>(relation_.columns.size() + 1);
  sequence.sequence->identity = identity;
  tell_debug(session_,
             fmt::format("{} will create implicit sequence \"{}\" for serial column \"{}.{}\"",
                         is_new_table() ? "CREATE TABLE" : "ALTER TABLE", sequence.name,
                         relation_.name, column.name));
  std::string call = fmt::format("nextval('{}'::regclass)", sequence.oid);
  sequences.push_back(std::move(sequence));
  column.not_null = true;
  return call;
}

void refuse_more_columns(std::size_t count) {
  if (count <= kMostTableColumns) return;
  throw_error(sqlstate::too_many_columns, "tables can have at most {} columns", kMostTableColumns);
}

void refuse_more_index_columns(std::size_t count) {
  if (count <= kMostIndexColumns) return;
  throw_error(sqlstate::too_many_columns, "cannot use more than {} columns in an index",
              kMostIndexColumns);
}

void TableBuilder::add_column(const ast::ColumnDef& definition) {
  refuse_more_columns(relation_.columns.size() + 1);
  for (const Column& other : relation_.columns) {
    if (!other.dropped && other.name == definition.colname) {
      throw_error(sqlstate::duplicate_column, "column \"{}\" specified more than once",
                  definition.colname);
    }
  }
  if (!definition.compression.empty() && definition.compression != "default")
    throw SqlError{sqlstate::feature_not_supported, "COMPRESSION of a column is not supported"};
  Column column;
  column.name = definition.colname;
  const TypeId serial = serial_type(*definition.type_name);
  if (serial != TypeId::none) {
    column.type = serial;
    column.default_sql = new_sequence(column, serial, {}, false);
  } else {
    Arena arena;
    Binder binder{session_.names, arena};
    const TypeReference type = binder.bind_type(*definition.type_name);
    column.type = type.type;
    column.typmod = type.typmod;
    hold_type(session_, column.type);
    if (!has_io(column.type) || column.type == TypeId::unknown || column.type == TypeId::record) {
      throw_error(sqlstate::invalid_table_definition, "column \"{}\" has pseudo-type {}",
                  column.name, format_type(column.type));
    }
  }
  column.collation = collation_of_column(session_, definition.coll_clause, column.type);
  if (!definition.storage_name.empty())
    column.storage = storage_letter(definition.storage_name, column.type);
  column.not_null |= definition.is_not_null;
  const std::size_t position = relation_.columns.size();
  relation_.columns.push_back(std::move(column));
  ColumnWords words{*this, definition, position, serial != TypeId::none};
  for (const ast::Node* node : definition.constraints) words.read(ast::as<ast::Constraint>(node));
  words.finish();
}

void TableBuilder::set_default(std::size_t position, const ast::Node* expression, Clause clause) {
  Column& column = relation_.columns[position];
  // A column without a default has NULL, or its domain's default; a generated one has an
  // expression, be it NULL.
  if (const auto* constant = ast::try_as<ast::A_Const>(expression);
      constant != nullptr && constant->isnull && clause == Clause::column_default &&
      !is_domain(column.type)) {
    column.default_sql.clear();
    return;
  }
  column.default_sql = stored_expression(session_, relation_, expression, clause, &column);
}

void TableBuilder::add_constraint(const ast::Constraint& constraint) {
  switch (constraint.contype) {
    case ast::ConstrType::primary:
    case ast::ConstrType::unique:
    case ast::ConstrType::check:
    case ast::ConstrType::foreign:
    case ast::ConstrType::exclusion:
      pending_.push_back({&constraint, {}, constraint.deferrable, constraint.initdeferred});
      return;
    case ast::ConstrType::notnull:
      return add_not_null(constraint, ast::string_of(constraint.keys.front()));
    default:
      throw SqlError{sqlstate::feature_not_supported, "this table constraint is not supported"};
  }
}

/// The attributes of a composite type. False: the name is no such type's.
bool TableBuilder::add_like_type(const ast::TableLikeClause& like) {
  const TypePtr type =
      session_.names.find_user_type(like.relation->schemaname, like.relation->relname);
  if (!type || !is_composite(type->id()) || type->is_of_relation()) return false;
  for (const Column& attribute : type->attributes) {
    if (attribute.dropped) continue;
    Column copy;
    copy.name = attribute.name;
    copy.type = attribute.type;
    copy.typmod = attribute.typmod;
    copy.collation = attribute.collation;
    refuse_more_columns(relation_.columns.size() + 1);
    relation_.columns.push_back(std::move(copy));
  }
  return true;
}

void TableBuilder::add_like(const ast::TableLikeClause& like) {
  // Bits of the clause, as the grammar sets them.
  constexpr std::uint32_t kComments = 1U << 0U;
  constexpr std::uint32_t kConstraints = 1U << 2U;
  constexpr std::uint32_t kDefaults = 1U << 3U;
  constexpr std::uint32_t kGenerated = 1U << 4U;
  constexpr std::uint32_t kIdentity = 1U << 5U;
  constexpr std::uint32_t kIndexes = 1U << 6U;
  constexpr std::uint32_t kStorage = 1U << 8U;
  const auto including = [&](std::uint32_t bit) { return (like.options & bit) != 0; };
  Arena arena;
  Binder binder{session_.names, arena};
  if (!binder.find_table(*like.relation) && add_like_type(like)) return;
  const TablePtr other = binder.require_table(*like.relation);
  if (other->relation.kind == RelationKind::sequence) {
    throw sql_error(sqlstate::wrong_object_type, "relation \"{}\" is invalid in LIKE clause",
                    other->relation.name)
        .with_detail("This operation is not supported for sequences.")
        .at_position(like.relation->location + 1);
  }
  session_.rights.require(other, privilege::kSelect);
  session_.catalog.lock(*session_.transaction, other->relation.oid,
                        lock::RelationMode::access_share);
  // Number of the other's column → number here.
  std::vector<std::int16_t> numbers(other->relation.columns.size() + 1, 0);
  for (std::size_t i = 0; i < other->relation.columns.size(); ++i) {
    const Column& column = other->relation.columns[i];
    if (column.dropped) continue;
    Column copy;
    copy.name = column.name;
    copy.type = column.type;
    copy.typmod = column.typmod;
    copy.collation = column.collation;
    copy.not_null = column.not_null;
    if (including(kComments)) copy.comment = column.comment;
    if (including(kStorage)) copy.storage = column.storage;
    if (column.identity != 0) {
      if (including(kIdentity)) {
        copy.default_sql = new_sequence(copy, copy.type, {}, true);
        copy.identity = column.identity;
      }
    } else if (column.generated) {
      copy.generated = including(kGenerated);
      copy.is_virtual = copy.generated && column.is_virtual;
      if (copy.generated) copy.default_sql = column.default_sql;
    } else if (including(kDefaults)) {
      copy.default_sql = column.default_sql;
    }
    refuse_more_columns(relation_.columns.size() + 1);
    relation_.columns.push_back(std::move(copy));
    numbers[i + 1] = static_cast<std::int16_t>(relation_.columns.size());
  }
  const auto renumber = [&](std::vector<std::int16_t>& columns) {
    for (std::int16_t& column : columns) column = numbers[static_cast<std::size_t>(column)];
  };
  for (const Constraint& constraint : other->relation.constraints) {
    const bool is_not_null = constraint.kind == ConstraintKind::not_null;
    if (is_not_null) {
      const auto number = numbers[static_cast<std::size_t>(constraint.columns.front())];
      const auto position = static_cast<std::size_t>(number - 1);
      not_nulls_.push_back({relation_.columns[position].name, constraint.name,
                            constraint.no_inherit,
                            including(kComments) ? constraint.comment : std::string{}});
      continue;
    }
    if (constraint.kind != ConstraintKind::check || !including(kConstraints)) continue;
    Constraint copy = constraint;
    copy.oid = session_.catalog.allocate_oid();
    copy.parent = kNoOid;
    copy.also_local = false;
    copy.inherit_count = 0;
    copy.validated = copy.enforced;  // there are no rows yet
    renumber(copy.columns);
    relation_.constraints.push_back(std::move(copy));
  }
  if (!including(kIndexes)) return;
  for (const Index& index : other->relation.indexes) copy_index(*other, index, numbers);
}

/// An index of another table, with its constraint, over the columns copied from there.
void TableBuilder::copy_index(const Table& other, const Index& index,
                              std::span<const std::int16_t> numbers) {
  Index copy = index;
  copy.oid = session_.catalog.allocate_oid();
  copy.parent = kNoOid;
  copy.comment.clear();
  std::vector<std::string> names;
  for (IndexColumn& column : copy.columns) {
    column.column = numbers[static_cast<std::size_t>(column.column)];
    names.push_back(column.column == 0
                        ? name_of_expression(session_, other, column.expression_sql)
                        : relation_.columns[static_cast<std::size_t>(column.column - 1)].name);
  }
  for (std::int16_t& column : copy.included) {
    column = numbers[static_cast<std::size_t>(column)];
    names.push_back(relation_.columns[static_cast<std::size_t>(column - 1)].name);
  }
  const auto constraint =
      std::ranges::find_if(other.relation.constraints, [&](const Constraint& candidate) {
        return candidate.index == index.oid && candidate.kind != ConstraintKind::foreign_key;
      });
  const bool is_key = constraint != other.relation.constraints.end();
  // A key WITHOUT OVERLAPS, too, is named like an exclusion constraint, as in PostgreSQL.
  const std::string_view suffix = index.excludes() ? "excl" : (is_key ? "key" : "idx");
  copy.name =
      free_name(session_, relation_,
                index.primary ? object_name(relation_.name, {}, "pkey")
                              : object_name(relation_.name, joined_once(std::move(names)), suffix));
  if (is_key) {
    Constraint key = *constraint;
    key.oid = session_.catalog.allocate_oid();
    key.parent = kNoOid;
    key.index = copy.oid;
    key.name = copy.name;
    for (std::int16_t& column : key.columns) column = numbers[static_cast<std::size_t>(column)];
    relation_.constraints.push_back(std::move(key));
  }
  relation_.indexes.push_back(std::move(copy));
}

std::vector<std::int16_t> TableBuilder::column_numbers(std::span<const std::string> names,
                                                       std::string_view what,
                                                       std::int32_t location) const {
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
      throw sql_error(sqlstate::undefined_column, "column \"{}\" named in key does not exist", name)
          .at_position(is_new_table() ? location + 1 : 0);
    }
    if (std::ranges::find(numbers, number) != numbers.end() && what != "foreign key") {
      throw sql_error(sqlstate::duplicate_column, "column \"{}\" appears twice in {} constraint",
                      name, what)
          .at_position(location + 1);
    }
    numbers.push_back(number);
  }
  return numbers;
}

void TableBuilder::finish() {
  using Kind = ast::ConstrType;
  for (const Generation& generation : generations_) finish_generation(generation);
  finish_not_nulls();
  for (const Kind type :
       {Kind::primary, Kind::unique, Kind::exclusion, Kind::check, Kind::foreign}) {
    for (const Pending& pending : pending_) {
      if (pending.node->contype != type) continue;
      if (type == Kind::primary || type == Kind::unique) {
        finish_key(pending);
      } else if (type == Kind::exclusion) {
        finish_exclusion(pending);
      } else if (type == Kind::check) {
        finish_check(pending);
      } else {
        finish_foreign_key(pending);
      }
    }
  }
}

void create_trees(StatementContext& session, Relation& relation) {
  Engine& engine = session.shared.engine;
  relation.tree = value_of(engine.create_tree(*session.transaction));
  for (Index& index : relation.indexes) {
    if (!index.orders_rows()) index.tree = value_of(engine.create_tree(*session.transaction));
  }
}

void announce_foreign_keys(StatementContext& session, const Relation& relation, std::size_t first) {
  for (std::size_t i = first; i < relation.constraints.size(); ++i) {
    const Constraint& constraint = relation.constraints[i];
    if (constraint.kind != ConstraintKind::foreign_key ||
        constraint.referenced_table == relation.oid) {
      continue;
    }
    // A new version of the same definition: plans made for the one before are not used any more.
    const TablePtr referenced = session.names.table(constraint.referenced_table);
    const TablePtr locked = session.catalog.lock_for_change(
        *session.transaction, referenced, lock::RelationMode::share_row_exclusive);
    session.catalog.replace(*session.transaction, *locked, Relation{locked->relation});
  }
}

bool is_system_column(std::string_view name) noexcept {
  constexpr std::array kSystemColumns =
      std::to_array<std::string_view>({"ctid", "xmin", "cmin", "xmax", "cmax", "tableoid"});
  return std::ranges::find(kSystemColumns, name) != kSystemColumns.end();
}

void refuse_system_column(std::string_view name) {
  if (!is_system_column(name)) return;
  throw_error(sqlstate::duplicate_column, "column name \"{}\" conflicts with a system column name",
              name);
}

void refuse_to_change_system_column(std::string_view verb, std::string_view name) {
  if (!is_system_column(name)) return;
  throw_error(sqlstate::feature_not_supported, "cannot {} system column \"{}\"", verb, name);
}

namespace {

void check_column_names(const Relation& relation) {
  std::set<std::string_view> names;
  for (const Column& column : relation.columns) {
    if (column.dropped) continue;
    if (keeps_rows(relation.kind) || relation.is_partitioned()) refuse_system_column(column.name);
    if (names.insert(column.name).second) continue;
    throw_error(sqlstate::duplicate_column, "column \"{}\" specified more than once", column.name);
  }
}

}  // namespace

TablePtr create_relation(StatementContext& session, Relation relation) {
  check_column_names(relation);
  if (session.catalog.table(relation.schema, relation.name) != nullptr ||
      session.catalog.table_of_index(relation.schema, relation.name) != nullptr) {
    throw_error(SqlState{"42P07"}, "relation \"{}\" already exists", relation.name);
  }
  if (keeps_rows(relation.kind) || has_query(relation.kind) || relation.is_partitioned()) {
    number_row_type(relation);
  }
  if (keeps_rows(relation.kind)) create_trees(session, relation);
  const GrantedOn kind =
      relation.kind == RelationKind::sequence ? GrantedOn::sequence : GrantedOn::table;
  relation.grants = grants_of_new(session.catalog.of_database(), *session.transaction,
                                  relation.owner, relation.schema, kind);
  return session.catalog.create(*session.transaction, std::move(relation));
}

}  // namespace swizzle::sql
