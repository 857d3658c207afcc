#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sql-lite-frontend/statement/statement_context.h"

/// Functions that CREATE TABLE, ALTER TABLE and CREATE INDEX share.
namespace swizzle::sql {

/// 54011 for more columns than a relation can have.
void refuse_more_columns(std::size_t count);
/// 54011 for more columns than an index can have, those that it only includes among them.
void refuse_more_index_columns(std::size_t count);

/// A name that PostgreSQL gives an object which has none: "t_a_key". The first two parts are cut
/// where it would be too long.
struct ObjectName {
  std::string first;
  std::string second;  ///< may be empty
  std::string kind;

  /// 0: without a number.
  [[nodiscard]] std::string numbered(int number) const;
};
ObjectName object_name(std::string_view first, std::string_view second, std::string_view kind);

/// A relation under construction: it has columns, and constraints that still need their indexes.
class TableBuilder {
 public:
  TableBuilder(StatementContext& session, Relation& relation)
      : session_(session), relation_(relation) {}

  /// Adds a column with all that its definition contains: default, identity, serial, constraints.
  void add_column(const ast::ColumnDef& definition);
  /// Applies a column definition of a partition, which has its parent's columns.
  void change_column(const ast::ColumnDef& definition);
  void add_constraint(const ast::Constraint& constraint);
  /// LIKE other_table INCLUDING …
  void add_like(const ast::TableLikeClause& like);
  /// Creates the indexes behind keys, resolves foreign keys, binds checks. Keys first: a foreign
  /// key may refer to the table itself.
  void finish();

  /// Sequences that serial and identity columns need, to be created with the table.
  std::vector<Relation> sequences;
  /// Positions in `relation.constraints` and `.indexes` from which on they are new.
  std::size_t first_new_constraint = 0;
  std::size_t first_new_index = 0;

 private:
  bool add_like_type(const ast::TableLikeClause& like);
  struct Pending {
    const ast::Constraint* node;
    std::vector<std::string> columns;  ///< for a column's own constraint
    bool deferrable = false;
    bool initially_deferred = false;
  };
  struct Generation {
    std::size_t position;
    const ast::Node* expression;
  };
  /// The constraints that one column's definition lists.
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
    void read_value(const ast::Constraint& constraint);
    void read_attribute(const ast::Constraint& constraint);

    TableBuilder& builder_;
    const ast::ColumnDef& definition_;
    std::size_t position_;
    bool is_serial_;
    std::optional<bool> said_null_;
    bool has_default_ = false;
    bool has_identity_ = false;
    bool has_generation_ = false;
    const ast::Constraint* last_ = nullptr;
    bool saw_deferrable_ = false;
    bool saw_initially_ = false;
    bool not_deferrable_ = false;
  };
  [[nodiscard]] bool is_new_table() const {
    return session_.catalog.table(relation_.oid) == nullptr;
  }
  void make_identity(std::size_t position, const ast::Constraint& constraint);
  void finish_generation(const Generation& generation);
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
  void finish_check(const Pending& pending);
  void finish_foreign_key(const Pending& pending);
  std::vector<std::int16_t> column_numbers(std::span<const std::string> names,
                                           std::string_view what, std::int32_t location) const;

  StatementContext& session_;
  Relation& relation_;
  std::vector<Pending> pending_;
  std::vector<Generation> generations_;
  /// Numbers at which the search for a free name goes on, by base. Lower ones are taken for good.
  std::map<std::string, int> next_numbers_;
};

/// The relation as a table without trees.
TablePtr provisional_table(const Relation& relation);
/// Binds an expression over the relation's columns and prints it in its stored form. `column` is
/// the one that it is the default of, or null.
std::string stored_expression(StatementContext& session, const Relation& relation,
                              const ast::Node* node, Clause clause, const Column* column);
/// The relation's columns as a table that has nothing else: enough to bind expressions over them.
TablePtr columns_alone(const Relation& relation);
/// A name that is free: the base numbered so.
struct FreeName {
  std::string name;
  int number;
};
FreeName free_name(StatementContext& session, const Relation& relation, const ObjectName& base,
                   int first);
/// base, base1, base2 …: the first that no relation, index or constraint of the schema has.
std::string free_name(StatementContext& session, const Relation& relation, const ObjectName& base);
/// A message of level DEBUG1, to the client that wants them.
void tell_debug(StatementContext& session, std::string message);
/// "a_b", of an index's columns: one that is there twice gets a number, as PostgreSQL does.
std::string joined_once(std::vector<std::string> names);

/// Checks an element of EXCLUDE USING `method`: 42704 for a type without an operator class, 42883,
/// 42809 or 0A000 for an operator that the constraint cannot enforce.
void require_exclusion(StatementContext& session, std::string_view method, TypeId type,
                       std::string_view op);
/// 42704 for a type that PostgreSQL, with the extensions that there are, has no class for.
void require_gist_class(StatementContext& session, TypeId type);

bool is_sequence_type(TypeId type) noexcept;
/// Returns a sequence of the type with the default limits.
SequenceDefinition sequence_of(TypeId type);
void change_sequence(StatementContext& session, const TablePtr& sequence, ast::NodeList options);
/// An identity column gets that type: so does its sequence, with limits that were the old type's.
void change_identity_type(StatementContext& session, const TablePtr& sequence, TypeId type);
/// Restarts the sequence from the next number on, which is `next`, if the transaction commits.
void restart_sequence(StatementContext& session, const TablePtr& sequence, std::int64_t next);
SequenceDefinition read_sequence_options(ast::NodeList options, SequenceDefinition definition,
                                         StatementContext& session, bool is_new);
/// 42939 where no schema may have that name.
void require_schema_name(std::string_view name);
/// A relation of that name where the search path wants it; nothing is stored yet.
Relation new_relation(StatementContext& session, const ast::RangeVar& range, RelationKind kind);
/// True when there is such a relation and IF NOT EXISTS says that this is fine.
bool skip_existing(StatementContext& session, const Relation& relation, bool if_not_exists,
                   ResultSink& sink);
/// Creates the trees of a new table and its records.
TablePtr create_relation(StatementContext& session, Relation relation);
/// Throws 42701 for a name that every table has a column of already: xmin and its like.
void refuse_system_column(std::string_view name);
/// Throws 0A000 for such a name: "cannot alter system column". `verb`: "alter", "drop", "rename".
void refuse_to_change_system_column(std::string_view verb, std::string_view name);
/// Makes plans that write to the referenced tables of new foreign keys, those from `first` on,
/// invalid.
void announce_foreign_keys(StatementContext& session, const Relation& relation, std::size_t first);
void create_trees(StatementContext& session, Relation& relation);
/// Inserts the rows of `source` into a table without rows. Returns the number of rows.
std::uint64_t fill_table(StatementContext& session, const TablePtr& table, Portal& source);
/// The query of a CREATE [MATERIALIZED] VIEW, as the parser library prints it. `name`: the view's,
/// a part of the statement.
std::string view_query_text(const Statement& whole, const ast::RangeVar& name);
/// Returns the present meaning of a name in a view's query.
ViewName view_name_of(const Binder::RelationRead& read);

}  // namespace swizzle::sql
