#include "sql-lite-frontend/routines/extensions/native_language.h"

#include <algorithm>

#include "sql-lite-frontend/catalog/native_functions.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

/// Code for calls of native functions that RoutineExpr cannot make itself: of routines with
/// SECURITY DEFINER or SET, or that are declared SETOF over a function that returns one row.
class NativeCode final : public RoutineCode {
 public:
  explicit NativeCode(RoutineCall call) : call_(std::move(call)) {}

  void run(StatementContext& session, std::span<const Value> arguments,
           const TakeRow& take) override {
    const Function& function = call_.callable->function;
    Arena arena;
    FunctionContext context{arena, session.session_context, {}};
    context.call = {call_.argument_types, call_.result};
    if (function.scalar != nullptr) {
      const Value value = call_function(function, context, arguments);
      give(value, take);
      return;
    }
    const std::unique_ptr<SetCursor> rows = function.set(context, arguments);
    while (const auto row = rows->next(context)) {
      session.check_cancelled();
      if (!give(*row, take)) return;
    }
  }

 private:
  bool give(const Value& value, const TakeRow& take) const {
    if (call_.column_types.empty() || value.is_null()) return take({&value, 1});
    const RecordView record{value};
    std::vector<Value> fields;
    for (std::size_t i = 0; i < record.size(); ++i) fields.push_back(record.field(i));
    return take(fields);
  }

  RoutineCall call_;
};

class NativeLanguage final : public RoutineLanguage {
 public:
  void check(StatementContext& /*session*/, const CallablePtr& callable) const override {
    const Routine& routine = *callable->routine;
    if (callable->function.scalar != nullptr || callable->function.set != nullptr) return;
    if (routine.language == "internal") {
      throw_error(sqlstate::undefined_function, "there is no built-in function named \"{}\"",
                  routine.body);
    }
    throw_error(SqlState{"58P01"}, "could not access file \"{}\": No such file or directory",
                routine.object_file);
  }
  [[nodiscard]] RoutineCodePtr prepare(StatementContext& session,
                                       const RoutineCall& call) const override {
    check(session, call.callable);
    return std::make_shared<NativeCode>(call);
  }
  [[nodiscard]] TriggerCodePtr prepare_trigger(StatementContext& /*session*/,
                                               const CallablePtr& callable,
                                               const TablePtr& /*table*/) const override {
    throw_error(sqlstate::feature_not_supported,
                "triggers by functions in language {} are not supported",
                callable->routine->language);
  }
};

}  // namespace

const RoutineLanguage& native_language() {
  static const NativeLanguage kLanguage;
  return kLanguage;
}

}  // namespace swizzle::sql
