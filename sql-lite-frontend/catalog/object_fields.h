#pragma once

#include <concepts>
#include <type_traits>

#include "sql-lite-frontend/catalog/made_objects.h"
#include "sql-lite-frontend/catalog/not_null_constraints.h"
#include "sql-lite-frontend/catalog/object_codec.h"
#include "sql-lite-frontend/catalog/privileges.h"

/// Stored fields of each kind of object, in order. One list serves both directions: `object` is
/// const when it is written. A new field is added at the end of its list, by `since` with the
/// format version that introduced it.
namespace swizzle::sql {

template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, Grant>
void fields(V& visit, T& object) {
  visit(object.grantee, object.grantor, object.privileges);
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, Schema>
void fields(V& visit, T& object) {
  visit(object.oid, object.name, object.owner, object.comment, object.grants);
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, Column>
void fields(V& visit, T& object) {
  visit(object.name, object.type, object.typmod, object.not_null, object.dropped,
        object.default_sql, object.identity, object.generated, object.missing, object.comment,
        object.grants);
  visit.since(12, object.collation);
  visit.since(18, object.inherited);
  visit.since(20, object.is_virtual);
  visit.since(21, object.not_null_unproven);
  visit.since(24, object.statistics_target);
  visit.since(24, object.options);
  visit.since(24, object.storage);
  visit.since(26, object.inherit_count);
  visit.since(26, object.also_local);
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, Constraint>
void fields(V& visit, T& object) {
  visit(object.oid, object.name, object.kind, object.columns, object.check_sql, object.no_inherit,
        object.index, object.referenced_table, object.referenced_columns, object.on_update,
        object.on_delete, object.set_columns, object.match, object.deferrable,
        object.initially_deferred, object.validated, object.comment);
  visit.since(18, object.parent);
  visit.since(20, object.enforced);
  visit.since(21, object.also_local);
  visit.since(22, object.has_period);
  visit.since(26, object.inherit_count);
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, Trigger>
void fields(V& visit, T& object) {
  visit(object.oid, object.name, object.function, object.time, object.events, object.for_each_row,
        object.columns, object.when_sql, object.arguments, object.old_table, object.new_table,
        object.enabled, object.constraint, object.referenced_table, object.deferrable,
        object.initially_deferred, object.comment);
  visit.since(18, object.parent);
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, IndexColumn>
void fields(V& visit, T& object) {
  visit(object.column, object.expression_sql, object.type, object.direction, object.nulls,
        object.operator_class);
  visit.since(11, object.excludes_by);
  visit.since(11, object.written_place);
  visit.since(12, object.collation);
  visit.since(24, object.statistics_target);
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, Index>
void fields(V& visit, T& object) {
  visit(object.oid, object.name, object.unique, object.primary, object.nulls_not_distinct,
        object.deferrable, object.columns, object.included, object.predicate_sql, object.tree,
        object.comment);
  visit.since(4, object.estimated_pages);
  visit.since(10, object.method);
  visit.since(18, object.parent);
  visit.since(22, object.without_overlaps);
  visit.since(23, object.state);
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, SequenceDefinition>
void fields(V& visit, T& object) {
  visit(object.type, object.start, object.increment, object.minimum, object.maximum, object.cache,
        object.cycle, object.owner_table, object.owner_column, object.identity);
  visit.since(5, object.position);
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, ViewColumn>
void fields(V& visit, T& object) {
  visit(object.number, object.name);
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, ViewName>
void fields(V& visit, T& object) {
  visit(object.schema, object.name, object.relation, object.columns);
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, ViewType>
void fields(V& visit, T& object) {
  visit(object.schema, object.name, object.type);
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, ViewRoutine>
void fields(V& visit, T& object) {
  visit(object.schema, object.name, object.routine);
  if constexpr (!std::is_const_v<T>) {
    visit.before(17, [&] { object.name = record_of_old(std::move(object.name)); });
  }
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, RoutineParameter>
void fields(V& visit, T& object) {
  visit(object.name, object.mode, object.type, object.default_sql);
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, AggregateDefinition>
void fields(V& visit, T& object) {
  visit(object.transition, object.state, object.state_bytes, object.initial, object.final,
        object.final_extra, object.final_modifies, object.combine, object.serialize,
        object.deserialize, object.moving_transition, object.moving_inverse, object.moving_state,
        object.moving_bytes, object.moving_initial, object.moving_final, object.moving_extra,
        object.moving_modifies, object.sort_operator);
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, UserOperator>
void fields(V& visit, T& object) {
  visit(object.oid, object.schema, object.name, object.owner, object.left, object.right,
        object.result, object.function, object.commutator, object.negator, object.restriction,
        object.join, object.can_hash, object.can_merge, object.comment);
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, UserCast>
void fields(V& visit, T& object) {
  visit(object.oid, object.name, object.source, object.target, object.function, object.context,
        object.method, object.comment);
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, UserCollation>
void fields(V& visit, T& object) {
  visit(object.oid, object.schema, object.name, object.owner, object.provider, object.deterministic,
        object.locale, object.collate, object.ctype, object.version, object.comment);
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, UserTextDictionary::Option>
void fields(V& visit, T& object) {
  visit(object.name, object.value, object.is_number);
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, UserTextDictionary>
void fields(V& visit, T& object) {
  visit(object.oid, object.schema, object.name, object.owner, object.from_template, object.options,
        object.comment);
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, UserTextConfig::Mapping>
void fields(V& visit, T& object) {
  visit(object.kind, object.dictionary);
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, UserTextConfig>
void fields(V& visit, T& object) {
  visit(object.oid, object.schema, object.name, object.owner, object.mappings, object.comment);
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, Extension::Member>
void fields(V& visit, T& object) {
  visit(object.catalog, object.object);
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, Extension>
void fields(V& visit, T& object) {
  visit(object.oid, object.name, object.owner, object.schema, object.version, object.members,
        object.comment);
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, Publication::Member>
void fields(V& visit, T& object) {
  visit(object.oid, object.table, object.columns, object.filter_sql);
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, Publication::WholeSchema>
void fields(V& visit, T& object) {
  visit(object.oid, object.schema);
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, Publication>
void fields(V& visit, T& object) {
  visit(object.oid, object.name, object.owner, object.all_tables, object.inserts, object.updates,
        object.deletes, object.truncates, object.via_root, object.members, object.schemas,
        object.comment);
  visit.since(22, object.stored_generated);
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, EventTrigger>
void fields(V& visit, T& object) {
  visit(object.oid, object.name, object.owner, object.event, object.function, object.enabled,
        object.tags, object.comment);
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, Subscription>
void fields(V& visit, T& object) {
  visit(object.oid, object.name, object.owner, object.conninfo, object.slot,
        object.synchronous_commit, object.publications, object.origin, object.enabled,
        object.disable_on_error, object.password_required, object.run_as_owner, object.skip);
  visit.since(25, object.binary);
  visit.since(25, object.streaming);
  visit.since(25, object.two_phase);
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, Routine>
void fields(V& visit, T& object) {
  visit(object.oid, object.schema, object.name, object.owner, object.kind, object.language,
        object.parameters, object.result, object.result_relation, object.returns_set,
        object.volatility, object.strict, object.security_definer, object.leakproof,
        object.parallel, object.cost, object.rows, object.settings, object.form, object.body,
        object.body_names, object.body_types, object.body_routines, object.comment, object.grants);
  visit.since(10, object.object_file);
  visit.since(10, object.aggregate);
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, EnumLabel>
void fields(V& visit, T& object) {
  visit(object.oid, object.name, object.position);
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, DomainCheck>
void fields(V& visit, T& object) {
  visit(object.oid, object.name, object.sql, object.validated, object.comment);
  visit.since(22, object.is_not_null);
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, UserType>
void fields(V& visit, T& object) {
  visit(object.oid, object.schema, object.name, object.owner, object.labels, object.comment,
        object.grants);
  visit.since(9, object.base);
  visit.since(9, object.base_typmod);
  visit.since(9, object.not_null);
  visit.since(9, object.default_sql);
  visit.since(9, object.checks);
  visit.since(9, object.attributes);
  visit.since(9, object.relation);
  visit.since(10, object.difference);
  visit.since(12, object.collation);
  if constexpr (!std::is_const_v<T>) visit.before(22, [&] { name_old_not_null(object); });
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, PolicyCondition>
void fields(V& visit, T& object) {
  visit(object.sql, object.names, object.types, object.routines);
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, Policy>
void fields(V& visit, T& object) {
  visit(object.oid, object.name, object.command, object.permissive, object.roles, object.using_rows,
        object.check, object.comment);
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, PartitionColumn>
void fields(V& visit, T& object) {
  visit(object.column, object.expression_sql, object.type, object.collation, object.operator_class);
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, PartitionKey>
void fields(V& visit, T& object) {
  visit(object.strategy, object.columns);
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, PartitionDatum>
void fields(V& visit, T& object) {
  visit(object.kind, object.flat);
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, PartitionBound>
void fields(V& visit, T& object) {
  visit(object.is_default, object.values, object.from, object.to, object.modulus, object.remainder);
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, Relation>
void fields(V& visit, T& object) {
  visit(object.oid, object.schema, object.name, object.kind, object.persistence, object.owner,
        object.row_type, object.array_type, object.tree, object.columns, object.constraints,
        object.indexes, object.options, object.view_sql, object.view_names, object.sequence,
        object.on_commit, object.comment, object.grants, object.estimated_rows);
  visit.since(3, object.populated);
  visit.since(4, object.estimated_pages);
  visit.since(6, object.view_types);
  visit.since(7, object.view_routines);
  visit.since(8, object.triggers);
  visit.since(13, object.replica_identity);
  visit.since(13, object.replica_index);
  visit.since(16, object.row_security);
  visit.since(16, object.forces_row_security);
  visit.since(16, object.policies);
  visit.since(18, object.partition_key);
  visit.since(18, object.partitions);
  visit.since(18, object.partition_of);
  visit.since(18, object.partition_bound);
  visit.since(19, object.leaves_keys);
  visit.since(23, object.is_being_detached);
  visit.since(26, object.parents);
  visit.since(26, object.children);
  if constexpr (!std::is_const_v<T>) {
    visit.before(21, [&] {
      name_old_not_nulls(object);
      if (object.kind != RelationKind::sequence) give_owner_maintain(object.grants, object.owner);
    });
  }
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, Membership>
void fields(V& visit, T& object) {
  visit(object.group);
  visit.since(6, object.grantor);
  visit.since(6, object.admin_option);
  visit.since(21, object.oid);
  visit.since(21, object.inherit_option);
  visit.since(21, object.set_option);
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, Role>
void fields(V& visit, T& object) {
  visit(object.oid, object.name, object.superuser, object.inherit, object.create_role,
        object.create_database, object.can_login, object.replication, object.bypass_rls,
        object.connection_limit, object.password_verifier, object.valid_until, object.member_of,
        object.settings, object.comment);
  if constexpr (!std::is_const_v<T>) {
    visit.before(21, [&] {
      // The grantor was not held, and had no need of an ADMIN OPTION.
      for (Membership& membership : object.member_of) {
        membership.inherit_option = object.inherit;
        membership.grantor = kBootstrapRole;
      }
    });
  }
}
template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, DatabaseEntry>
void fields(V& visit, T& object) {
  visit(object.oid, object.name, object.owner, object.is_template, object.allow_connections,
        object.connection_limit, object.settings, object.comment, object.grants);
  visit.since(14, object.icu_locale);
  visit.since(14, object.collation_version);
  visit.since(15, object.locale_orders_all);
}

template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, LargeObject>
void fields(V& visit, T& object) {
  visit(object.oid, object.owner, object.grants);
}

template <class V, class T>
  requires std::same_as<std::remove_const_t<T>, DefaultGrants>
void fields(V& visit, T& object) {
  visit(object.oid, object.role, object.schema, object.kind, object.grants);
  if constexpr (!std::is_const_v<T>) {
    visit.before(21, [&] {
      if (object.kind == GrantedOn::table) give_owner_maintain(object.grants, object.role);
    });
  }
}

}  // namespace swizzle::sql
