#include "sql-lite-frontend/routines/call.h"
#include "sql-lite-frontend/routines/language.h"
#include "sql-lite-frontend/statement/statement_options.h"
#include "sql-lite-frontend/types/sql_error.h"

/// Runs DO: an anonymous body, once.
namespace swizzle::sql {

void run_inline_code(StatementContext& session, const ast::DoStmt& statement,
                     const Statement& whole) {
  auto routine = std::make_shared<Routine>();
  routine->name = "inline_code_block";
  routine->kind = RoutineKind::procedure;
  routine->language = "plpgsql";
  routine->owner = session.user;
  routine->result = TypeId::void_;
  bool has_body = false;
  std::vector<std::string_view> seen;
  for (const ast::Node* node : statement.args) {
    const auto& option = ast::as<ast::DefElem>(node);
    note_option(option, seen);
    if (option.defname == "as") {
      routine->body = ast::string_of(option.arg);
      has_body = true;
    } else if (option.defname == "language") {
      routine->language = ast::string_of(option.arg);
    }
  }
  if (!has_body) throw SqlError{sqlstate::syntax_error, "no inline code specified"};
  const RoutineLanguage& language = require_language(routine->language);
  if (routine->language == "sql") {
    throw_error(sqlstate::feature_not_supported,
                "language \"{}\" does not support inline code execution", routine->language);
  }
  const RoutineCall call{std::make_shared<CallableRoutine>(routine), {}, TypeId::void_};
  try {
    language.check(session, call.callable);
  } catch (SqlError& error) {
    // Positions in errors count from the beginning of the body.
    const std::size_t place =
        whole.text().find(routine->body, static_cast<std::size_t>(whole.location));
    if (error.fields().position > 0 && place != std::string::npos) {
      error.fields().position += static_cast<int>(place);
      error.fields().where.clear();
    } else {
      error.fields().position = 0;
    }
    throw;
  }
  const RoutineCodePtr code = language.prepare(session, call);
  code->run(session, {}, [](std::span<const Value>) { return false; });
}

}  // namespace swizzle::sql
