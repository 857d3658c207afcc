#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sql-lite-frontend/catalog/not_null_constraints.h"
#include "sql-lite-frontend/statement/statement_context.h"

/// Functions that CREATE TABLE, ALTER TABLE and CREATE INDEX share.
namespace swizzle::sql {

/// Throws 54011 if the number of columns exceeds that of a relation.
void refuse_more_columns(std::size_t count);
/// Throws 54011 if the number of columns, INCLUDE columns among them, exceeds that of an index.
void refuse_more_index_columns(std::size_t count);

/// A relation under construction, whose constraints may still need their indexes.
class TableBuilder {
 public:
  TableBuilder(StatementContext& session, Relation& relation)
      : session_(session), relation_(relation) {}

  /// Adds a column with all that its definition contains: default, identity, serial, constraints.
  void add_column(const ast::ColumnDef& definition);
  /// Applies a column definition of a partition, which has its parent's columns.
  void change_column(const ast::ColumnDef& definition);
  /// Adds the column, or merges the definition with a column that comes from INHERITS. `place`: of
  /// the definition among the statement's columns, from 0.
  void merge_column(const ast::ColumnDef& definition, std::size_t place);
  void add_constraint(const ast::Constraint& constraint);
  /// LIKE other_table INCLUDING …
  void add_like(const ast::TableLikeClause& like);
  /// Gives a generated column another expression.
  void generate_anew(std::size_t position, const ast::Node* expression) {
    finish_generation({position, expression});
  }
  /// Creates the indexes behind keys, resolves foreign keys, binds checks. Keys first: a foreign
  /// key may refer to the table itself.
  void finish();

  /// Sequences of serial and identity columns, to be created with the table.
  std::vector<Relation> sequences;
  /// Positions of the first new elements of `relation.constraints` and `.indexes`.
  std::size_t first_new_constraint = 0;
  std::size_t first_new_index = 0;

 private:
  bool add_like_type(const ast::TableLikeClause& like);
  struct Pending {
    const ast::Constraint* node;
    std::vector<std::string> columns;  ///< for a column's own constraint
    bool deferrable = false;
    bool initially_deferred = false;
    bool enforced = true;  ///< as far as words behind a column's constraint say
  };
  struct Generation {
    std::size_t position;
    const ast::Node* expression;
  };
  /// NOT NULL of a column, or as a constraint by itself.
  struct NotNull {
    std::string column;
    std::string name;  ///< empty: the default
    bool no_inherit = false;
    std::string comment = {};  ///< of the constraint that LIKE copies
  };
  /// The constraints in one column's definition.
  class ColumnWords {
   public:
    ColumnWords(TableBuilder& builder, const ast::ColumnDef& definition, std::size_t position,
                bool is_serial)
        : builder_(builder), definition_(definition), position_(position), is_serial_(is_serial) {}
    void read(const ast::Constraint& constraint);
    void finish();

   private:
    Column& column() { return builder_.relation_.columns[position_]; }
    [[noreturn]] void refuse(std::string_view format, const ast::Constraint& at) const;
    void set_nullable(bool not_null, const ast::Constraint& at);
    void read_not_null(const ast::Constraint& constraint);
    void read_value(const ast::Constraint& constraint);
    void read_attribute(const ast::Constraint& constraint);
    void read_enforced(const ast::Constraint& constraint);

    TableBuilder& builder_;
    const ast::ColumnDef& definition_;
    std::size_t position_;
    bool is_serial_;
    std::optional<bool> said_null_;
    std::optional<std::size_t> not_null_;  ///< place in the builder's list of the first NOT NULL
    bool has_default_ = false;
    bool has_identity_ = false;
    bool has_generation_ = false;
    const ast::Constraint* last_ = nullptr;
    bool saw_deferrable_ = false;
    bool saw_initially_ = false;
    bool not_deferrable_ = false;
    bool saw_enforced_ = false;
  };
  [[nodiscard]] bool is_new_table() const {
    return session_.catalog.table(relation_.oid) == nullptr;
  }
  void notice_merged_column(std::string_view name, bool moves);
  void require_mergeable(const ast::Constraint& constraint, const Column& column,
                         bool was_generated) const;
  void make_identity(std::size_t position, const ast::Constraint& constraint);
  void finish_generation(const Generation& generation);
  void generate(const Generation& generation);
  [[noreturn]] void refuse_index_elsewhere(const ast::Constraint& node) const;
  void adopt_index(const Pending& pending);
  void copy_index(const Table& other, const Index& index, std::span<const std::int16_t> numbers);
  std::string own_free_name(const ObjectName& base);
  [[nodiscard]] bool has_constraint(std::string_view name) const;
  void require_free_constraint_name(std::string_view name) const;
  bool merge_inherited_check(const Constraint& check);
  void require_free_index_name(const std::string& name) const;
  void require_columns(std::span<const std::string> names) const;
  std::string new_sequence(Column& column, TypeId type, ast::NodeList options, bool identity);
  void set_default(std::size_t position, const ast::Node* expression, Clause clause);
  void finish_key(const Pending& pending);
  void finish_exclusion(const Pending& pending);
  IndexColumn exclusion_part(const ast::Constraint& node, const ast::List& element,
                             std::string& name) const;
  void require_period(const ast::Constraint& node, std::span<const std::int16_t> columns) const;
  IndexColumn period_key_part(std::int16_t column, std::string_view op) const;
  void finish_check(const Pending& pending);
  void add_not_null(const ast::Constraint& node, std::string_view column);
  void finish_not_nulls();
  void require_inheritable_key(const NotNull& wanted) const;
  void require_key_column(std::size_t position) const;
  void finish_not_null(const NotNull& wanted);
  void finish_foreign_key(const Pending& pending);
  std::vector<std::int16_t> column_numbers(std::span<const std::string> names,
                                           std::string_view what, std::int32_t location) const;

  StatementContext& session_;
  Relation& relation_;
  std::vector<Pending> pending_;
  std::vector<Generation> generations_;
  std::vector<NotNull> not_nulls_;
  /// By base name, the number at which the search for a free name continues. Lower numbers are
  /// taken.
  std::map<std::string, int> next_numbers_;
};

/// Returns the relation as a table without trees.
TablePtr provisional_table(const Relation& relation);
/// Binds an expression over the relation's columns and prints it in its stored form. `column` is
/// the one that it is the default of, or null.
std::string stored_expression(StatementContext& session, const Relation& relation,
                              const ast::Node* node, Clause clause, const Column* column);
/// Returns a table with only the relation's columns: enough to bind expressions over them.
TablePtr columns_alone(const Relation& relation);
/// A free name, and its base's number.
struct FreeName {
  std::string name;
  int number;
};
FreeName free_name(StatementContext& session, const Relation& relation, const ObjectName& base,
                   int first);
/// Returns the first of base, base1, base2 … that no relation, index or constraint of the schema
/// has.
std::string free_name(StatementContext& session, const Relation& relation, const ObjectName& base);
/// Sends a message of level DEBUG1.
void tell_debug(StatementContext& session, std::string message);
/// Returns "a_b" for an index's columns; a repeated name gets a number, as in PostgreSQL.
std::string joined_once(std::vector<std::string> names);

/// Checks an element of EXCLUDE USING `method`: 42704 for a type without an operator class, 42883,
/// 42809 or 0A000 for an operator that the constraint cannot enforce.
void require_exclusion(StatementContext& session, std::string_view method, TypeId type,
                       std::string_view op);
/// Throws 42804 unless the column can be the last one of a key WITHOUT OVERLAPS.
void require_period_type(const Column& column);
/// Returns the name of the default operator family of a type, as PostgreSQL's messages say it.
std::string operator_family(std::string_view method, TypeId type);
/// Throws 42704 if PostgreSQL, with the installed extensions, has no GiST class for the type.
void require_gist_class(StatementContext& session, TypeId type);

bool is_sequence_type(TypeId type) noexcept;
/// Returns a sequence of the type with the default limits.
SequenceDefinition sequence_of(TypeId type);
void change_sequence(StatementContext& session, const TablePtr& sequence, ast::NodeList options);
/// Changes the type of an identity column's sequence; limits that were the old type's become the
/// new type's.
void change_identity_type(StatementContext& session, const TablePtr& sequence, TypeId type);
/// Restarts the sequence at `next` if the transaction commits.
void restart_sequence(StatementContext& session, const TablePtr& sequence, std::int64_t next);
SequenceDefinition read_sequence_options(ast::NodeList options, SequenceDefinition definition,
                                         StatementContext& session, bool is_new);
/// Throws 42939 for a name that is reserved for system schemas.
void require_schema_name(std::string_view name);
/// Returns a relation with that name in the schema for new objects; nothing is stored yet.
Relation new_relation(StatementContext& session, const ast::RangeVar& range, RelationKind kind);
/// Returns true, with a notice, if the relation exists and IF NOT EXISTS was given.
bool skip_existing(StatementContext& session, const Relation& relation, bool if_not_exists,
                   ResultSink& sink);
/// Creates the trees of a new table and its catalog records.
TablePtr create_relation(StatementContext& session, Relation relation);
/// True for xmin and the like.
bool is_system_column(std::string_view name) noexcept;
/// Throws 42701 for the name of a system column, like xmin.
void refuse_system_column(std::string_view name);
/// Throws 0A000 "cannot alter system column" for the name of a system column. `verb`: "alter",
/// "drop", "rename".
void refuse_to_change_system_column(std::string_view verb, std::string_view name);
/// Invalidates plans that write to the tables referenced by new foreign keys, those from `first`
/// on.
void announce_foreign_keys(StatementContext& session, const Relation& relation, std::size_t first);
void create_trees(StatementContext& session, Relation& relation);
/// Inserts the rows of `source` into a table without rows. Returns the number of rows.
std::uint64_t fill_table(StatementContext& session, const TablePtr& table, Portal& source);
/// Returns the query of CREATE [MATERIALIZED] VIEW as the parser library prints it. `name`: the
/// view's, a part of the statement.
std::string view_query_text(const Statement& whole, const ast::RangeVar& name);
/// Resolves a name in a view's query.
ViewName view_name_of(const Binder::RelationRead& read);

}  // namespace swizzle::sql
