#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sql-lite-frontend/catalog/class_id.h"
#include "sql-lite-frontend/definitions/system_catalog/functions.h"
#include "sql-lite-frontend/definitions/system_catalog/privileges.h"
#include "sql-lite-frontend/definitions/system_catalog/query_rows.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/function_registry.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/statement_invariant.h"

/// aclexplode(), acldefault() and pg_get_acl(), on access lists as in relacl.
namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

/// Removes a role's name, which may be quoted, from the front of an aclitem and returns it.
std::string take_name(std::string_view& rest) {
  std::string name;
  bool quoted = false;
  while (!rest.empty()) {
    const char letter = rest.front();
    if (!quoted && letter == '=') break;
    rest.remove_prefix(1);
    if (letter != '"') {
      name += letter;
    } else if (quoted && rest.starts_with('"')) {
      name += '"';
      rest.remove_prefix(1);
    } else {
      quoted = !quoted;
    }
  }
  return name;
}

Oid role_of(const StatementContext& session, const std::string& name) {
  if (name.empty()) return kPublic;
  if (const RolePtr role = session.catalog.role(name)) return role->oid;
  // A dropped role is shown by its oid.
  return static_cast<Oid>(std::strtoul(name.c_str(), nullptr, 10));
}

struct Right {
  Oid grantor;
  Oid grantee;
  std::string_view name;
  bool is_grantable;
};

class Rights final : public SetCursor {
 public:
  explicit Rights(std::vector<Right> rights) : rights_(std::move(rights)) {}
  std::optional<Value> next(FunctionContext& context) override {
    if (at_ == rights_.size()) return std::nullopt;
    const Right& right = rights_[at_++];
    constexpr TypeId kTypes[] = {TypeId::oid, TypeId::oid, TypeId::text, TypeId::bool_};
    const Value fields[] = {Value::from_oid(right.grantor), Value::from_oid(right.grantee),
                            make_text(context.arena, right.name),
                            Value::from_bool(right.is_grantable)};
    return make_record(context.arena, kTypes, fields);
  }

 private:
  std::vector<Right> rights_;
  std::size_t at_ = 0;
};

std::unique_ptr<SetCursor> explode(FunctionContext& context, Arguments a) {
  const StatementContext& session = context_of(context);
  const ArrayView items{a[0]};
  // An empty list has no dimension here.
  if (items.dimension_count() > 1) {
    throw SqlError{sqlstate::invalid_parameter_value, "ACL arrays must be one-dimensional"};
  }
  std::vector<Right> rights;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Value item = items.element(i);
    if (item.is_null()) {
      throw SqlError{sqlstate::null_value_not_allowed, "ACL arrays must not contain null values"};
    }
    std::string_view rest = item.as_text();
    const Oid grantee = role_of(session, take_name(rest));
    rest.remove_prefix(std::min<std::size_t>(rest.size(), 1));
    const std::size_t slash = rest.find('/');
    const std::string_view letters = rest.substr(0, slash);
    rest = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash + 1);
    const Oid grantor = role_of(session, take_name(rest));
    for (const PrivilegeName& name : privilege_names()) {
      const std::size_t at = letters.find(name.letter);
      if (at == std::string_view::npos) continue;
      rights.push_back({grantor, grantee, name.name, letters.substr(at + 1).starts_with('*')});
    }
  }
  return std::make_unique<Rights>(std::move(rights));
}

/// Rights by the letter for a kind of object: the owner's, and PUBLIC's.
struct Usual {
  char kind;
  std::string_view owner;
  std::string_view everyone;
};
constexpr std::array kUsual = std::to_array<Usual>({
    {'c', "", ""},
    {'r', "arwdDxtm", ""},
    {'s', "rwU", ""},
    {'d', "CTc", "Tc"},
    {'f', "X", "X"},
    {'l', "U", "U"},
    {'L', "rw", ""},
    {'n', "UC", ""},
    {'p', "sA", ""},
    {'t', "C", ""},
    {'F', "U", ""},
    {'S', "U", ""},
    {'T', "U", "U"},
});

Value usual(FunctionContext& context, Arguments a) {
  const char kind = static_cast<char>(a[0].as_int4());
  const auto* known = std::ranges::find(kUsual, kind, &Usual::kind);
  if (known == kUsual.end()) {
    throw sql_error(SqlState{"XX000"}, "unrecognized object type abbreviation: {}", kind);
  }
  const StatementContext& session = context_of(context);
  const Oid owner = a[1].as_oid();
  std::vector<Value> items;
  const auto add = [&](Oid grantee, std::string_view letters) {
    if (letters.empty()) return;
    items.push_back(
        make_text(context.arena, acl_text(session, {grantee, owner, std::string{letters}})));
  };
  add(kPublic, known->everyone);
  add(owner, known->owner);
  return make_array(context.arena, TypeId::aclitem, items);
}

/// Catalogs whose objects have an access list, with its column.
struct ListColumn {
  Oid catalog;
  std::string_view name;
  std::string_view column;  ///< empty: its objects have none
};
constexpr std::array kLists = std::to_array<ListColumn>({
    {class_id::pg_class, "pg_class", "relacl"},
    {class_id::pg_proc, "pg_proc", "proacl"},
    {class_id::pg_type, "pg_type", "typacl"},
    {class_id::pg_namespace, "pg_namespace", "nspacl"},
    {class_id::pg_database, "pg_database", "datacl"},
    {class_id::pg_language, "pg_language", "lanacl"},
    {class_id::pg_tablespace, "pg_tablespace", "spcacl"},
    {class_id::pg_largeobject, "pg_largeobject_metadata", "lomacl"},
    {class_id::pg_cast, "pg_cast", ""},
    {class_id::pg_collation, "pg_collation", ""},
    {class_id::pg_constraint, "pg_constraint", ""},
    {class_id::pg_event_trigger, "pg_event_trigger", ""},
    {class_id::pg_extension, "pg_extension", ""},
    {class_id::pg_am, "pg_am", ""},
    {class_id::pg_opclass, "pg_opclass", ""},
    {class_id::pg_operator, "pg_operator", ""},
    {class_id::pg_opfamily, "pg_opfamily", ""},
    {class_id::pg_policy, "pg_policy", ""},
    {class_id::pg_publication, "pg_publication", ""},
    {class_id::pg_rewrite, "pg_rewrite", ""},
    {class_id::pg_subscription, "pg_subscription", ""},
    {class_id::pg_trigger, "pg_trigger", ""},
    {class_id::pg_ts_config, "pg_ts_config", ""},
    {class_id::pg_ts_dict, "pg_ts_dict", ""},
    {class_id::pg_authid, "pg_authid", ""},
});

std::string query_of_list(Oid catalog, Oid object, std::int32_t part) {
  if (catalog == class_id::pg_class && part != 0)
    return fmt::format(
        "SELECT attacl FROM pg_catalog.pg_attribute WHERE attrelid = {} AND attnum = {}", object,
        part);
  const auto* known = std::ranges::find(kLists, catalog, &ListColumn::catalog);
  if (known == kLists.end())
    throw sql_error(SqlState{"XX000"}, "unrecognized class ID: {}", catalog);
  if (known->column.empty()) return {};
  return fmt::format("SELECT {} FROM pg_catalog.{} WHERE oid = {}", known->column, known->name,
                     object);
}

/// pg_get_acl(): an object's access list, or a column's.
Value list_of_object(FunctionContext& context, Arguments a) {
  if (a[0].as_oid() == kNoOid && a[1].as_oid() == kNoOid) return Value::null();
  const std::string query = query_of_list(a[0].as_oid(), a[1].as_oid(), a[2].as_int4());
  Value list = Value::null();
  if (query.empty()) return list;
  for_each_row_of(
      context_of(context), query, RefusedQuery::as_data, [](std::span<const OutputTarget>) {},
      [&](Arguments row) { list = row[0].copy_to(context.arena); });
  return list;
}

Value equal_items(FunctionContext&, Arguments a) {
  return Value::from_bool(a[0].as_text() == a[1].as_text());
}

}  // namespace

void add_acl_functions() {
  static constexpr ScalarEntry kScalars[] = {{"acldefault(char,oid)", usual},
                                             {"pg_get_acl(oid,oid,int4)", list_of_object},
                                             {"=(aclitem,aclitem)", equal_items}};
  static constexpr SetEntry kSets[] = {{"aclexplode(_aclitem)", explode}};
  static const bool is_added = (add_builtin_functions({.scalars = kScalars, .sets = kSets}), true);
  static_cast<void>(is_added);
}

}  // namespace swizzle::sql
