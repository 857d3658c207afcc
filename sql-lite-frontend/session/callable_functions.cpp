#include "sql-lite-frontend/session/callable_functions.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <unordered_map>

#include "sql-lite-frontend/session/session_functions.h"
#include "sql-lite-frontend/types/resolve.h"

namespace swizzle::sql {
namespace {

/// What we have and PostgreSQL does not gets numbers that PostgreSQL leaves to others (8000 to
/// 9999).
std::span<const Function> own_functions() {
  static constexpr TypeId kRegclass[] = {TypeId::regclass};
  static constexpr TypeId kText[] = {TypeId::text};
  static const std::vector<Function> kFunctions = [] {
    Function verify;
    verify.oid = 8000;
    verify.name = "swizzle_verify";
    verify.volatility = Volatility::volatile_;
    verify.result = TypeId::text;
    Function verify_one = verify;
    verify_one.oid = 8001;
    verify_one.arguments = kRegclass;
    Function backup = verify;
    backup.oid = 8002;
    backup.name = "swizzle_backup";
    backup.arguments = kText;
    return std::vector{verify, verify_one, backup};
  }();
  return kFunctions;
}

bool takes(const SessionFunction& session, std::span<const TypeId> types) {
  if (types.size() > session.arguments.size() ||
      types.size() + session.optional < session.arguments.size()) {
    return false;
  }
  for (std::size_t i = 0; i < types.size(); ++i) {
    const TypeId taken = session.arguments[i];
    // An expression's tree is its text here.
    const bool is_tree = types[i] == TypeId{194} && taken == TypeId::text;
    if (!is_tree && !can_coerce(types[i], taken, CastContext::implicit)) return false;
  }
  return true;
}

struct Callables {
  std::vector<const Function*> all;
  std::unordered_map<std::uint32_t, const Function*> by_oid;

  Callables() {
    for (const Function& function : builtin_functions()) add(function);
    for (const Function& function : own_functions()) add(function);
    for (const std::span<const SessionFunction> list : session_function_lists()) {
      for (const SessionFunction& session : list) {
        for (const Function& function : unsupported_functions(session.name)) {
          if (takes(session, function.arguments)) add(function);
        }
      }
    }
    std::ranges::sort(all, {}, &Function::oid);
  }

  void add(const Function& function) {
    if (by_oid.emplace(function.oid, &function).second) all.push_back(&function);
  }
};

const Callables& callables() {
  static const Callables instance;
  return instance;
}

}  // namespace

std::span<const Function* const> callable_functions() {
  return callables().all;
}

const Function* find_callable_function(std::uint32_t oid) {
  const auto found = callables().by_oid.find(oid);
  return found == callables().by_oid.end() ? nullptr : found->second;
}

std::vector<const Function*> callable_functions_named(std::string_view name) {
  std::vector<const Function*> named;
  std::ranges::copy_if(callables().all, std::back_inserter(named),
                       [&](const Function* function) { return function->name == name; });
  return named;
}

bool is_ambiguous_function(std::string_view name) {
  return functions_named(name).size() + unsupported_functions(name).size() > 1;
}

bool is_for_superusers(std::string_view name) {
  constexpr std::array<std::string_view, 6> kNames{
      "pg_reload_conf", "pg_stat_reset",  "pg_stat_reset_single_table_counters",
      "pg_switch_wal",  "swizzle_backup", "swizzle_verify"};
  return std::ranges::find(kNames, name) != kNames.end();
}

}  // namespace swizzle::sql
