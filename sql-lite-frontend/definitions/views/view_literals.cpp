#include "sql-lite-frontend/definitions/views/view_literals.h"

#include <algorithm>
#include <string_view>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/definitions/dependents/dependents.h"
#include "sql-lite-frontend/definitions/routines/routine_builder.h"
#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/query/parse/parser.h"
#include "sql-lite-frontend/routines/body.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/functions/text/quoting.h"
#include "sql-lite-frontend/types/type_io.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

/// Returns the position after a string constant at `at`, perhaps E'…'; `at` if there is none.
std::size_t behind_string(std::string_view text, std::size_t at) {
  std::size_t end = at;
  const bool escapes = end < text.size() && (text[end] == 'E' || text[end] == 'e');
  if (escapes) ++end;
  if (end >= text.size() || text[end] != '\'') return at;
  for (++end; end < text.size(); ++end) {
    if (escapes && text[end] == '\\') {
      ++end;
    } else if (text[end] == '\'') {
      if (end + 1 == text.size() || text[end + 1] != '\'') return end + 1;
      ++end;
    }
  }
  return at;
}

}  // namespace

ViewLiterals::ViewLiterals(StatementContext& session, TypeId type)
    : session_(session), within_(types_with(session, type)) {
  check_stack();
  constexpr std::size_t kWorkOfText = 100'000;
  const NamedObjects carriers = carriers_of(session, within_);
  for (const TablePtr& table : session.catalog.naming<Table>(carriers)) {
    if (!has_query(table->relation.kind)) continue;
    yield_point(kWorkOfText);
    read_view(table);
  }
  for (const RoutinePtr& routine : session.catalog.naming<Routine>(carriers)) {
    if (routine->form != BodyForm::atomic) continue;
    yield_point(kWorkOfText);
    read_body(routine);
  }
}

void ViewLiterals::read_view(const TablePtr& view) {
  Text text{view, nullptr};
  try {
    Arena arena;
    Binder binder{session_.names, arena};
    binder.read_view(*view);
    note(text, view->relation.view_sql, binder, 0);
  } catch (const SqlError&) {
    // The text is not valid at present.
    return;
  }
  if (!text.literals.empty()) texts_.push_back(std::move(text));
}

void ViewLiterals::read_body(const RoutinePtr& routine) {
  Text text{nullptr, routine};
  try {
    bind_body(session_, *routine, body_names(routine), [&](const BodyPart& part, Binder& binder) {
      note(text, routine->body, binder, part.offset);
    });
  } catch (const SqlError&) {
    return;
  }
  if (!text.literals.empty()) texts_.push_back(std::move(text));
}

void ViewLiterals::note(Text& into, std::string_view text, const Binder& binder,
                        std::size_t offset) {
  for (const Binder::LiteralPlace& place : binder.literal_places()) {
    if (std::ranges::find(within_, without_array(place.type)) == within_.end()) continue;
    Literal literal{.begin = offset + static_cast<std::size_t>(std::max(place.location, 0)),
                    .type = place.type,
                    .value = place.value.copy_to(arena_)};
    literal.end = behind_string(text, literal.begin);
    literal.text = shown(literal);
    into.literals.push_back(std::move(literal));
  }
}

std::string ViewLiterals::shown(const Literal& literal) {
  FunctionContext context{arena_, session_.session_context, {}};
  return to_text(context, literal.type, literal.value);
}

std::string ViewLiterals::written_again(std::string text, std::vector<Literal>& literals,
                                        const std::string& what) {
  std::ranges::sort(literals, std::ranges::greater{}, &Literal::begin);
  std::size_t before = text.size() + 1;
  for (const Literal& literal : literals) {
    // A literal that is bound twice is noted twice.
    if (literal.begin >= before) continue;
    if (literal.end == literal.begin) {
      throw_error(sqlstate::feature_not_supported, "renaming a value that {} has is not supported",
                  what);
    }
    text.replace(literal.begin, literal.end - literal.begin, quote_literal(shown(literal)));
    before = literal.begin;
  }
  return text;
}

void ViewLiterals::write_again() {
  for (Text& text : texts_) {
    std::erase_if(text.literals,
                  [&](const Literal& literal) { return shown(literal) == literal.text; });
    if (text.literals.empty()) continue;
    if (text.view) {
      const TablePtr locked = session_.catalog.lock_for_change(*session_.transaction, text.view);
      Relation relation = locked->relation;
      relation.view_sql =
          written_again(std::move(relation.view_sql), text.literals, described(session_, *locked));
      session_.catalog.replace(*session_.transaction, *locked, std::move(relation));
      continue;
    }
    const RoutinePtr locked = session_.catalog.lock_routine(*session_.transaction, *text.routine);
    Routine routine = *locked;
    routine.body =
        written_again(std::move(routine.body), text.literals, described(session_, *locked));
    session_.catalog.replace(*session_.transaction, *locked, std::move(routine));
  }
}

}  // namespace swizzle::sql
