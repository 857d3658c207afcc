#pragma once

#include <string>
#include <vector>

#include "sql-lite-frontend/session/session_state.h"

/// What CREATE TABLE, ALTER TABLE and CREATE INDEX share.
namespace swizzle::sql {

/// A relation under construction: it has columns, and constraints that still need their indexes.
class TableBuilder {
 public:
  TableBuilder(Session::State& session, Relation& relation)
      : session_(session), relation_(relation) {}

  /// Adds a column with what its definition says: default, identity, serial, constraints.
  void add_column(const ast::ColumnDef& definition);
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
  struct Pending {
    const ast::Constraint* node;
    std::vector<std::string> columns;  ///< for a column's own constraint
    bool deferrable = false;
    bool initially_deferred = false;
  };
  std::string new_sequence(Column& column, TypeId type, ast::NodeList options, bool identity);
  void set_default(std::size_t position, const ast::Node* expression, Clause clause);
  void finish_key(const Pending& pending);
  void finish_check(const Pending& pending);
  void finish_foreign_key(const Pending& pending);
  std::vector<std::int16_t> column_numbers(std::span<const std::string> names,
                                           std::string_view what) const;

  Session::State& session_;
  Relation& relation_;
  std::vector<Pending> pending_;
};

/// The relation as a table without trees: enough to bind expressions over its columns.
TablePtr provisional_table(const Relation& relation);
/// Binds an expression over the relation's columns and prints it in its stored form.
std::string stored_expression(Session::State& session, const Relation& relation,
                              const ast::Node* node, Clause clause, TypeId type,
                              std::int32_t typmod);
/// base, base1, base2 …: the first that no relation, index or constraint of the schema has.
std::string free_name(Session::State& session, const Relation& relation, const std::string& base);
/// "a_b_c" cut to what a name may have.
std::string object_name(std::string_view first, std::string_view second, std::string_view suffix);

SequenceDefinition read_sequence_options(ast::NodeList options, SequenceDefinition definition,
                                         Session::State& session, bool is_new);
/// Creates the trees of a new table and its records.
TablePtr create_relation(Session::State& session, Relation relation);
void create_trees(Session::State& session, Relation& relation);
/// The query of CREATE VIEW name in `script`, written by the parser library's own printer.
std::string view_query_text(const std::string& script, std::string_view view);

}  // namespace swizzle::sql
