// FunctionCall of the protocol: clients call functions of large objects so.
#include <fmt/format.h>

#include "sql-lite-frontend/session/guarded_request.h"
#include "sql-lite-frontend/session/results/execute_sink.h"
#include "sql-lite-frontend/types/functions/text/quoting.h"
#include "sql-lite-frontend/types/null_values.h"
#include "sql-lite-frontend/types/type_io.h"

namespace swizzle::sql {
namespace {

/// A function as a statement calls it.
struct Callee {
  std::string name;  ///< with its schema
  std::vector<TypeId> arguments;
  bool is_plain = false;  ///< neither an aggregate nor a procedure, and it returns one value
};

Callee callee_of(Session::State& state, Oid oid) {
  if (const Function* const builtin = find_function(oid)) {
    return {"pg_catalog." + quote_identifier(builtin->name),
            {builtin->arguments.begin(), builtin->arguments.end()},
            builtin->kind == FunctionKind::scalar};
  }
  const RoutinePtr routine = state.catalog.routine(oid);
  if (!routine)
    throw_error(sqlstate::undefined_function, "function with OID {} does not exist", oid);
  return {quote_identifier(state.names.schema_name(routine->schema)) + "." +
              quote_identifier(routine->name),
          routine->argument_types(),
          routine->kind == RoutineKind::function && !routine->returns_set};
}

std::string text_of_call(const Callee& callee) {
  std::string text = "SELECT " + callee.name + "(";
  for (std::size_t i = 0; i < callee.arguments.size(); ++i)
    text += fmt::format("{}${}", i == 0 ? "" : ", ", i + 1);
  return text + ")";
}

/// Keeps the one value of the one row, with its length, as both messages have it.
class ResultKeeper final : public ForwardingSink {
 public:
  ResultKeeper(ResultSink& to, std::string& value) : ForwardingSink(to), value_(value) {}
  void row_description(std::span<const OutputColumn>) override {}
  void data_row(const OutputRow& row) override {
    value_.clear();
    row.append_data_row(value_);
    value_.erase(0, sizeof(std::int16_t));
  }
  void command_complete(std::string_view) override {}

 private:
  std::string& value_;
};

void require_fit(const FunctionCallRequest& request, const Callee& callee) {
  if (!callee.is_plain) {
    throw_error(sqlstate::feature_not_supported,
                "cannot call function \"{}\" via fastpath interface", callee.name);
  }
  const std::size_t count = request.arguments.size();
  if (count != callee.arguments.size()) {
    throw_error(sqlstate::protocol_violation,
                "function call message contains {} arguments but function requires {}", count,
                callee.arguments.size());
  }
  if (request.formats.size() > 1 && request.formats.size() != count) {
    throw_error(sqlstate::protocol_violation,
                "function call message contains {} argument formats but {} arguments",
                request.formats.size(), count);
  }
}

Value read_argument(FunctionContext& context, TypeId type, Format format,
                    const std::optional<Bytes>& bytes) {
  if (!bytes) return null_of(context, type);
  return format == Format::binary ? receive_binary(context, type, kNoTypmod, *bytes)
                                  : input_text(context, type, kNoTypmod, as_text(*bytes));
}

}  // namespace

Outcome Session::call_function(const FunctionCallRequest& request, ResultSink& sink,
                               std::string& value) {
  return guarded(*state_, sink, {}, [&] {
    State& state = *state_;
    if (state.transaction.is_failed()) {
      throw SqlError{SqlState{"25P02"},
                     "current transaction is aborted, commands ignored until end of transaction "
                     "block"};
    }
    if (!state.transaction) state.transaction.begin(SessionTransaction::Block::implicit);
    const Callee callee = callee_of(state, request.function);
    require_fit(request, callee);
    const std::string text = text_of_call(callee);
    state.note_query(
        fmt::format("<FASTPATH> function call: \"{}\" (OID {})", callee.name, request.function));
    // The same call comes again and again.
    std::string key = text + '\0';
    for (const TypeId type : callee.arguments) key += fmt::format("{} ", raw(type));
    StatementPtr statement = state.plans.known_parse(key);
    if (!statement) {
      std::vector<std::uint32_t> types;
      for (const TypeId type : callee.arguments) types.push_back(raw(type));
      statement = state.plans.parse(text, types);
      state.plans.analyze(*statement);
      if (statement->plan && !statement->plan->plan->single_use)
        state.plans.keep_parse(key, statement);
    }
    Arena arena;
    arena.count_in(&state.memory);
    FunctionContext context{arena, state.session_context, {}};
    std::vector<Value> arguments;
    for (std::size_t i = 0; i < request.arguments.size(); ++i) {
      const Format format = request.formats.empty()       ? Format::text
                            : request.formats.size() == 1 ? request.formats[0]
                                                          : request.formats[i];
      arguments.push_back(
          read_argument(context, callee.arguments[i], format, request.arguments[i]));
    }
    const PortalPtr portal = state.portals.make(statement, arguments);
    portal->formats.assign(1, request.result);
    ResultKeeper keeper{sink, value};
    state.portals.run_at_once(*portal, keeper);
  });
}

}  // namespace swizzle::sql
