#include "sql-lite-frontend/ddl/view_literals.h"

#include <algorithm>
#include <string_view>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/bind/binder.h"
#include "sql-lite-frontend/ddl/dependents.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/functions/quoting.h"
#include "sql-lite-frontend/types/type_io.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

/// Behind a string constant that begins at `at`, perhaps as E'…'; there is none: `at`.
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

ViewLiterals::ViewLiterals(Session::State& session, TypeId type) : session_(session) {
  check_stack();
  const std::vector<TypeId> within = types_with(session, type);
  constexpr std::size_t kWorkOfView = 100'000;
  for (const TablePtr& table : session.catalog.tables()) {
    if (!has_query(table->relation.kind)) continue;
    count_work(kWorkOfView);
    View view{table, {}};
    try {
      Arena arena;
      Binder binder{session.names, arena};
      binder.read_view(*table);
      for (const Binder::LiteralPlace& place : binder.literal_places()) {
        if (std::ranges::find(within, without_array(place.type)) == within.end()) continue;
        Literal literal{.begin = static_cast<std::size_t>(std::max(place.location, 0)),
                        .type = place.type,
                        .value = place.value.copy_to(arena_)};
        literal.end = behind_string(table->relation.view_sql, literal.begin);
        literal.text = shown(literal);
        view.literals.push_back(std::move(literal));
      }
    } catch (const SqlError&) {
      // It cannot be read as it is.
      continue;
    }
    if (!view.literals.empty()) views_.push_back(std::move(view));
  }
}

std::string ViewLiterals::shown(const Literal& literal) {
  FunctionContext context{arena_, session_.session_context, {}};
  return to_text(context, literal.type, literal.value);
}

void ViewLiterals::write_again() {
  for (View& view : views_) {
    std::erase_if(view.literals,
                  [&](const Literal& literal) { return shown(literal) == literal.text; });
    if (view.literals.empty()) continue;
    const TablePtr locked = session_.catalog.lock_for_change(*session_.transaction, view.table);
    Relation relation = locked->relation;
    std::ranges::sort(view.literals, std::ranges::greater{}, &Literal::begin);
    std::size_t before = relation.view_sql.size() + 1;
    for (const Literal& literal : view.literals) {
      // What is bound twice is noted twice.
      if (literal.begin >= before) continue;
      if (literal.end == literal.begin) {
        throw_error(sqlstate::feature_not_supported,
                    "renaming a value that {} has is not supported", described(session_, *locked));
      }
      relation.view_sql.replace(literal.begin, literal.end - literal.begin,
                                quote_literal(shown(literal)));
      before = literal.begin;
    }
    session_.catalog.replace(*session_.transaction, *locked, std::move(relation));
  }
}

}  // namespace swizzle::sql
