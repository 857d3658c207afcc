#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sql-lite-frontend/catalog/facts.h"
#include "sql-lite-frontend/definitions/system_catalog/providers.h"
#include "sql-lite-frontend/types/statement_invariant.h"
#include "sql-lite-frontend/types/type.h"

/// Builds the system relations: columns from the facts, rows from the providers.
namespace swizzle::sql {
namespace {

/// Returns the value of a column that no provider supplies.
Value constant_for(const ColumnFacts& column) {
  if (!column.not_null) return Value::null();
  const Type* type = find_type(column.type);
  if (type == nullptr) return Value::null();
  if (type->shape == Shape::text) return Value::from_text("");
  return type->by_value ? Value::from_int(0) : Value::null();
}

std::vector<std::span<const RowProvider>>& added_providers() {
  static std::vector<std::span<const RowProvider>> all;
  return all;
}

class Builder {
 public:
  Builder() {
    for (const auto providers :
         {catalog_providers(), fact_providers(), information_schema_providers(),
          privilege_providers(), statistics_providers()}) {
      add(providers);
    }
    for (const auto providers : added_providers()) add(providers);
    for (const auto views : {system_views(), information_schema_views()}) {
      for (const SystemView& view : views) views_.emplace(Key{view.schema, view.name}, &view);
    }
  }

  std::vector<ComputedRelation> build() {
    std::vector<ComputedRelation> relations;
    for (const RelationFacts& facts : relation_facts()) {
      ComputedRelation relation{
          .oid = facts.oid, .schema = facts.schema, .name = facts.name, .kind = facts.kind};
      for (const ColumnFacts& column : columns_of(facts)) {
        relation.columns.push_back({column.name, column.type, column.not_null});
        relation.constants.push_back(constant_for(column));
      }
      const Key key{facts.schema, facts.name};
      if (const auto view = views_.find(key); view != views_.end()) {
        relation.view_sql = full_query(*view->second, relation);
        views_.erase(view);
      } else if (const auto provider = providers_.find(key); provider != providers_.end()) {
        connect(relation, *provider->second);
        providers_.erase(provider);
      }
      relations.push_back(std::move(relation));
    }
    add_our_own(relations);
    return relations;
  }

 private:
  using Key = std::pair<Oid, std::string_view>;

  void add(std::span<const RowProvider> providers) {
    for (const RowProvider& provider : providers) {
      const bool added = providers_.emplace(Key{provider.schema, provider.name}, &provider).second;
      STATEMENT_INVARIANT(added);
    }
  }

  static void connect(ComputedRelation& relation, const RowProvider& provider) {
    relation.provider = &provider;
    relation.sources.assign(relation.columns.size(), -1);
    for (std::size_t i = 0; i < provider.columns.size(); ++i) {
      bool found = false;
      for (std::size_t j = 0; j < relation.columns.size(); ++j) {
        if (relation.columns[j].name != provider.columns[i].name) continue;
        relation.sources[j] = static_cast<int>(i);
        found = true;
      }
      STATEMENT_INVARIANT(found);
    }
  }

  /// Returns the view's query with all columns of the relation, cast to their types.
  static std::string full_query(const SystemView& view, const ComputedRelation& relation) {
    std::string targets;
    std::size_t found = 0;
    for (const ComputedRelation::ColumnSpec& column : relation.columns) {
      if (!targets.empty()) targets += ", ";
      const bool provided =
          fmt::format(" {} ", view.columns).find(fmt::format(" {} ", column.name)) !=
          std::string::npos;
      found += provided ? 1 : 0;
      targets += fmt::format("{}::pg_catalog.{} AS {}",
                             provided ? fmt::format("v.\"{}\"", column.name) : "NULL",
                             array_spelling(column.type), column.name);
    }
    const auto listed = static_cast<std::size_t>(std::ranges::count(view.columns, ' ')) + 1;
    STATEMENT_INVARIANT(found == listed);
    return fmt::format("SELECT {} FROM ({}) v", targets, view.query);
  }
  static std::string array_spelling(TypeId type) {
    if (is_array(type)) return array_spelling(element_type(type)) + "[]";
    return fmt::format("\"{}\"", type_info(type).name);
  }

  /// Adds the relations that PostgreSQL does not have (swizzle_…).
  void add_our_own(std::vector<ComputedRelation>& relations) {
    Oid oid = 12900;
    for (const auto& [key, provider] : providers_) {
      ComputedRelation relation{.oid = oid++, .schema = key.first, .name = key.second, .kind = 'v'};
      for (const RowProvider::Column& column : provider->columns) {
        STATEMENT_INVARIANT(column.type != TypeId::none);
        relation.columns.push_back({column.name, column.type});
        relation.constants.push_back(Value::null());
      }
      connect(relation, *provider);
      relations.push_back(std::move(relation));
    }
    STATEMENT_INVARIANT(views_.empty());
  }

  std::map<Key, const RowProvider*> providers_;
  std::map<Key, const SystemView*> views_;
};

}  // namespace

void add_row_providers(std::span<const RowProvider> providers) {
  added_providers().push_back(providers);
}

void provide_system_relations() noexcept {
  set_system_relations([] { return Builder{}.build(); });
}

}  // namespace swizzle::sql
