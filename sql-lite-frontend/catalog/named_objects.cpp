#include "sql-lite-frontend/catalog/named_objects.h"

#include <algorithm>
#include <charconv>

#include "sql-lite-frontend/catalog/table.h"

namespace swizzle::sql {
namespace {

class Names {
 public:
  void add(Oid oid) {
    if (oid >= kFirstUserOid) list_.push_back(oid);
  }
  void add_role(Oid oid) {
    if (oid != kNoOid && oid != kBootstrapRole) list_.push_back(oid);
  }
  void add_schema(Oid oid) {
    if (oid != kNoOid && oid != kPgCatalogSchema) list_.push_back(oid);
  }
  /// For a row type, adds the relation's number: `CatalogView::hold` handles it.
  void add(TypeId type) {
    const TypeId plain = without_array(without_collation(type));
    if (is_user_type(plain)) list_.push_back(raw(plain));
  }
  void add(const std::vector<Grant>& grants) {
    for (const Grant& grant : grants) {
      add_role(grant.grantee);
      add_role(grant.grantor);
    }
  }

  /// Names and casts to types are "#12", operators "#o12" and so on, constants of regclass and its
  /// like '12'::regclass.
  void add_text(std::string_view text) {
    for (std::size_t at = 0; at + 1 < text.size(); ++at) {
      if (text[at] == '"' && text[at + 1] == '#') {
        at += 2;
        if (at < text.size() && (text[at] == 'o' || text[at] == 'c' || text[at] == 'l')) ++at;
        add(number_at(text, at, '"'));
      } else if (text[at] == '\'') {
        const Oid number = number_at(text, at + 1, '\'');
        const std::size_t end = text.find('\'', at + 1);
        if (number != kNoOid && text.substr(end + 1).starts_with("::reg")) add(number);
      }
    }
  }

  void add(const std::vector<ViewName>& names) {
    for (const ViewName& name : names) add(name.relation);
  }
  void add(const std::vector<ViewType>& types) {
    for (const ViewType& type : types) {
      is_user_type(TypeId{type.type}) ? add(TypeId{type.type}) : add(type.type);
    }
  }
  void add(const std::vector<ViewRoutine>& routines) {
    for (const ViewRoutine& routine : routines) add(routine.routine);
  }
  void add(const std::vector<Column>& columns) {
    for (const Column& column : columns) {
      if (column.dropped) continue;
      add(column.type);
      add(column.collation);
      add(column.grants);
      add_text(column.default_sql);
    }
  }

  NamedObjects all() && {
    std::ranges::sort(list_);
    const auto repeated = std::ranges::unique(list_);
    list_.erase(repeated.begin(), repeated.end());
    return std::move(list_);
  }
  /// All but the object itself.
  NamedObjects but(Oid self) && {
    std::erase(list_, self);
    return std::move(*this).all();
  }

 private:
  /// 0 where there is no number that ends with `end`.
  static Oid number_at(std::string_view text, std::size_t at, char end) {
    Oid number = kNoOid;
    const char* const last = text.data() + text.size();
    const auto [behind, error] =
        std::from_chars(text.data() + std::min(at, text.size()), last, number);
    return error == std::errc{} && behind != last && *behind == end ? number : kNoOid;
  }

  NamedObjects list_;
};

}  // namespace

NamedObjects named_by(const Relation& relation) {
  Names names;
  names.add_schema(relation.schema);
  names.add_role(relation.owner);
  names.add(relation.grants);
  names.add(relation.columns);
  for (const Constraint& constraint : relation.constraints) {
    names.add(constraint.referenced_table);
    names.add_text(constraint.check_sql);
  }
  for (const Index& index : relation.indexes) {
    for (const IndexColumn& column : index.columns) {
      names.add(column.type);
      names.add(column.collation);
      names.add_text(column.expression_sql);
    }
    names.add_text(index.predicate_sql);
  }
  for (const Trigger& trigger : relation.triggers) {
    names.add(trigger.function);
    names.add(trigger.referenced_table);
    names.add_text(trigger.when_sql);
  }
  for (const Policy& policy : relation.policies) {
    for (const Oid role : policy.roles) names.add_role(role);
    for (const PolicyCondition* condition : {&policy.using_rows, &policy.check}) {
      names.add(condition->names);
      names.add(condition->types);
      names.add(condition->routines);
    }
  }
  names.add(relation.view_names);
  names.add(relation.view_types);
  names.add(relation.view_routines);
  if (relation.sequence) names.add(relation.sequence->owner_table);
  names.add(relation.partition_of);
  for (const Oid parent : relation.parents) names.add(parent);
  if (relation.partition_key) {
    for (const PartitionColumn& column : relation.partition_key->columns) {
      names.add(column.type);
      names.add(column.collation);
      names.add_text(column.expression_sql);
    }
  }
  return std::move(names).but(relation.oid);
}

NamedObjects named_by(const Schema& schema) {
  Names names;
  names.add_role(schema.owner);
  names.add(schema.grants);
  return std::move(names).all();
}

NamedObjects named_by(const UserType& type) {
  Names names;
  names.add_schema(type.schema);
  names.add_role(type.owner);
  names.add(type.grants);
  names.add(type.base);
  names.add_text(type.default_sql);
  for (const DomainCheck& check : type.checks) names.add_text(check.sql);
  names.add(type.attributes);
  names.add(type.difference);
  names.add(type.collation);
  return std::move(names).but(type.oid);
}

NamedObjects named_by(const Routine& routine) {
  Names names;
  names.add_schema(routine.schema);
  names.add_role(routine.owner);
  names.add(routine.grants);
  for (const RoutineParameter& parameter : routine.parameters) {
    names.add(parameter.type);
    names.add_text(parameter.default_sql);
  }
  names.add(routine.result);
  names.add(routine.result_relation);
  names.add(routine.body_names);
  names.add(routine.body_types);
  names.add(routine.body_routines);
  if (const auto& made = routine.aggregate) {
    names.add(made->state);
    names.add(made->moving_state);
    for (const Oid part :
         {made->transition, made->final, made->combine, made->serialize, made->deserialize,
          made->moving_transition, made->moving_inverse, made->moving_final, made->sort_operator}) {
      names.add(part);
    }
  }
  return std::move(names).but(routine.oid);
}

NamedObjects named_by(const UserOperator& op) {
  Names names;
  names.add_schema(op.schema);
  names.add_role(op.owner);
  for (const TypeId type : {op.left, op.right, op.result}) names.add(type);
  for (const Oid part : {op.function, op.restriction, op.join}) names.add(part);
  return std::move(names).all();
}

NamedObjects named_by(const UserCast& cast) {
  Names names;
  names.add(cast.source);
  names.add(cast.target);
  names.add(cast.function);
  return std::move(names).all();
}

NamedObjects named_by(const UserCollation& collation) {
  Names names;
  names.add_schema(collation.schema);
  names.add_role(collation.owner);
  return std::move(names).all();
}

NamedObjects named_by(const UserTextDictionary& dictionary) {
  Names names;
  names.add_schema(dictionary.schema);
  names.add_role(dictionary.owner);
  return std::move(names).all();
}

NamedObjects named_by(const UserTextConfig& config) {
  Names names;
  names.add_schema(config.schema);
  names.add_role(config.owner);
  for (const UserTextConfig::Mapping& mapping : config.mappings) names.add(mapping.dictionary);
  return std::move(names).all();
}

NamedObjects named_by(const Extension& extension) {
  Names names;
  names.add_schema(extension.schema);
  names.add_role(extension.owner);
  return std::move(names).all();
}

NamedObjects named_by(const Publication& publication) {
  Names names;
  names.add_role(publication.owner);
  for (const Publication::Member& member : publication.members) {
    names.add(member.table);
    names.add_text(member.filter_sql);
  }
  for (const Publication::WholeSchema& whole : publication.schemas) names.add_schema(whole.schema);
  return std::move(names).all();
}

NamedObjects named_by(const EventTrigger& trigger) {
  Names names;
  names.add_role(trigger.owner);
  names.add(trigger.function);
  return std::move(names).all();
}

NamedObjects named_by(const Role& role) {
  Names names;
  for (const Membership& membership : role.member_of) {
    names.add(membership.group);
    names.add_role(membership.grantor);
  }
  return std::move(names).but(role.oid);
}

NamedObjects named_by(const DatabaseEntry& database) {
  Names names;
  names.add_role(database.owner);
  names.add(database.grants);
  return std::move(names).all();
}

namespace {

NamedObjects with_parts(NamedObjects named, const NamedObjects& parts) {
  named.insert(named.end(), parts.begin(), parts.end());
  std::ranges::sort(named);
  const auto repeated = std::ranges::unique(named);
  named.erase(repeated.begin(), repeated.end());
  return named;
}

}  // namespace

NamedObjects dependency_keys(const Table& table) {
  const Relation& relation = table.relation;
  NamedObjects parts;
  for (const Index& index : relation.indexes) {
    parts.push_back(index.oid);
    if (index.parent != kNoOid) parts.push_back(index.parent);
  }
  for (const Constraint& constraint : relation.constraints) parts.push_back(constraint.oid);
  for (const Trigger& trigger : relation.triggers) {
    parts.push_back(trigger.oid);
    if (trigger.constraint != kNoOid) parts.push_back(trigger.constraint);
  }
  for (const Policy& policy : relation.policies) parts.push_back(policy.oid);
  return with_parts(named_by(relation), parts);
}

NamedObjects dependency_keys(const UserType& type) {
  NamedObjects parts;
  for (const DomainCheck& check : type.checks) parts.push_back(check.oid);
  if (type.relation != kNoOid) parts.push_back(type.relation);
  return with_parts(named_by(type), parts);
}

}  // namespace swizzle::sql
