#include <fmt/format.h>

#include <limits>

#include "sql-lite-frontend/routines/plpgsql/context.h"
#include "sql-lite-frontend/routines/plpgsql/frame.h"
#include "sql-lite-frontend/routines/plpgsql/statement_run.h"
#include "sql-lite-frontend/silent_sink.h"
#include "sql-lite-frontend/types/sql_error.h"

/// Cursors: portals of the session, from which a client can FETCH too.
namespace swizzle::sql::plpgsql {
namespace {

/// Reads the number from the tag "MOVE 3".
class MovedRows final : public SilentSink {
 public:
  void command_complete(std::string_view tag) override {
    rows = std::strtoll(std::string{tag.substr(tag.rfind(' ') + 1)}.c_str(), nullptr, 10);
  }
  long long rows = 0;
};

std::string name_of_cursor(Frame& frame, std::size_t variable) {
  const Value name = frame.value_of(variable);
  if (name.is_null()) {
    throw_error(sqlstate::null_value_not_allowed, "cursor variable \"{}\" is null",
                frame.program.variables[variable].name);
  }
  return std::string{name.as_text()};
}

PortalPtr portal_of_cursor(Frame& frame, const std::string& name) {
  PortalPtr portal = frame.session.inner.find_portal(name);
  if (!portal) {
    throw_error(sqlstate::invalid_cursor_name, "cursor \"{}\" does not exist", name);
  }
  return portal;
}

/// Returns the cursor's name: the variable's value, or an unused one.
std::string name_for(Frame& frame, std::size_t variable) {
  StatementContext& session = frame.session;
  if (frame.value_of(variable).is_null()) {
    std::string name;
    std::uint64_t number = session.inner.last_portal_number();
    do {
      name = fmt::format("<unnamed portal {}>", ++number);
    } while (session.inner.find_portal(name));
    frame.set_place(frame.program.variables[variable].place, Value::from_text(name));
    return name;
  }
  std::string name{frame.value_of(variable).as_text()};
  if (session.inner.find_portal(name)) {
    throw_error(sqlstate::duplicate_cursor, "cursor \"{}\" already in use", name);
  }
  return name;
}

struct Source {
  StatementPtr statement;
  std::vector<Value> parameters;
  std::string context;
};

void open(Frame& frame, std::size_t variable, const Source& source, BoundCursor::Scroll scroll) {
  StatementContext& session = frame.session;
  const Variable& known = frame.program.variables[variable];
  if (known.is_constant && frame.value_of(variable).is_null()) {
    throw_error(SqlState{"22005"}, "variable \"{}\" is declared CONSTANT", known.name);
  }
  try {
    if (!is_plannable(source.statement->node) ||
        !ast::is<ast::SelectStmt>(source.statement->node)) {
      throw_error(SqlState{"42P11"}, "cannot open {} query as cursor",
                  statement_name(source.statement->node));
    }
    // Use a plan of its own, because WHERE CURRENT OF may refer to its rows.
    auto own = std::make_shared<Statement>(*source.statement);
    own->plan.reset();
    own->of_cursor = true;
    auto portal = std::make_shared<Portal>();
    portal->statement = own;
    for (const Value& value : source.parameters) {
      portal->parameters.push_back(value.copy_to(portal->arena));
    }
    portal->use = session.inner.make_plan(*own);
    own->plan = portal->use;
    require_parameters(*portal);
    require_runnable(portal->plan());
    portal->name = name_for(frame, variable);
    session.transaction.begin_inner_statement();
    std::optional<InnerStatement> inner;
    if (frame.is_volatile) inner.emplace(*session.transaction, ReadView::Sees::durable);
    using Scroll = BoundCursor::Scroll;
    session.inner.open_cursor(portal,
                              scroll == Scroll::unsaid
                                  ? CursorScroll::unsaid
                                  : (scroll == Scroll::yes ? CursorScroll::yes : CursorScroll::no));
  } catch (SqlError& error) {
    add_sql_context(error, source.context);
    throw;
  }
}

Source source_of(Frame& frame, Expression& query) {
  Source source{query.statement(frame), {}, query.context()};
  frame.make_room();
  source.parameters = frame.values;
  return source;
}

void open_bound(Frame& frame, std::size_t variable, std::span<const ExpressionPtr> arguments) {
  BoundCursor& cursor = *frame.program.variables[variable].cursor;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const RowScope scope{frame.execution};
    const Value value = arguments[i]->evaluate(frame);
    frame.assign(cursor.parameters[i], value, arguments[i]->type());
  }
  open(frame, variable, source_of(frame, *cursor.query), cursor.scroll);
}

/// Moves the cursor; returns the number of rows moved over.
long long move(Frame& frame, const std::string& name, ast::FetchDirection direction,
               std::int64_t count) {
  ast::FetchStmt fetch;
  fetch.direction = direction;
  fetch.how_many = count;
  fetch.portalname = name;
  fetch.ismove = true;
  MovedRows sink;
  frame.session.inner.fetch(fetch, sink);
  return sink.rows;
}

/// Assigns the cursor's current row.
void take_row(Frame& frame, Portal& portal, const Targets& into) {
  Execution& execution = portal.run->execution;
  portal.rows->restore(execution, static_cast<std::size_t>(portal.position - 1));
  std::vector<Value> row;
  for (const Slot slot : portal.plan().outputs) row.push_back(execution.slots[slot]);
  frame.assign_row(into, shape_of(portal.plan()), row);
}

void close(Frame& frame, const std::string& name) {
  static_cast<void>(portal_of_cursor(frame, name));
  frame.session.inner.close_portal(name);
}

}  // namespace

Flow OpenStep::run(Frame& frame) {
  if (frame.program.variables[cursor].cursor) {
    open_bound(frame, cursor, arguments);
  } else if (text) {
    DynamicStatement dynamic{frame, *text, using_values};
    open(frame, cursor, {dynamic.query("cursor"), dynamic.values, dynamic.context()}, scroll);
  } else {
    open(frame, cursor, source_of(frame, *query), scroll);
  }
  return Flow::next;
}

Flow FetchStep::run(Frame& frame) {
  using Direction = ast::FetchDirection;
  const std::string name = name_of_cursor(frame, cursor);
  const PortalPtr portal = portal_of_cursor(frame, name);
  std::int64_t number = is_all ? std::numeric_limits<std::int64_t>::max() : 1;
  if (count) {
    const RowScope scope{frame.execution};
    const Value value = count->evaluate(frame);
    const Value given = frame.convert(value, count->type(), TypeId::int4, kNoTypmod);
    if (given.is_null()) {
      throw SqlError{sqlstate::null_value_not_allowed,
                     "relative or absolute cursor position is null"};
    }
    number = given.as_int4();
  }
  Direction direction = Direction::forward;
  switch (way) {
    case Way::prior:
    case Way::backward:
      direction = Direction::backward;
      break;
    case Way::first:
    case Way::absolute:
      direction = Direction::absolute;
      break;
    case Way::last:
      direction = Direction::absolute;
      number = -1;
      break;
    case Way::relative:
      direction = Direction::relative;
      break;
    case Way::next:
    case Way::forward:
      break;
  }
  const long long moved = move(frame, name, direction, number);
  frame.row_count = moved;
  frame.set_found(moved > 0);
  if (is_move) return Flow::next;
  if (moved > 0) {
    take_row(frame, *portal, into);
  } else {
    frame.assign_nothing(into, shape_of(portal->plan()));
  }
  return Flow::next;
}

Flow CloseStep::run(Frame& frame) {
  close(frame, name_of_cursor(frame, cursor));
  return Flow::next;
}

namespace {

/// Pins the cursor of a loop: its rows survive a transaction that the loop's body ends, but not the
/// loop.
class CursorPin {
 public:
  explicit CursorPin(PortalPtr portal) : portal_(std::move(portal)) { portal_->pinned = true; }
  CursorPin(const CursorPin&) = delete;
  CursorPin& operator=(const CursorPin&) = delete;
  ~CursorPin() { portal_->pinned = portal_->holds = false; }

 private:
  PortalPtr portal_;
};

}  // namespace

Flow ForCursorStep::run(Frame& frame) {
  const bool had_no_name = frame.value_of(cursor).is_null();
  open_bound(frame, cursor, arguments);
  const std::string name = name_of_cursor(frame, cursor);
  const PortalPtr portal = portal_of_cursor(frame, name);
  const CursorPin pin{portal};
  Targets targets;
  targets.push_back({.variable = row});
  bool found = false;
  Flow flow = Flow::next;
  while (move(frame, name, ast::FetchDirection::forward, 1) > 0) {
    found = true;
    frame.execution.tick();
    take_row(frame, *portal, targets);
    flow = frame.run_steps(steps);
    if (flow == Flow::next) continue;
    const bool is_meant = frame.label.empty() || frame.label == label;
    if (flow == Flow::returned || !is_meant) break;
    frame.label.clear();
    const bool goes_on = flow == Flow::continue_loop;
    flow = Flow::next;
    if (!goes_on) break;
  }
  close(frame, name);
  if (had_no_name) frame.values[frame.program.variables[cursor].place] = Value::null();
  frame.set_found(found);
  return flow;
}

}  // namespace swizzle::sql::plpgsql
