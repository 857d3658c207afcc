#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/types/function_registry.h"

namespace swizzle::sql {

/// Result of resolving one call.
struct ResolvedFunction {
  const Function* function = nullptr;
  /// The type each parameter takes, polymorphic ones made concrete: cast argument i of the call
  /// to it (implicit casts, or unknown literals by input). One per parameter after defaults and
  /// named arguments; a variadic tail has one entry per argument given.
  std::vector<TypeId> argument_types;
  TypeId result = TypeId::none;
  /// Number of the argument for parameter i; -1: its default.
  std::vector<int> argument_order;
  /// First argument to be packed into the variadic array; size() if there is none.
  std::size_t first_variadic = 0;
  TypeId variadic_element = TypeId::none;
  bool variadic_array = false;  ///< for CallTypes
};

/// User-defined casts, besides those of find_cast().
class MadeCasts {
 public:
  MadeCasts() = default;
  MadeCasts(const MadeCasts&) = delete;
  MadeCasts& operator=(const MadeCasts&) = delete;
  virtual ~MadeCasts() = default;
  /// True if there is an implicit cast from `source` to `target`.
  [[nodiscard]] virtual bool is_implicit(TypeId source, TypeId target) const = 0;
};

struct FunctionCall {
  std::string_view name;
  std::span<const TypeId> argument_types;                 ///< unknown for untyped literals
  std::span<const std::string_view> argument_names = {};  ///< empty, or one per argument ("": none)
  enum class Variadic : std::uint8_t { expanded, as_array } variadic = Variadic::expanded;
  int position = 0;  ///< in the statement, for errors
  /// Functions with that name, unless only the built-in ones are candidates.
  std::optional<std::span<const Function* const>> candidates = std::nullopt;
  std::string_view schema = {};      ///< as it was written, for errors
  const MadeCasts* casts = nullptr;  ///< null: there are none
};

/// Resolves a call by PostgreSQL's rules: exact, then by implicit casts, then most exact and most
/// preferred matches, then categories of unknown arguments. Throws SqlError: 42883 "function
/// f(integer) does not exist" with its hint, 42725 "function f(unknown) is not unique". A call f(x)
/// with the name of a type, where no function fits, is a cast: nothing then and the caller tries
/// find_type (as PostgreSQL does for e.g. text(1)).
ResolvedFunction resolve_function(const FunctionCall& call);
/// The same without errors: nothing if no function matches.
std::optional<ResolvedFunction> try_resolve_function(const FunctionCall& call);

struct ResolvedOperator {
  const Operator* op = nullptr;
  TypeId left = TypeId::none;  ///< type to which the operand is cast
  TypeId right = TypeId::none;
  TypeId result = TypeId::none;
};

struct OperatorCall {
  std::string_view name;
  TypeId left = TypeId::none;  ///< none for a prefix operator
  TypeId right = TypeId::none;
  int position = 0;
  /// Operators with that name, unless only the built-in ones are candidates.
  std::optional<std::span<const Operator* const>> candidates = std::nullopt;
  std::string_view schema = {};  ///< as it was written, for errors
  const MadeCasts* casts = nullptr;
};
ResolvedOperator resolve_operator(const OperatorCall& call);
std::optional<ResolvedOperator> try_resolve_operator(const OperatorCall& call);

/// `left` is none for a prefix operator. Throws SqlError: 42883 "operator does not exist:
/// integer = text" with its hint, 42725.
ResolvedOperator resolve_operator(std::string_view name, TypeId left, TypeId right,
                                  int position = 0);
std::optional<ResolvedOperator> try_resolve_operator(std::string_view name, TypeId left,
                                                     TypeId right);

/// Returns the common type of these; text if all are unknown, nothing if there is none.
std::optional<TypeId> find_common_type(std::span<const TypeId> types);

/// Returns the common type for CASE, UNION, VALUES, ARRAY, GREATEST …; text if all are unknown.
/// Throws 42804 "CASE types integer and text cannot be matched"; `construct` is its first word.
TypeId select_common_type(std::span<const TypeId> types, std::string_view construct,
                          int position = 0);

/// True if a value of `source` can become `target` in this context (unknown always can).
bool can_coerce(TypeId source, TypeId target, CastContext context);

}  // namespace swizzle::sql
