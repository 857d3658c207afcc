#include "sql-lite-frontend/definitions/triggers/event_triggers.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/definitions/rights/role_rights.h"
#include "sql-lite-frontend/definitions/tables/notice_missing.h"
#include "sql-lite-frontend/definitions/triggers/event_trigger_tags.h"
#include "sql-lite-frontend/definitions/triggers/statement_objects.h"
#include "sql-lite-frontend/routines/language.h"
#include "sql-lite-frontend/statement/transactions/inner_transactions.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr std::string_view kStart = "ddl_command_start";
constexpr std::string_view kEnd = "ddl_command_end";
constexpr std::string_view kDrop = "sql_drop";
constexpr std::string_view kRewrite = "table_rewrite";
constexpr std::string_view kLogin = "login";

EventTriggerPtr require_own(StatementContext& session, std::string_view name) {
  EventTriggerPtr trigger = session.catalog.event_trigger(name);
  if (!trigger) {
    throw_error(sqlstate::undefined_object, "event trigger \"{}\" does not exist", name);
  }
  if (!session.rights.owns(trigger->owner)) {
    throw_error(sqlstate::insufficient_privilege, "must be owner of event trigger {}", name);
  }
  return trigger;
}

void refuse_taken(StatementContext& session, std::string_view name) {
  if (session.catalog.event_trigger(name)) {
    throw_error(sqlstate::duplicate_object, "event trigger \"{}\" already exists", name);
  }
}

std::string upper_case(std::string_view text) {
  std::string upper{text};
  std::ranges::transform(upper, upper.begin(), [](unsigned char letter) {
    return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A')
                                          : static_cast<char>(letter);
  });
  return upper;
}

void require_tag(std::string_view event, std::string_view value) {
  if (event == kLogin) {
    throw SqlError{sqlstate::feature_not_supported,
                   "tag filtering is not supported for login event triggers"};
  }
  const std::string tag = upper_case(value);
  if (!is_command_tag(tag)) {
    throw_error(sqlstate::syntax_error,
                "filter value \"{}\" not recognized for filter variable \"tag\"", value);
  }
  const bool is_supported = event == kRewrite ? may_rewrite(tag) : has_event_triggers(tag);
  if (is_supported) return;
  throw_error(sqlstate::feature_not_supported, "event triggers are not supported for {}", value);
}

std::vector<std::string> tags_of(const ast::CreateEventTrigStmt& statement) {
  std::vector<std::string> tags;
  bool is_given = false;
  for (const ast::Node* node : statement.whenclause) {
    const auto& filter = ast::as<ast::DefElem>(node);
    if (filter.defname != "tag") {
      throw_error(sqlstate::syntax_error, "unrecognized filter variable \"{}\"", filter.defname);
    }
    if (is_given) {
      throw_error(sqlstate::syntax_error, "filter variable \"{}\" specified more than once",
                  filter.defname);
    }
    is_given = true;
    for (const ast::Node* value : ast::as<ast::List>(filter.arg).items) {
      require_tag(statement.eventname, ast::string_of(value));
      tags.push_back(upper_case(ast::string_of(value)));
    }
  }
  return tags;
}

Oid find_function(StatementContext& session, ast::NodeList names) {
  const std::string_view name = ast::string_of(names.back());
  const std::string_view schema =
      names.size() > 1 ? ast::string_of(names[names.size() - 2]) : std::string_view{};
  RoutinePtr routine;
  for (const NameSource::FoundRoutine& found : session.names.find_routines(schema, name)) {
    const RoutinePtr& one = found.callable->routine;
    if (!routine && one->argument_types().empty()) routine = one;
  }
  const std::string shown = fmt::format("{}{}{}", schema, schema.empty() ? "" : ".", name);
  if (!routine) throw_error(sqlstate::undefined_function, "function {}() does not exist", shown);
  if (routine->result != TypeId::event_trigger) {
    throw_error(SqlState{"42P17"}, "function {} must return type {}", shown, "event_trigger");
  }
  return session.catalog.lock_routine(*session.transaction, *routine)->oid;
}

bool is_enabled(StatementContext& session, const EventTrigger& trigger) {
  if (trigger.enabled == 'A') return true;
  return trigger.enabled == (session.acts_as_replica() ? 'R' : 'O');
}

bool are_on(StatementContext& session) {
  return session.settings.boolean("event_triggers");
}

/// The event for the functions that ask, while its triggers run.
class Told {
 public:
  Told(StatementContext& session, const EventTriggerContext& context)
      : session_(session), around_(std::exchange(session.event_trigger, &context)) {}
  Told(const Told&) = delete;
  Told& operator=(const Told&) = delete;
  ~Told() { session_.event_trigger = around_; }

 private:
  StatementContext& session_;
  const EventTriggerContext* around_;
};

void run(StatementContext& session, const EventTrigger& trigger, std::string_view tag) {
  check_stack();
  session.check_cancelled();
  const CallablePtr callable = session.names.routine(trigger.function);
  if (!callable) {
    throw_error(SqlState{"XX000"}, "cache lookup failed for function {}", trigger.function);
  }
  const RoutineFrame frame{session, *callable->routine};
  const TransactionControl control{session.transaction, false};
  const std::string& language = callable->routine->language;
  const EventTriggerCodePtr code =
      require_language(language).prepare_event_trigger(session, callable);
  if (!code) {
    throw_error(sqlstate::feature_not_supported, "event triggers in language {} are not supported",
                language);
  }
  code->run(session, trigger.event, tag);
}

/// Runs the triggers of the context's event, in the order of their names.
void fire(StatementContext& session, const EventTriggerContext& context, std::string_view tag) {
  std::vector<EventTriggerPtr> firing;
  for (const EventTriggerPtr& trigger : session.catalog.all_made<EventTrigger>()) {
    const bool is_of_tag =
        trigger->tags.empty() || std::ranges::find(trigger->tags, tag) != trigger->tags.end();
    if (trigger->event == context.event && is_of_tag && is_enabled(session, *trigger)) {
      firing.push_back(trigger);
    }
  }
  std::ranges::sort(firing, {}, [](const EventTriggerPtr& one) { return one->name; });
  const Told told{session, context};
  for (const EventTriggerPtr& trigger : firing) run(session, *trigger, tag);
}

/// False for rights to objects of all databases, which have no event triggers.
bool is_of_database(const ast::Node& statement) {
  using Type = ast::ObjectType;
  const auto is_shared = [](Type type) {
    return type == Type::database || type == Type::tablespace || type == Type::role ||
           type == Type::event_trigger || type == Type::parameter_acl;
  };
  if (const auto* grant = ast::try_as<ast::GrantStmt>(&statement))
    return !is_shared(grant->objtype);
  if (const auto* comment = ast::try_as<ast::CommentStmt>(&statement))
    return !is_shared(comment->objtype);
  return true;
}

}  // namespace

void create_event_trigger(StatementContext& session, const ast::CreateEventTrigStmt& statement) {
  if (!session.rights.is_superuser(session.user)) {
    throw sql_error(sqlstate::insufficient_privilege,
                    "permission denied to create event trigger \"{}\"", statement.trigname)
        .with_hint("Must be superuser to create an event trigger.");
  }
  const std::string_view event = statement.eventname;
  if (event != kStart && event != kEnd && event != kDrop && event != kRewrite && event != kLogin) {
    throw_error(sqlstate::syntax_error, "unrecognized event name \"{}\"", event);
  }
  EventTrigger trigger;
  trigger.tags = tags_of(statement);
  refuse_taken(session, statement.trigname);
  trigger.function = find_function(session, statement.funcname);
  trigger.oid = session.catalog.allocate_oid();
  trigger.name = statement.trigname;
  trigger.owner = session.user;
  trigger.event = event;
  session.catalog.create(*session.transaction, std::move(trigger));
}

void alter_event_trigger(StatementContext& session, const ast::AlterEventTrigStmt& statement) {
  const EventTriggerPtr trigger = require_own(session, statement.trigname);
  EventTrigger changed = *trigger;
  changed.enabled = statement.tgenabled.front();
  session.catalog.replace(*session.transaction, *trigger, std::move(changed));
}

void drop_event_triggers(StatementContext& session, const ast::DropStmt& statement,
                         ResultSink& sink) {
  for (const ast::Node* node : statement.objects) {
    const std::string_view name = ast::string_of(node);
    if (statement.missing_ok && !session.catalog.event_trigger(name)) {
      notice_missing(session, sink, fmt::format("event trigger \"{}\"", name));
      continue;
    }
    session.catalog.remove(*session.transaction, *require_own(session, name));
  }
}

void rename_event_trigger(StatementContext& session, std::string_view name,
                          std::string_view new_name) {
  const EventTriggerPtr trigger = require_own(session, name);
  refuse_taken(session, new_name);
  EventTrigger changed = *trigger;
  changed.name = new_name;
  session.catalog.replace(*session.transaction, *trigger, std::move(changed));
}

void set_event_trigger_owner(StatementContext& session, const ast::AlterOwnerStmt& statement) {
  const EventTriggerPtr trigger = require_own(session, ast::string_of(statement.object));
  const RolePtr owner = role_of(session, *statement.newowner);
  if (!session.rights.is_superuser(owner->oid)) {
    throw sql_error(sqlstate::insufficient_privilege,
                    "permission denied to change owner of event trigger \"{}\"", trigger->name)
        .with_hint("The owner of an event trigger must be a superuser.");
  }
  EventTrigger changed = *trigger;
  changed.owner = owner->oid;
  session.catalog.replace(*session.transaction, *trigger, std::move(changed));
}

void comment_on_event_trigger(StatementContext& session, std::string_view name,
                              std::string_view text) {
  const EventTriggerPtr trigger = require_own(session, name);
  EventTrigger changed = *trigger;
  changed.comment = text;
  session.catalog.replace(*session.transaction, *trigger, std::move(changed));
}

StatementEvents::StatementEvents(StatementContext& session, const ast::Node& statement,
                                 std::string_view tag)
    : session_(session), statement_(statement), tag_(tag) {
  if (!has_event_triggers(tag) || !is_of_database(statement)) return;
  is_watched_ = !session.catalog.all_made<EventTrigger>().empty() && are_on(session);
}

void StatementEvents::start() {
  EventTriggerContext context;
  context.event = kStart;
  fire(session_, context, tag_);
  mark_ = session_.catalog.mark();
  first_ = session_.catalog.allocate_oid();
}

void StatementEvents::end() {
  EventTriggerContext context = objects_of_statement(session_, statement_, tag_, {mark_, first_});
  if (!context.dropped.empty()) {
    context.event = kDrop;
    fire(session_, context, tag_);
  }
  context.event = kEnd;
  fire(session_, context, tag_);
}

void fire_table_rewrite(StatementContext& session, Oid table, std::int32_t reason) {
  if (session.catalog.all_made<EventTrigger>().empty() || !are_on(session)) return;
  EventTriggerContext context;
  context.event = kRewrite;
  context.rewritten = table;
  context.rewrite_reason = reason;
  fire(session, context, "ALTER TABLE");
}

bool has_login_triggers(StatementContext& session) {
  const auto is_of_login = [](const EventTriggerPtr& trigger) { return trigger->event == kLogin; };
  return are_on(session) &&
         std::ranges::any_of(session.catalog.all_made<EventTrigger>(), is_of_login);
}

void fire_login(StatementContext& session) {
  EventTriggerContext context;
  context.event = kLogin;
  fire(session, context, "LOGIN");
}

}  // namespace swizzle::sql
