#include "sql-lite-frontend/catalog/relation_rights.h"

#include <algorithm>
#include <array>

#include "sql-lite-frontend/catalog/predefined_roles.h"
#include "sql-lite-frontend/catalog/relation_noun.h"

namespace swizzle::sql {
namespace {

/// A relation of the system that PUBLIC may not read.
struct Guarded {
  std::string_view name;
  std::string_view noun;
  Oid reader = kPublic;  ///< the predefined role that may read it; kPublic: superusers alone
};

constexpr std::array kGuarded{
    Guarded{"pg_authid", "table"},
    Guarded{"pg_largeobject", "table"},
    Guarded{"pg_statistic", "table"},
    Guarded{"pg_statistic_ext_data", "table"},
    Guarded{"pg_subscription", "table"},
    Guarded{"pg_user_mapping", "table"},
    Guarded{"pg_aios", "view", kReadAllStatsRole},
    Guarded{"pg_backend_memory_contexts", "view", kReadAllStatsRole},
    Guarded{"pg_config", "view"},
    Guarded{"pg_file_settings", "view"},
    Guarded{"pg_hba_file_rules", "view"},
    Guarded{"pg_ident_file_mappings", "view"},
    Guarded{"pg_replication_origin_status", "view"},
    Guarded{"pg_shadow", "view"},
    Guarded{"pg_shmem_allocations", "view", kReadAllStatsRole},
    Guarded{"pg_shmem_allocations_numa", "view", kReadAllStatsRole},
};

const Guarded* guard_of(const Table& table) {
  if (table.computed == nullptr) return nullptr;
  const auto* found = std::ranges::find(kGuarded, table.relation.name, &Guarded::name);
  return found == kGuarded.end() ? nullptr : found;
}

}  // namespace

AccessList access_list(const Relation& relation) {
  const bool is_sequence = relation.kind == RelationKind::sequence;
  return {relation.grants, relation.owner, is_sequence ? GrantedOn::sequence : GrantedOn::table};
}

AccessList access_list(const Table& table) {
  if (table.computed == nullptr) return access_list(table.relation);
  const Oid owner = table.relation.owner;
  const Guarded* guard = guard_of(table);
  if (guard == nullptr) return {{}, owner, GrantedOn::table, privilege::kSelect};
  if (guard->reader == kPublic) return {{}, owner, GrantedOn::table};
  return {{{guard->reader, owner, "r"}}, owner, GrantedOn::table};
}

std::string_view right_noun(const Table& table) {
  const Guarded* guard = guard_of(table);
  return guard != nullptr ? guard->noun : noun_of(table.relation.kind);
}

}  // namespace swizzle::sql
