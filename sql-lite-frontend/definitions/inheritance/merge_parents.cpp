#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/definitions/inheritance/inheritance.h"
#include "sql-lite-frontend/definitions/partitions/partition_parts.h"
#include "sql-lite-frontend/definitions/tables/not_null.h"

/// Columns and constraints of CREATE TABLE … INHERITS.
namespace swizzle::sql {
namespace {

constexpr SqlState kColumnDefinition{"42611"};

/// Locks a parent against changes of its definition, and of its list of children.
TablePtr lock_parent_of(StatementContext& session, const ast::RangeVar& range,
                        const Relation& relation) {
  Arena arena;
  Binder binder{session.names, arena};
  const TablePtr parent = binder.require_relation(range);
  const Relation& from = parent->relation;
  const auto refuse = [&](std::string_view what) {
    throw_error(sqlstate::wrong_object_type, "cannot inherit from {} \"{}\"", what, from.name);
  };
  if (from.is_partitioned()) refuse("partitioned table");
  if (from.is_partition()) refuse("partition");
  if (parent->computed != nullptr) {
    throw SqlError{sqlstate::feature_not_supported,
                   "inheritance from a system catalog is not supported"};
  }
  if (from.kind != RelationKind::table) {
    throw_error(sqlstate::wrong_object_type,
                "inherited relation \"{}\" is not a table or foreign table", from.name);
  }
  const bool of_temporary = from.persistence == Persistence::temporary;
  const bool is_temporary = relation.persistence == Persistence::temporary;
  if (of_temporary && !is_temporary) refuse("temporary relation");
  session.rights.require_owner(*parent);
  if (is_temporary && !of_temporary) {
    throw SqlError{sqlstate::feature_not_supported,
                   "a temporary table that inherits from a permanent one is not supported"};
  }
  return session.catalog.lock_for_change(*session.transaction, parent,
                                         lock::RelationMode::share_update_exclusive);
}

/// Gives a new relation the parts of its parents, one after the other.
class PartsOfParents {
 public:
  PartsOfParents(StatementContext& session, Relation& relation, ResultSink& sink)
      : session_(session), relation_(relation), sink_(sink) {}

  void add(const Relation& parent) {
    for (const Column& column : parent.columns) {
      if (!column.dropped) add_column(column);
    }
    for (const Constraint& constraint : parent.constraints) {
      if (constraint.no_inherit) continue;
      if (constraint.kind == ConstraintKind::check) add_check(parent, constraint);
      if (constraint.kind == ConstraintKind::not_null) add_not_null(parent, constraint);
    }
  }
  std::vector<std::size_t> conflicting_defaults() && { return std::move(conflicts_); }

 private:
  void add_column(const Column& given) {
    const auto known = std::ranges::find(relation_.columns, given.name, &Column::name);
    if (known != relation_.columns.end()) return merge(*known, given);
    refuse_more_columns(relation_.columns.size() + 1);
    Column& copy = relation_.columns.emplace_back(given);
    copy.inherited = copy.also_local = copy.not_null = copy.not_null_unproven = false;
    copy.inherit_count = 1;
    copy.comment.clear();
    copy.grants.clear();
    copy.missing.reset();
    copy.statistics_target.reset();
    copy.options.clear();
    if (copy.identity == 0) return;
    copy.identity = 0;
    copy.default_sql.clear();
  }

  void merge(Column& known, const Column& given) {
    session_.notice(
        sink_, Severity::notice, SqlState{"00000"},
        fmt::format("merging multiple inherited definitions of column \"{}\"", given.name));
    if (known.type != given.type || known.typmod != given.typmod) {
      throw sql_error(sqlstate::datatype_mismatch, "inherited column \"{}\" has a type conflict",
                      given.name)
          .with_detail(fmt::format("{} versus {}", format_type(known.type, known.typmod),
                                   format_type(given.type, given.typmod)));
    }
    if (known.collation != given.collation) {
      throw_error(SqlState{"42P21"}, "inherited column \"{}\" has a collation conflict",
                  given.name);
    }
    if (known.generated != given.generated || known.is_virtual != given.is_virtual) {
      throw_error(sqlstate::datatype_mismatch, "inherited column \"{}\" has a generation conflict",
                  given.name);
    }
    ++known.inherit_count;
    if (given.default_sql.empty() || given.identity != 0) return;
    if (known.default_sql.empty()) known.default_sql = given.default_sql;
    if (known.default_sql == given.default_sql) return;
    conflicts_.push_back(static_cast<std::size_t>(&known - relation_.columns.data()));
  }

  void add_check(const Relation& parent, const Constraint& given) {
    const auto known = std::ranges::find_if(relation_.constraints, [&](const Constraint& one) {
      return one.kind == ConstraintKind::check && one.name == given.name;
    });
    if (known == relation_.constraints.end()) {
      Constraint copy = given;
      copy.columns = numbers_in(parent, relation_, given.columns);
      return add_first(std::move(copy));
    }
    if (known->check_sql != given.check_sql) {
      throw_error(sqlstate::duplicate_object,
                  "check constraint name \"{}\" appears multiple times but with different "
                  "expressions",
                  given.name);
    }
    ++known->inherit_count;
    known->enforced |= given.enforced;
    known->validated = known->enforced;
  }

  /// A column has one such constraint, under the name that the first parent gives it.
  void add_not_null(const Relation& parent, const Constraint& given) {
    Constraint copy = given;
    copy.columns = numbers_in(parent, relation_, given.columns);
    const auto position = static_cast<std::size_t>(copy.columns.front() - 1);
    if (Constraint* const known = not_null_of(relation_, position)) {
      ++known->inherit_count;
      return;
    }
    const bool is_taken = std::ranges::find(relation_.constraints, copy.name, &Constraint::name) !=
                          relation_.constraints.end();
    if (is_taken) copy.name = default_not_null_name(relation_, position);
    relation_.columns[position].not_null = true;
    add_first(std::move(copy));
  }

  void add_first(Constraint copy) {
    copy.oid = session_.catalog.allocate_oid();
    copy.parent = kNoOid;
    copy.also_local = false;
    copy.inherit_count = 1;
    copy.validated = copy.enforced;  // there are no rows yet
    copy.comment.clear();
    relation_.constraints.push_back(std::move(copy));
  }

  StatementContext& session_;
  Relation& relation_;
  ResultSink& sink_;
  std::vector<std::size_t> conflicts_;
};

bool says_default(const ast::ColumnDef& column) {
  return std::ranges::any_of(column.constraints, [](const ast::Node* node) {
    const ast::ConstrType type = ast::as<ast::Constraint>(node).contype;
    return type == ast::ConstrType::default_ || type == ast::ConstrType::generated;
  });
}

}  // namespace

std::vector<std::size_t> inherit_from_parents(StatementContext& session,
                                              const ast::CreateStmt& statement, Relation& relation,
                                              ResultSink& sink) {
  std::vector<TablePtr> parents;
  for (const ast::Node* node : statement.inh_relations) {
    TablePtr parent = lock_parent_of(session, ast::as<ast::RangeVar>(node), relation);
    const Oid oid = parent->relation.oid;
    if (std::ranges::find(relation.parents, oid) != relation.parents.end()) {
      throw_error(sqlstate::duplicate_table,
                  "relation \"{}\" would be inherited from more than once", parent->relation.name);
    }
    relation.parents.push_back(oid);
    parents.push_back(std::move(parent));
  }
  PartsOfParents parts{session, relation, sink};
  for (const TablePtr& parent : parents) parts.add(parent->relation);
  return std::move(parts).conflicting_defaults();
}

void require_chosen_defaults(const ast::CreateStmt& statement, const Relation& relation,
                             std::span<const std::size_t> positions) {
  for (const std::size_t position : positions) {
    const Column& column = relation.columns[position];
    const auto chooses = [&](const ast::Node* element) {
      const auto* own = ast::try_as<ast::ColumnDef>(element);
      return own != nullptr && own->colname == column.name && says_default(*own);
    };
    if (std::ranges::any_of(statement.table_elts, chooses)) continue;
    const std::string_view what = column.generated ? "generation expressions" : "default values";
    throw sql_error(kColumnDefinition, "column \"{}\" inherits conflicting {}", column.name, what)
        .with_hint(fmt::format("To resolve the conflict, specify a {} explicitly.",
                               column.generated ? "generation expression" : "default"));
  }
}

void TableBuilder::merge_column(const ast::ColumnDef& definition, std::size_t place) {
  const auto found = std::ranges::find_if(relation_.columns, [&](const Column& column) {
    return column.inherit_count > 0 && column.name == definition.colname;
  });
  if (found == relation_.columns.end()) return add_column(definition);
  const auto position = static_cast<std::size_t>(found - relation_.columns.begin());
  notice_merged_column(definition.colname, position != place);
  // Reads the definition as that of another table's column, to compare the two.
  Relation shape;
  shape.name = relation_.name;
  ast::ColumnDef bare = definition;
  bare.constraints = {};
  TableBuilder reader{session_, shape};
  reader.add_column(bare);
  const Column& own = shape.columns.front();
  if (!reader.sequences.empty()) {
    throw_error(sqlstate::feature_not_supported,
                "serial as the type of the inherited column \"{}\" is not supported",
                definition.colname);
  }
  if (own.type != found->type || own.typmod != found->typmod) {
    throw sql_error(sqlstate::datatype_mismatch, "column \"{}\" has a type conflict",
                    definition.colname)
        .with_detail(fmt::format("{} versus {}", format_type(found->type, found->typmod),
                                 format_type(own.type, own.typmod)));
  }
  if (own.collation != found->collation) {
    throw_error(SqlState{"42P21"}, "column \"{}\" has a collation conflict", definition.colname);
  }
  if (own.storage != 0) found->storage = own.storage;
  found->also_local = true;
  const bool was_generated = found->generated;
  ColumnWords words{*this, definition, position, false};
  for (const ast::Node* node : definition.constraints) {
    const auto& constraint = ast::as<ast::Constraint>(node);
    require_mergeable(constraint, *found, was_generated);
    words.read(constraint);
  }
  words.finish();
}

/// Refuses a value of an inherited column that does not fit how its parent's column gets one.
void TableBuilder::require_mergeable(const ast::Constraint& constraint, const Column& column,
                                     bool was_generated) const {
  const auto refuse = [&](std::string_view what) {
    throw_error(kColumnDefinition, "column \"{}\" inherits from generated column but specifies {}",
                column.name, what);
  };
  const ast::ConstrType type = constraint.contype;
  if (was_generated && type == ast::ConstrType::default_) refuse("default");
  if (was_generated && type == ast::ConstrType::identity) refuse("identity");
  if (type == ast::ConstrType::identity) {
    throw_error(sqlstate::feature_not_supported,
                "identity of the inherited column \"{}\" is not supported", column.name);
  }
  if (type != ast::ConstrType::generated) return;
  if (!was_generated) {
    throw sql_error(kColumnDefinition, "child column \"{}\" specifies generation expression",
                    column.name)
        .with_hint("A child table column cannot be generated unless its parent column is.");
  }
  const bool is_virtual = constraint.generated_kind == "v";
  if (is_virtual == column.is_virtual) return;
  const auto kind = [](bool computed) { return computed ? "VIRTUAL" : "STORED"; };
  throw sql_error(kColumnDefinition,
                  "column \"{}\" inherits from generated column of different kind", column.name)
      .with_detail(fmt::format("Parent column is {}, child column is {}.", kind(column.is_virtual),
                               kind(is_virtual)));
}

void TableBuilder::notice_merged_column(std::string_view name, bool moves) {
  if (session_.sink_for_notices == nullptr) return;
  Diagnostic notice;
  notice.severity = Severity::notice;
  notice.state = SqlState{"00000"};
  notice.message = fmt::format("{}merging column \"{}\" with inherited definition",
                               moves ? "moving and " : "", name);
  if (moves) {
    notice.detail = "User-specified column moved to the position of the inherited column.";
  }
  session_.send_notice(*session_.sink_for_notices, std::move(notice));
}

}  // namespace swizzle::sql
