#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "sql-lite-frontend/execution/access/lock_rows.h"
#include "sql-lite-frontend/execution/access/partition_scan.h"
#include "sql-lite-frontend/execution/sorting/sort.h"
#include "sql-lite-frontend/execution/steps/basic_operators.h"
#include "sql-lite-frontend/execution/steps/computed_scan.h"
#include "sql-lite-frontend/execution/steps/cte_scan.h"
#include "sql-lite-frontend/execution/steps/gate.h"
#include "sql-lite-frontend/query/bound/statement_services.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/statement/rights/acting_user.h"
#include "sql-lite-frontend/statement/row_view.h"
#include "sql-lite-frontend/types/check_stack.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kInvalidCursorState{"24000"};

// Bits of DECLARE's options, as the grammar sets them.
constexpr int kBinary = 0x0001;
constexpr int kScroll = 0x0002;
constexpr int kNoScroll = 0x0004;
constexpr int kInsensitive = 0x0008;
constexpr int kAsensitive = 0x0010;
constexpr int kHold = 0x0020;

PortalPtr find_cursor(const SessionPortals& portals, std::string_view name) {
  PortalPtr cursor = portals.find(name);
  if (!cursor) throw_error(sqlstate::invalid_cursor_name, "cursor \"{}\" does not exist", name);
  return cursor;
}

/// Visits every step, including those that EXPLAIN shows with their inputs, such as filters.
template <class Visit>
void for_each_step(PlanOperator& plan, const Visit& visit) {
  check_stack();
  visit(plan);
  plan.for_each_input([&](PlanPtr& input) { for_each_step(*input, visit); });
}

/// Visits accesses of tables whose rows are identified above the plan: not those of partitions,
/// whose keys are not unique.
template <class Visit>
void for_each_identified(PlanOperator& plan, const Visit& visit) {
  check_stack();
  if (dynamic_cast<const PartitionScan*>(&plan) != nullptr) return;
  const auto* access = dynamic_cast<const TableAccess*>(&plan);
  if (access != nullptr && access->keeps_identity()) visit(*access);
  plan.for_each_input([&](PlanPtr& input) { for_each_identified(*input, visit); });
}

/// Returns the slots that a cursor keeps: those that are shown, and those that WHERE CURRENT OF
/// needs.
std::vector<Slot> kept_slots(const PlanRun& run) {
  std::vector<Slot> slots = run.plan->outputs;
  for_each_identified(*run.root,
                      [&](const TableAccess& access) { slots.push_back(access.key_slot()); });
  return slots;
}

std::string_view lock_name(const ast::SelectStmt& select) {
  switch (ast::as<ast::LockingClause>(select.locking_clause.front()).strength) {
    case ast::LockClauseStrength::forkeyshare:
      return "FOR KEY SHARE";
    case ast::LockClauseStrength::forshare:
      return "FOR SHARE";
    case ast::LockClauseStrength::fornokeyupdate:
      return "FOR NO KEY UPDATE";
    default:
      return "FOR UPDATE";
  }
}

/// Checks that DECLARE's options do not contradict each other or the query.
void check_options(const ast::DeclareCursorStmt& declare) {
  constexpr SqlState kInvalidDefinition{"42P11"};
  const int options = declare.options;
  const auto has = [&](int bits) { return (options & bits) == bits; };
  if (has(kScroll | kNoScroll)) {
    throw SqlError{kInvalidDefinition, "cannot specify both SCROLL and NO SCROLL"};
  }
  if (has(kAsensitive | kInsensitive)) {
    throw SqlError{kInvalidDefinition, "cannot specify both ASENSITIVE and INSENSITIVE"};
  }
  const auto* select = ast::try_as<ast::SelectStmt>(declare.query);
  if (select == nullptr || select->locking_clause.empty()) return;
  const std::string_view lock = lock_name(*select);
  if (has(kHold)) {
    throw sql_error(sqlstate::feature_not_supported,
                    "DECLARE CURSOR WITH HOLD ... {} is not supported", lock)
        .with_detail("Holdable cursors must be READ ONLY.");
  }
  if (has(kScroll)) {
    throw sql_error(sqlstate::feature_not_supported,
                    "DECLARE SCROLL CURSOR ... {} is not supported", lock)
        .with_detail("Scrollable cursors must be READ ONLY.");
  }
  if (has(kInsensitive)) {
    throw sql_error(kInvalidDefinition, "DECLARE INSENSITIVE CURSOR ... {} is not valid", lock)
        .with_detail("Insensitive cursors must be READ ONLY.");
  }
}

bool locks_rows(PlanOperator& plan) {
  bool locks = false;
  for_each_step(plan, [&](const PlanOperator& step) {
    locks |= dynamic_cast<const LockRows*>(&step) != nullptr;
  });
  return locks;
}

/// True for steps that PostgreSQL can read backward without a materialize node.
bool is_scrolled(const PlanOperator& step) {
  return dynamic_cast<const TableAccess*>(&step) != nullptr ||
         dynamic_cast<const ComputedScan*>(&step) != nullptr ||
         dynamic_cast<const ValuesScan*>(&step) != nullptr ||
         dynamic_cast<const FunctionScan*>(&step) != nullptr ||
         dynamic_cast<const CteScan*>(&step) != nullptr ||
         dynamic_cast<const Sort*>(&step) != nullptr ||
         dynamic_cast<const Materialize*>(&step) != nullptr;
}

/// True for steps that can be read backward if their inputs can.
bool passes_scrolling(const PlanOperator& step) {
  return dynamic_cast<const Filter*>(&step) != nullptr ||
         dynamic_cast<const Project*>(&step) != nullptr ||
         dynamic_cast<const Gate*>(&step) != nullptr ||
         dynamic_cast<const Limit*>(&step) != nullptr ||
         dynamic_cast<const EagerCtes*>(&step) != nullptr ||
         dynamic_cast<const Append*>(&step) != nullptr;
}

/// True if PostgreSQL allows a cursor declared with neither SCROLL nor NO SCROLL to go back. Here
/// all could, since rows read are kept; but a client that relies on that would fail there.
bool goes_back(PlanOperator& plan) {
  check_stack();
  if (is_scrolled(plan)) return true;
  if (!passes_scrolling(plan)) return false;
  bool inputs_do = true;
  plan.for_each_input([&](PlanPtr& input) { inputs_do = inputs_do && goes_back(*input); });
  return inputs_do;
}

bool scrolls(const ast::DeclareCursorStmt& declare, PlanOperator& plan) {
  if ((declare.options & (kScroll | kNoScroll)) != 0) return (declare.options & kScroll) != 0;
  return goes_back(plan);
}

/// Returns the slot in which a cursor's rows have the key of this table's row.
Slot key_slot_in(const Portal& portal, PlanOperator& plan, const Table& table) {
  std::optional<Slot> slot;
  for_each_identified(plan, [&](const TableAccess& access) {
    if (access.table().relation.oid != table.relation.oid) return;
    if (slot) {
      throw_error(kInvalidCursorState,
                  "cursor \"{}\" has multiple FOR UPDATE/SHARE references to table \"{}\"",
                  portal.name, table.relation.name);
    }
    slot = access.key_slot();
  });
  if (slot) return *slot;
  if (locks_rows(plan)) {
    throw_error(kInvalidCursorState,
                "cursor \"{}\" does not have a FOR UPDATE/SHARE reference to table \"{}\"",
                portal.name, table.relation.name);
  }
  throw_error(kInvalidCursorState, "cursor \"{}\" is not a simply updatable scan of table \"{}\"",
              portal.name, table.relation.name);
}

}  // namespace

std::string Session::State::cursor_row_key(std::string_view cursor, const Table& table) {
  Portal& portal = *find_cursor(portals, cursor);
  if (!portal.use || portal.plan().write != nullptr) {
    throw_error(kInvalidCursorState, "cursor \"{}\" is not a SELECT query", cursor);
  }
  if (portal.holds && portal.state == Portal::State::finished) {
    throw_error(kInvalidCursorState, "cursor \"{}\" is held from a previous transaction", cursor);
  }
  PlanRun& run = plans.run_of(portal);
  const Slot slot = key_slot_in(portal, *run.root, table);
  Execution& execution = run.execution;
  const RowScope scope{execution};
  bool on_a_row = portal.rows && portal.position >= 1 &&
                  portal.position <= static_cast<std::int64_t>(portal.rows->size());
  if (on_a_row) {
    portal.rows->restore(execution, static_cast<std::size_t>(portal.position - 1));
    // The empty side of an outer join has no row.
    on_a_row = !execution.slots[slot].is_null();
  }
  if (!on_a_row) {
    throw_error(kInvalidCursorState, "cursor \"{}\" is not positioned on a row", cursor);
  }
  return std::string{as_text(execution.slots[slot].as_bytes())};
}

void SessionPortals::declare(const ast::DeclareCursorStmt& declare,
                             std::span<const Value> parameters, Statement& whole) {
  check_options(declare);
  const bool holds = (declare.options & kHold) != 0;
  if (holds) require_unrestricted(session_, "create a cursor WITH HOLD");
  if (!holds && !session_.transaction.in_block()) {
    throw SqlError{sqlstate::no_active_sql_transaction,
                   "DECLARE CURSOR can only be used in transaction blocks"};
  }
  if (by_name_.contains(declare.portalname)) {
    throw_error(sqlstate::duplicate_cursor, "cursor \"{}\" already exists", declare.portalname);
  }
  // The cursor outlives the script that declares it, so it gets a tree of its own.
  auto statement = std::make_shared<Statement>();
  const ast::Node* const own = parse_again(session_.memory, *statement, whole);
  statement->node = ast::as<ast::DeclareCursorStmt>(own).query;
  statement->of_cursor = true;
  statement->declared_types = whole.parameter_types;
  statement->takes_parameters = whole.takes_parameters;
  PortalPtr portal;
  with_places_in(whole, [&] { portal = make(statement, parameters); });
  portal->name = declare.portalname;
  portal->is_cursor = true;
  portal->holds = holds;
  portal->binary = (declare.options & kBinary) != 0;
  portal->scrolls = scrolls(declare, *session_.plans.run_of(*portal).root);
  portal->opened_at = session_.session_context.statement_timestamp;
  if (portal->binary) portal->formats = {Format::binary};
  statement->count_as_kept(session_.memory);
  start(*portal, Reads::in_parts);
  portal->rows = std::make_unique<RowStore>(RowStore::Overflow::to_file);
  portal->rows->set_slots(kept_slots(*portal->run));
  open(portal);
}

void Session::State::open_cursor(const PortalPtr& portal, CursorScroll scroll) {
  portal->is_cursor = true;
  portal->opened_at = session_context.statement_timestamp;
  portals.require_writable(*portal);
  portals.lock_tables(*portal, SessionPortals::Columns::told);
  const PlanRun& run = portals.open_inner(*portal, SessionPortals::Reads::in_parts);
  portal->scrolls =
      scroll == CursorScroll::unsaid ? goes_back(*run.root) : scroll == CursorScroll::yes;
  portal->rows = std::make_unique<RowStore>(RowStore::Overflow::to_file);
  portal->rows->set_slots(kept_slots(run));
  portals.open(portal);
}

/// Reads one more row of the plan into the cursor's store.
bool SessionPortals::read_row(Portal& portal) {
  if (portal.exhausted) return false;
  require_runnable(portal.plan());
  Execution& execution = portal.run->execution;
  {
    const HeldView::Reading reading{portal.view};
    const RowScope scope{execution};
    if (portal.run->root->next(execution)) {
      portal.rows->keep(execution);
      return true;
    }
  }
  portal.exhausted = true;
  portal.view.reset();
  return false;
}

/// Makes a cursor of a protocol's portal, at its current position.
void SessionPortals::make_cursor_of(Portal& portal) {
  if (!portal.use || portal.plan().write != nullptr || portal.state == Portal::State::failed) {
    throw_error(sqlstate::invalid_cursor_name, "portal \"{}\" is not a cursor", portal.name);
  }
  if (portal.state == Portal::State::ready) start(portal, Reads::in_parts);
  portal.rows = std::make_unique<RowStore>(RowStore::Overflow::to_file);
  portal.rows->set_slots(kept_slots(session_.plans.run_of(portal)));
  portal.scrolls = false;
}

std::vector<OutputColumn> SessionPortals::fetch_columns(const ast::FetchStmt& fetch,
                                                        std::span<const Format> formats) const {
  if (fetch.ismove) return {};
  const PortalPtr portal = find_cursor(*this, fetch.portalname);
  return output_columns(portal->statement->columns(), formats);
}

void SessionPortals::fetch(const ast::FetchStmt& fetch, ResultSink& sink) {
  using Direction = ast::FetchDirection;
  const PortalPtr portal = find_cursor(*this, fetch.portalname);
  if (!portal->rows) make_cursor_of(*portal);
  const auto fill_to = [&](std::int64_t row) {
    while (static_cast<std::int64_t>(portal->rows->size()) < row && read_row(*portal)) {
    }
  };
  const auto read_all = [&] { fill_to(std::numeric_limits<std::int64_t>::max()); };
  const auto size = [&] { return static_cast<std::int64_t>(portal->rows->size()); };

  // Every direction is a list of positions to visit, in order: from `first`, `count` of them.
  constexpr auto kAll = std::numeric_limits<std::int64_t>::max();
  std::int64_t step = 1;
  std::int64_t count = fetch.how_many;
  std::int64_t first = portal->position + 1;
  switch (fetch.direction) {
    case Direction::forward:
    case Direction::backward: {
      bool backward = fetch.direction == Direction::backward;
      if (count < 0) {
        backward = !backward;
        count = -count;
      }
      if (count == 0) {
        first = portal->position;
        count = first >= 1 && first <= size() ? 1 : 0;
        step = 0;
      } else if (backward) {
        step = -1;
        first = portal->position - 1;
      }
      break;
    }
    case Direction::absolute:
      if (count < 0) {
        read_all();
        first = size() + 1 + count;
      } else {
        first = count;
      }
      step = 0;
      count = 1;
      break;
    case Direction::relative:
      first = portal->position + count;
      step = 0;
      count = 1;
      break;
    case Direction::undefined:
      break;
  }
  // Reading the current row again is a step back, unless there is none or it is not sent.
  const bool stays = step == 0 && first == portal->position;
  // The last row is found by coming back from the position after it. A cursor at its start is where
  // MOVE BACKWARD ALL would bring it.
  const bool from_end = fetch.direction == Direction::absolute && fetch.how_many < 0;
  const bool rewinds = fetch.ismove && step < 0 && count == kAll && portal->position == 0;
  const bool is_on_row = first >= 1 && first <= size();
  const bool shows_again =
      stays && (fetch.direction == Direction::absolute
                    ? first >= 1
                    : !fetch.ismove && (is_on_row || fetch.direction == Direction::backward));
  const bool goes_back =
      from_end || (step < 0 && !rewinds) || (step == 0 && first < portal->position) || shows_again;
  if (!portal->scrolls && goes_back) {
    throw SqlError{sqlstate::object_not_in_prerequisite_state, "cursor can only scan forward"}
        .with_hint("Declare it with SCROLL option to enable backward scan.");
  }
  // Formats come from Bind, or in a Query message from DECLARE; for the rows that Execute sends of
  // a portal of the protocol, always from Bind.
  static constexpr Format kAllBinary[] = {Format::binary};
  const std::span<const Format> declared =
      portal->binary ? std::span<const Format>{kAllBinary} : std::span<const Format>{};
  const auto columns =
      output_columns(portal->statement->columns(), session_.bound_formats.value_or(declared));
  if (!fetch.ismove) sink.row_description(columns);
  const RowView view{*portal->run, columns};
  std::int64_t visited = 0;
  std::int64_t at = first;
  while (visited < count) {
    if (at >= 1) fill_to(at);
    if (at < 1 || at > size()) break;
    if (!fetch.ismove) {
      portal->rows->restore(portal->run->execution, static_cast<std::size_t>(at - 1));
      sink.data_row(view);
    }
    portal->position = at;
    ++visited;
    if (step == 0) break;
    at += step;
  }
  if (visited < count || count == kAll) {
    // It has passed an end, and is before the first or after the last row now.
    if (at < 1) portal->position = 0;
    if (at >= 1 && portal->exhausted && at > size()) portal->position = size() + 1;
  }
  sink.command_complete(fmt::format("{} {}", fetch.ismove ? "MOVE" : "FETCH", visited));
}

void SessionPortals::close(const ast::ClosePortalStmt& close) {
  if (close.portalname.empty()) {
    close_where([](const Portal& portal) { return portal.is_cursor; });
    return;
  }
  static_cast<void>(find_cursor(*this, close.portalname));
  this->close(close.portalname);
}

/// Reads the rest of the rows while the snapshot still exists.
void SessionPortals::hold(Portal& portal) {
  while (read_row(portal)) {
  }
  // The run stays with the cursor for its slots and output types.
  portal.run->end();
  portal.view.reset();
  portal.state = Portal::State::finished;
}

void SessionPortals::hold_all() {
  for (const auto& [name, portal] : by_name_) {
    if (portal->holds && portal->state == Portal::State::running) hold(*portal);
  }
}

void SessionPortals::hold_pinned() {
  for (const auto& [name, portal] : by_name_) {
    if (!portal->pinned || portal->state != Portal::State::running) continue;
    portal->holds = true;
    hold(*portal);
  }
}

}  // namespace swizzle::sql
