#pragma once

#include <span>
#include <string>
#include <vector>

#include "sql-lite-frontend/catalog/named_objects.h"
#include "sql-lite-frontend/statement/statement_context.h"

/// Objects that a DROP would break. The catalog's index of dependencies (`CatalogView::naming`)
/// tells which definitions name an object; how they depend on it is read off these definitions.
namespace swizzle::sql {

/// Cost of looking through a relation's definition; there may be thousands.
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
    policy
  };
  Kind kind = Kind::view;
  /// The view, or the table that it is a part of; null for a type, a domain's constraint, an
  /// attribute, a routine.
  TablePtr table;
  /// Number of a constraint, an index, a type, a routine, a trigger; of an attribute: its type's.
  Oid oid = kNoOid;
  std::size_t position = 0;  ///< of a default, a column or an attribute
  std::string name;          ///< "view v", "constraint c on table t" …: as messages call it
  std::string on;            ///< what it depends on: "table t", "column a of table t"
};

/// Returns the tables that name one of the objects, and the partitions of such tables, by ascending
/// oid: what a partitioned table's key names, its partitions depend on.
std::vector<TablePtr> tables_naming(StatementContext& session, const NamedObjects& named);
/// Returns the numbers by which definitions name the type: its own, and that of its arrays.
NamedObjects numbers_of(TypeId type);

/// Unless it is in the list already.
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
/// For a key constraint that is to go: the foreign keys to it.
std::vector<Dependent> dependents_of_key(StatementContext& session, const Table& table,
                                         const Constraint& key);
/// Views that read the column: its type cannot change under them.
std::vector<TablePtr> views_over_column(StatementContext& session, const Table& table,
                                        std::size_t position);

/// Returns the dependents of types that are to be dropped: columns of the types, objects that name
/// the types in their definition, and the dependents of both.
std::vector<Dependent> dependents_of_types(StatementContext& session,
                                           std::span<const TypePtr> types);
/// Returns the type, and all types with values that contain its values; of an array type, its
/// elements' type.
std::vector<TypeId> types_with(StatementContext& session, TypeId type);
/// Returns the numbers of all objects that a text has to name for its expressions to have one of
/// the types: the types, relations with columns of them, routines and operators over them.
NamedObjects carriers_of(StatementContext& session, std::span<const TypeId> types);
/// Throws 0A000 if a column has the type, or one with values that contain its values, so that the
/// attributes cannot change.
void refuse_columns_of(StatementContext& session, const UserType& type);
/// The same for the type of a relation's rows.
void refuse_columns_of_rows(StatementContext& session, const Table& table);
/// The same only where there is a range between the column and the type.
void refuse_ranges_of(StatementContext& session, const UserType& type);
/// 42P16 where an attribute of the type `added` would have values of the type itself in it.
void refuse_in_itself(StatementContext& session, const UserType& type, TypeId added);
/// Adds the schema's types, and the objects elsewhere that depend on them.
void add_types_of_schema(StatementContext& session, const Schema& schema,
                         std::vector<Dependent>& dependents);

/// For routines that are to be dropped: views and other routines whose text calls them, and objects
/// that call them in their definition.
std::vector<Dependent> dependents_of_routines(StatementContext& session,
                                              std::span<const RoutinePtr> routines);
/// Adds the routines that name one of the types in their signature, or one of the relations in an
/// atomic body or as their return type; each with its dependents. Routines that are in the list
/// already are skipped.
void add_routines_of_types(StatementContext& session, std::span<const TypePtr> types,
                           std::vector<Dependent>& list);
void add_routines_of_relations(StatementContext& session, std::span<const TablePtr> relations,
                               std::vector<Dependent>& list);
/// Adds the schema's routines, and the objects elsewhere that depend on them.
void add_routines_of_schema(StatementContext& session, const Schema& schema,
                            std::vector<Dependent>& dependents);
/// The same for operators.
std::vector<Dependent> dependents_of_operators(StatementContext& session,
                                               std::span<const OperatorPtr> operators);
/// Returns the dependents of an extension that is to be dropped: objects that depend on its
/// members, apart from the members themselves.
std::vector<Dependent> dependents_of_extension(StatementContext& session,
                                               const Extension& extension);
/// Adds the exclusion constraints that use operator classes of the extension btree_gist.
void add_exclusions_of(StatementContext& session, const Extension& extension,
                       std::vector<Dependent>& list);
/// Removes the extension and the objects that belong to it.
void remove_extension(StatementContext& session, const Extension& extension);
/// Replaces members of extensions in the list by their extensions, with the dependents of these.
void replace_members(StatementContext& session, std::string_view on, std::vector<Dependent>& list);
/// Adds the schema's extensions that are not in the list yet: they may have no objects in it.
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
