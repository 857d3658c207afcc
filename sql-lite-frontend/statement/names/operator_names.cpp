// Operators and casts that users made, by name and by types, as the session sees them.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sql-lite-frontend/statement/names/procedure_names.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/functions/text/quoting.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {

/// Valid for one state of the catalog: most databases have no operators or casts of users.
struct SessionNames::UserDefinedNames final : MadeCasts {
  explicit UserDefinedNames(const CatalogView& catalog) : stamp(catalog.stamp()) {
    for (OperatorPtr& op : catalog.all_made<UserOperator>()) operators.emplace(op->name, op);
    for (CastPtr& cast : catalog.all_made<UserCast>()) {
      casts.emplace(std::pair{cast->source, cast->target}, cast);
    }
  }
  [[nodiscard]] CastPtr cast(TypeId source, TypeId target) const {
    const auto found = casts.find({source, target});
    return found == casts.end() ? nullptr : found->second;
  }
  [[nodiscard]] bool is_implicit(TypeId source, TypeId target) const override {
    const auto found = casts.find({source, target});
    return found != casts.end() && found->second->context == 'i';
  }

  CatalogView::Stamp stamp;
  std::multimap<std::string, OperatorPtr, std::less<>> operators;
  std::map<std::pair<TypeId, TypeId>, CastPtr> casts;
};

const SessionNames::UserDefinedNames& SessionNames::user_defined_names() {
  if (!user_defined_names_ || user_defined_names_->stamp != session_.catalog.stamp()) {
    user_defined_names_ = std::make_shared<UserDefinedNames>(session_.catalog);
  }
  return *user_defined_names_;
}

const MadeCasts* SessionNames::made_casts() {
  const UserDefinedNames& made = user_defined_names();
  return made.casts.empty() ? nullptr : &made;
}

CastPtr SessionNames::made_cast(TypeId source, TypeId target) {
  const UserDefinedNames& made = user_defined_names();
  if (made.casts.empty()) return nullptr;
  if (CastPtr direct = made.cast(source, target)) return direct;
  return is_domain(source) ? made.cast(base_type(source), target) : nullptr;
}

OperatorPtr SessionNames::made_operator(Oid oid) {
  return session_.catalog.made<UserOperator>(oid);
}

std::vector<NameSource::FoundOperator> SessionNames::find_operators(std::string_view schema,
                                                                    std::string_view name) {
  const UserDefinedNames& made = user_defined_names();
  std::vector<FoundOperator> found;
  const auto [first, last] = made.operators.equal_range(name);
  if (first == last) return found;
  if (!schema.empty()) {
    const SchemaPtr named = session_.catalog.schema(schema);
    if (!named) return found;
    if (!trusts_names) session_.rights.require(*named, privilege::kUsage);
    for (auto at = first; at != last; ++at) {
      if (at->second->schema == named->oid) found.push_back({at->second, true});
    }
    return found;
  }
  bool before_builtin = true;
  for (const Oid place : search_path()) {
    if (place == kPgCatalogSchema) before_builtin = false;
    for (auto at = first; at != last; ++at) {
      const OperatorPtr& op = at->second;
      if (op->schema != place) continue;
      const bool is_hidden = std::ranges::any_of(found, [&](const FoundOperator& other) {
        return other.op->left == op->left && other.op->right == op->right;
      });
      if (!is_hidden) found.push_back({op, before_builtin});
    }
  }
  return found;
}

std::optional<std::string> SessionNames::operator_name(std::uint32_t oid) {
  const OperatorPtr op = made_operator(oid);
  if (!op) return std::nullopt;
  if (is_operator_visible(session_, oid).value_or(false)) return op->name;
  return fmt::format("OPERATOR({}.{})", quote_identifier(schema_name(op->schema)), op->name);
}

void SessionNames::set_setting(std::string_view name, std::string_view value) {
  session_.variables.apply(name, value, SessionSettings::Lifetime::session);
}

std::string SessionNames::type_name_of(TypeId type) {
  if (type == TypeId::none) return "NONE";
  return name_of(TypeId::regtype, raw(type)).value_or(format_type(type));
}

std::string SessionNames::operator_signature(const UserOperator& op) {
  const std::string name = operator_name(op.oid).value_or(op.name);
  const std::string_view bare =
      name.starts_with("OPERATOR(") ? std::string_view{name}.substr(9, name.size() - 10) : name;
  return fmt::format("{}({},{})", bare, type_name_of(op.left), type_name_of(op.right));
}

}  // namespace swizzle::sql
