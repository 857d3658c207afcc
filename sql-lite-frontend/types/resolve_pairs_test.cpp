// Every operator over all pairs of types including pseudo-types, and every function over them: the
// resolution may choose anything, but violates no invariant.
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "sql-lite-frontend/types/resolve.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

std::vector<TypeId> all_types() {
  std::vector<TypeId> types{TypeId::unknown};
  for (const Type* type : builtin_types()) types.push_back(type->id);
  return types;
}

std::vector<TypeId> pseudo_types() {
  std::vector<TypeId> types{TypeId::unknown, TypeId::int4, TypeId::text};
  for (const Type* type : builtin_types()) {
    if (type->category == 'P') types.push_back(type->id);
  }
  return types;
}

/// Returns the error if it is an internal one.
template <class Resolve>
std::string fault_of(const Resolve& resolve) {
  try {
    resolve();
  } catch (const SqlError& error) {
    if (error.state() == sqlstate::internal_error) return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("every operator is resolved over all pairs of types", "[sql][types][resolve]") {
  std::set<std::string_view> names;
  for (const Operator& op : builtin_operators()) names.insert(op.name);
  const std::vector<TypeId> types = all_types();
  std::size_t resolved = 0;
  for (const std::string_view name : names) {
    for (const TypeId left : types) {
      for (const TypeId right : types) {
        ++resolved;
        const std::string fault = fault_of([&] { resolve_operator(name, left, right); });
        if (!fault.empty()) FAIL(raw(left) << " " << name << " " << raw(right) << ": " << fault);
      }
      const std::string fault = fault_of([&] { resolve_operator(name, TypeId::none, left); });
      if (!fault.empty()) FAIL(name << " " << raw(left) << ": " << fault);
    }
  }
  CHECK(resolved > 100'000);
}

TEST_CASE("every function is resolved over pseudo-types", "[sql][types][resolve]") {
  const std::vector<TypeId> types = pseudo_types();
  REQUIRE(types.size() > 10);
  for (const Function& function : builtin_functions()) {
    const std::size_t given = function.arguments.size();
    if (given == 0 || given > 3) continue;
    std::vector<TypeId> arguments(given);
    // All arguments of the same type first, which matches polymorphic declarations; then all pairs.
    for (const TypeId type : types) {
      arguments.assign(given, type);
      const std::string fault =
          fault_of([&] { resolve_function({.name = function.name, .argument_types = arguments}); });
      if (!fault.empty()) FAIL(function.name << " of " << raw(type) << ": " << fault);
    }
    arguments.assign(function.arguments.begin(), function.arguments.end());
    for (std::size_t i = 0; i < given; ++i) {
      const TypeId declared = arguments[i];
      for (const TypeId type : types) {
        arguments[i] = type;
        const std::string fault = fault_of(
            [&] { resolve_function({.name = function.name, .argument_types = arguments}); });
        if (!fault.empty()) FAIL(function.name << " with " << raw(type) << ": " << fault);
      }
      arguments[i] = declared;
    }
  }
}

TEST_CASE("a call by declared pseudo-types is refused as PostgreSQL refuses it",
          "[sql][types][resolve]") {
  const auto error_of = [](std::string_view name, TypeId left, TypeId right) -> std::string {
    try {
      resolve_operator(name, left, right);
    } catch (const SqlError& error) {
      return std::string{error.state().code()} + " " + error.what();
    }
    return {};
  };
  CHECK(error_of("=", TypeId::anyrange, TypeId::anyrange) ==
        "42804 argument declared anyrange is not a range type but type anyrange");
  CHECK(error_of("<@", TypeId::anyelement, TypeId::anyrange) ==
        "42804 argument declared anyrange is not a range type but type anyrange");
  CHECK(error_of("=", TypeId::anymultirange, TypeId::anymultirange) ==
        "42804 argument declared anymultirange is not a multirange type but type anymultirange");
}
