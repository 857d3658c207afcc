// Dependents of text search dictionaries and configurations.
#include <algorithm>

#include "sql-lite-frontend/definitions/dependents/constant_dependents.h"
#include "sql-lite-frontend/definitions/text/text_search.h"
#include "sql-lite-frontend/types/builtin.h"

namespace swizzle::sql {
namespace {

using Kind = Dependent::Kind;

template <class Object, class Wanted>
void add_users_of(StatementContext& session, const Wanted& is_wanted,
                  std::vector<Dependent>& dependents) {
  for (const auto& made : session.catalog.all_made<Object>()) {
    if (!is_wanted(*made)) continue;
    for (Dependent& dependent : dependents_of_text_search(session, *made))
      add_once(dependents, std::move(dependent));
  }
}

template <class Object>
void add_of_schema(StatementContext& session, const Schema& schema, Kind kind,
                   std::vector<Dependent>& found) {
  for (const auto& made : session.catalog.naming<Object>({schema.oid})) {
    if (made->schema != schema.oid) continue;
    add_once(found,
             {kind, nullptr, made->oid, 0, described(session, *made), "schema " + schema.name});
    for (Dependent& dependent : dependents_of_text_search(session, *made)) {
      // Objects in the same schema are added separately.
      const auto config = dependent.kind == Kind::text_config
                              ? session.catalog.made<UserTextConfig>(dependent.oid)
                              : nullptr;
      if (!config || config->schema != schema.oid) add_once(found, std::move(dependent));
    }
  }
}

template <class Object>
void remove_owned(StatementContext& session, Oid owner) {
  for (const auto& made : session.catalog.all_made<Object>()) {
    if (made->owner == owner) session.catalog.remove(*session.transaction, *made);
  }
}

}  // namespace

std::vector<Dependent> dependents_of_text_search(StatementContext& session,
                                                 const UserTextConfig& config) {
  std::vector<Dependent> list;
  ConstantDependents{session, builtin_id::regconfig, config.oid, described(session, config)}
      .collect(list);
  return list;
}

std::vector<Dependent> dependents_of_text_search(StatementContext& session,
                                                 const UserTextDictionary& dictionary) {
  std::vector<Dependent> list;
  const std::string on = described(session, dictionary);
  for (const UserTextConfigPtr& config : session.catalog.naming<UserTextConfig>({dictionary.oid})) {
    if (std::ranges::find(config->mappings, dictionary.oid, &UserTextConfig::Mapping::dictionary) ==
        config->mappings.end())
      continue;
    add_once(list, {Kind::text_config, nullptr, config->oid, 0, described(session, *config), on});
    for (Dependent& dependent : dependents_of_text_search(session, *config))
      add_once(list, std::move(dependent));
  }
  ConstantDependents{session, builtin_id::regdictionary, dictionary.oid, on}.collect(list);
  return list;
}

void add_text_search_of_schema(StatementContext& session, const Schema& schema,
                               std::vector<Dependent>& dependents) {
  std::vector<Dependent> found;
  add_of_schema<UserTextDictionary>(session, schema, Kind::text_dictionary, found);
  add_of_schema<UserTextConfig>(session, schema, Kind::text_config, found);
  for (Dependent& dependent : found) {
    // Tables of the schema are in the list already.
    if (dependent.table && dependent.table->relation.schema == schema.oid) continue;
    add_once(dependents, std::move(dependent));
  }
}

void add_users_of_owned_text_search(StatementContext& session, Oid owner,
                                    std::vector<Dependent>& dependents) {
  const auto is_owned = [&](const auto& made) { return made.owner == owner; };
  std::vector<Dependent> found;
  add_users_of<UserTextDictionary>(session, is_owned, found);
  add_users_of<UserTextConfig>(session, is_owned, found);
  for (Dependent& dependent : found) {
    const auto config = dependent.kind == Kind::text_config
                            ? session.catalog.made<UserTextConfig>(dependent.oid)
                            : nullptr;
    if (!config || config->owner != owner) add_once(dependents, std::move(dependent));
  }
}

void remove_owned_text_search(StatementContext& session, Oid owner) {
  remove_owned<UserTextConfig>(session, owner);
  remove_owned<UserTextDictionary>(session, owner);
}

}  // namespace swizzle::sql
