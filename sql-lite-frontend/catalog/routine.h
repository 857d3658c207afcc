#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sql-lite-frontend/catalog/view_names.h"
#include "sql-lite-frontend/types/checked_pointers.h"
#include "sql-lite-frontend/types/type_id.h"

/// User-defined functions, procedures and aggregates, as the catalog stores them.
namespace swizzle::sql {

enum class RoutineKind : char { function = 'f', procedure = 'p', aggregate = 'a' };
/// Letters of pg_proc.proargmodes.
enum class ParameterMode : char {
  in = 'i',
  out = 'o',
  inout = 'b',
  variadic = 'v',
  table = 't',  ///< a column of RETURNS TABLE
};

struct RoutineParameter {
  std::string name;  ///< empty: unnamed
  ParameterMode mode = ParameterMode::in;
  TypeId type = TypeId::none;
  std::string default_sql;  ///< in the form of stored expressions; empty: none

  [[nodiscard]] bool is_input() const noexcept {
    return mode != ParameterMode::out && mode != ParameterMode::table;
  }
  [[nodiscard]] bool is_output() const noexcept {
    return mode != ParameterMode::in && mode != ParameterMode::variadic;
  }
};

/// Form of a body's text.
enum class BodyForm : char {
  string = 's',  ///< AS '…': read by its language
  atomic = 'a',  ///< RETURN … or BEGIN ATOMIC … END
};

/// Parts of an aggregate; functions by number, 0 for none.
struct AggregateDefinition {
  Oid transition = kNoOid;
  TypeId state = TypeId::none;
  std::int32_t state_bytes = 0;  ///< SSPACE: an estimate
  std::optional<std::string> initial;
  Oid final = kNoOid;
  bool final_extra = false;
  char final_modifies =
      'r';  ///< letters of pg_aggregate.aggfinalmodify: read only, shareable, read write
  Oid combine = kNoOid;
  Oid serialize = kNoOid;
  Oid deserialize = kNoOid;
  Oid moving_transition = kNoOid;
  Oid moving_inverse = kNoOid;
  TypeId moving_state = TypeId::none;
  std::int32_t moving_bytes = 0;
  std::optional<std::string> moving_initial;
  Oid moving_final = kNoOid;
  bool moving_extra = false;
  char moving_modifies = 'r';
  Oid sort_operator = kNoOid;
};

/// A user-defined function, procedure or aggregate.
struct Routine {
  Oid oid = kNoOid;
  Oid schema = kNoOid;
  std::string name;
  Oid owner = kBootstrapRole;
  RoutineKind kind = RoutineKind::function;
  std::string language;
  std::vector<RoutineParameter> parameters;
  TypeId result = TypeId::none;
  /// System relation whose rows the function returns, with its columns as parameters; `result` is
  /// record.
  Oid result_relation = kNoOid;
  bool returns_set = false;
  char volatility = 'v';  ///< letters of pg_proc.provolatile: immutable, stable, volatile
  bool strict = false;
  bool security_definer = false;
  bool leakproof = false;
  char parallel = 'u';  ///< letters of pg_proc.proparallel: unsafe, restricted, safe
  float cost = 100;
  float rows = 0;
  std::vector<std::string> settings;  ///< SET: "name=value"
  BodyForm form = BodyForm::string;
  std::string body;
  std::string object_file;  ///< library of LANGUAGE c; `body` is the symbol's name
  std::optional<AggregateDefinition> aggregate;
  /// Resolved names of an atomic body, as with a view.
  std::vector<ViewName> body_names;
  std::vector<ViewType> body_types;
  std::vector<ViewRoutine> body_routines;
  std::string comment;
  std::vector<Grant> grants;

  /// Returns the types of the input arguments, which identify the routine among those of its name.
  [[nodiscard]] std::vector<TypeId> argument_types() const {
    std::vector<TypeId> types;
    for (const RoutineParameter& parameter : parameters) {
      if (parameter.is_input()) types.push_back(parameter.type);
    }
    return types;
  }
};
using RoutinePtr = CheckedShared<const Routine>;

}  // namespace swizzle::sql
