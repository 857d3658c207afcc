#pragma once

#include <span>
#include <string>
#include <vector>

#include "sql-lite-frontend/catalog/named_objects.h"
#include "sql-lite-frontend/statement/statement_context.h"

/// Dependents of objects that a DROP would remove. The catalog's dependency index
/// (`CatalogView::naming`) returns the definitions that name an object; the kind of dependency
/// follows from the definition itself.
namespace swizzle::sql {

/// Cost of searching a relation's definition; there may be thousands of them.
inline constexpr std::size_t kWorkOfDefinition = 200;

struct Dependent {
  enum class Kind : std::uint8_t {
    constraint,
    view,
    default_value,
    generated_column,
    sequence,
    table,
    column,
    index,
    type,
    attribute,
    routine,
    trigger,
    op,
    cast,
    extension,
    collation,
    text_dictionary,
    text_config,
    event_trigger,
    policy
  };
  Kind kind = Kind::view;
  /// The view, or the table that contains the dependent; null for a type, a domain's constraint, an
  /// attribute, a routine.
  TablePtr table;
  /// Oid of a constraint, index, type, routine or trigger; for an attribute, that of its type.
  Oid oid = kNoOid;
  std::size_t position = 0;  ///< of a default, a column or an attribute
  std::string name;          ///< "view v", "constraint c on table t" …: as messages call it
  std::string on;            ///< the object on which it depends: "table t", "column a of table t"
};

/// Returns the tables that name one of the objects, and the partitions of such tables, which depend
/// on the objects in the parent's key. Sorted by oid.
std::vector<TablePtr> tables_naming(StatementContext& session, const NamedObjects& named);
/// Returns the oids by which definitions name the type: its own and that of its array type.
NamedObjects numbers_of(TypeId type);

/// Adds the dependent unless the list contains it.
void add_once(std::vector<Dependent>& list, Dependent dependent);

/// "table t", "view other.v", "sequence s": with its schema where the search path would not find
/// it.
std::string described(StatementContext& session, const Table& table);

/// Returns the objects that depend on the relations, directly or through others, apart from the
/// relations themselves and the objects that belong to them. Each is listed once, dependents of the
/// first relation first.
std::vector<Dependent> dependents_of(StatementContext& session,
                                     std::span<const TablePtr> relations);
/// The same for one column (position from 0): views that read it, generated columns, foreign keys
/// to a key that it is part of.
std::vector<Dependent> dependents_of_column(StatementContext& session, const TablePtr& table,
                                            std::size_t position);
/// Returns the foreign keys that refer to a key constraint.
std::vector<Dependent> dependents_of_key(StatementContext& session, const Table& table,
                                         const Constraint& key);
/// Returns the views that read the column, because of which its type cannot be changed.
std::vector<TablePtr> views_over_column(StatementContext& session, const Table& table,
                                        std::size_t position);

/// Returns the dependents of types: their columns, objects that name the types in their definition,
/// and the dependents of both.
std::vector<Dependent> dependents_of_types(StatementContext& session,
                                           std::span<const TypePtr> types);
/// Returns the type and all types whose values contain its values; for an array type, starts with
/// the element type.
std::vector<TypeId> types_with(StatementContext& session, TypeId type);
/// Returns the objects one of which a text must name if one of its expressions has one of the
/// types: the types, relations with such columns, and routines and operators on the types.
NamedObjects carriers_of(StatementContext& session, std::span<const TypeId> types);
/// Throws 0A000 if a column has the type, or a type whose values contain its values: the attributes
/// cannot be changed then.
void refuse_columns_of(StatementContext& session, const UserType& type);
/// The same for the type of a relation's rows.
void refuse_columns_of_rows(StatementContext& session, const Table& table);
/// The same, but only if a range type is between the column's type and the type.
void refuse_ranges_of(StatementContext& session, const UserType& type);
/// Throws 42P16 if an attribute of the type `added` would make the type contain itself.
void refuse_in_itself(StatementContext& session, const UserType& type, TypeId added);
/// Adds the schema's types, and the objects elsewhere that depend on them.
void add_types_of_schema(StatementContext& session, const Schema& schema,
                         std::vector<Dependent>& dependents);

/// Returns the dependents of routines: views and routines whose text calls them, and objects that
/// call them in their definition.
std::vector<Dependent> dependents_of_routines(StatementContext& session,
                                              std::span<const RoutinePtr> routines);
/// Adds the routines that name one of the types in their signature, or one of the relations in an
/// atomic body or as their return type, with their dependents. Skips routines that the list
/// contains.
void add_routines_of_types(StatementContext& session, std::span<const TypePtr> types,
                           std::vector<Dependent>& list);
void add_routines_of_relations(StatementContext& session, std::span<const TablePtr> relations,
                               std::vector<Dependent>& list);
/// Adds the routine with its dependents, unless the list contains it.
void add_routine(StatementContext& session, const Routine& routine, const std::string& on,
                 std::vector<Dependent>& list);

/// A column that the statements of an atomic body read or write.
struct BodyColumn {
  Oid relation = kNoOid;
  std::size_t position = 0;
  friend bool operator==(const BodyColumn&, const BodyColumn&) = default;
};
/// Returns the columns that the routine's body uses; none if it is not atomic, or not valid at
/// present.
std::vector<BodyColumn> columns_of_body(StatementContext& session, const RoutinePtr& routine);
/// Adds the routines whose atomic body uses the column, with their dependents.
void add_routines_over_column(StatementContext& session, const Table& table, std::size_t position,
                              const std::string& on, std::vector<Dependent>& list);
/// Adds the schema's routines, and the objects elsewhere that depend on them.
void add_routines_of_schema(StatementContext& session, const Schema& schema,
                            std::vector<Dependent>& dependents);
/// The same for operators.
std::vector<Dependent> dependents_of_operators(StatementContext& session,
                                               std::span<const OperatorPtr> operators);
/// Returns the dependents of an extension: objects that depend on its members, without the members.
std::vector<Dependent> dependents_of_extension(StatementContext& session,
                                               const Extension& extension);
/// Adds the exclusion constraints that use operator classes of the extension btree_gist.
void add_exclusions_of(StatementContext& session, const Extension& extension,
                       std::vector<Dependent>& list);
/// Removes the extension and the objects that belong to it.
void remove_extension(StatementContext& session, const Extension& extension);
/// Replaces members of extensions in the list by their extensions, with the dependents of these.
void replace_members(StatementContext& session, std::string_view on, std::vector<Dependent>& list);
/// Adds extensions whose schema is this one; they may have no objects in it.
void add_extensions_of_schema(StatementContext& session, const Schema& schema,
                              std::vector<Dependent>& list);
/// "function f(integer)".
std::string described(StatementContext& session, const Routine& routine);

/// Name in messages for several objects that are dropped at once.
inline constexpr std::string_view kSeveralObjects = "desired object(s)";

/// With RESTRICT, throws 2BP01 if there is any dependent; with CASCADE, reports the dependents and
/// removes them. `what` is the object: "table t".
void drop_dependents(StatementContext& session, std::span<const Dependent> dependents,
                     std::string_view what, ast::DropBehavior behavior, ResultSink& sink);

}  // namespace swizzle::sql
