#include "sql-lite-frontend/session/subscriptions/change_applier.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "sql-lite-frontend/session/replication/slots.h"
#include "sql-lite-frontend/session/subscriptions/required.h"
#include "sql-lite-frontend/silent_sink.h"
#include "sql-lite-frontend/statement/rights/acting_user.h"
#include "sql-lite-frontend/types/functions/text/quoting.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type_io.h"
#include "storage/logical/logical_log.h"

namespace swizzle::sql {
namespace {

/// Keeps the tag of the last statement.
class TagSink final : public SilentSink {
 public:
  void command_complete(std::string_view tag) override { tag_ = tag; }
  void data_row(const OutputRow& /*row*/) override { ++rows; }
  /// The number at the end of the tag.
  [[nodiscard]] std::uint64_t count() const {
    std::uint64_t number = 0;
    const std::size_t blank = tag_.rfind(' ');
    if (blank != std::string::npos)
      std::from_chars(tag_.data() + blank + 1, tag_.data() + tag_.size(), number);
    return number;
  }
  std::uint64_t rows = 0;

 private:
  std::string tag_;
};

std::string_view name_of(char kind) {
  struct Name {
    char kind;
    std::string_view name;
  };
  constexpr Name kNames[] = {{'B', "BEGIN"},           {'C', "COMMIT"},
                             {'I', "INSERT"},          {'U', "UPDATE"},
                             {'D', "DELETE"},          {'T', "TRUNCATE"},
                             {'R', "RELATION"},        {'Y', "TYPE"},
                             {'O', "ORIGIN"},          {'M', "MESSAGE"},
                             {'b', "BEGIN PREPARE"},   {'P', "PREPARE"},
                             {'K', "COMMIT PREPARED"}, {'r', "ROLLBACK PREPARED"},
                             {'S', "STREAM START"},    {'E', "STREAM STOP"},
                             {'c', "STREAM COMMIT"},   {'A', "STREAM ABORT"},
                             {'p', "STREAM PREPARE"}};
  for (const Name& one : kNames)
    if (one.kind == kind) return one.name;
  return "???";
}

}  // namespace

ChangeApplier::ChangeApplier(Session& session, PublisherDoor& door, Subscription subscription,
                             Oid table, Lsn applied)
    : session_(session),
      door_(door),
      subscription_(std::move(subscription)),
      table_(table),
      applied_(applied),
      flushed_(applied) {}

ChangeApplier::~ChangeApplier() = default;

Lsn ChangeApplier::flushed() {
  const Lsn durable = session_.state().shared.engine.logical_log().durable();
  while (!unflushed_.empty() && unflushed_.front().local <= durable) {
    flushed_ = unflushed_.front().end;
    unflushed_.pop_front();
  }
  return flushed_;
}

std::string ChangeApplier::context() const {
  std::string text = fmt::format(
      "processing remote data for replication origin \"pg_{}{}\" during message type "
      "\"{}\"",
      subscription_.oid, table_ == kNoOid ? std::string{} : fmt::format("_{}", table_),
      name_of(kind_));
  if (current_ != nullptr)
    text += fmt::format(" for replication target relation \"{}\"", current_->name());
  if (begin_) {
    text += fmt::format(" in transaction {}, finished at {}", begin_->transaction,
                        lsn_text(begin_->commit));
  }
  return text;
}

void ChangeApplier::log(Severity severity, std::string message, std::string detail) {
  Diagnostic diagnostic;
  diagnostic.severity = severity;
  diagnostic.message = std::move(message);
  diagnostic.detail = std::move(detail);
  if (begin_) diagnostic.where = context();
  door_.log(diagnostic);
}

Outcome ChangeApplier::apply(Bytes message) {
  std::optional<Diagnostic> failure;
  kind_ = message.empty() ? '\0' : static_cast<char>(message[0]);
  current_ = nullptr;
  try {
    take(message);
  } catch (const SqlError& error) {
    failure = to_diagnostic(error, {});
  } catch (RequestFailed& failed) {
    failure = std::move(failed.error);
  } catch (const std::bad_alloc&) {
    failure.emplace();
    failure->state = sqlstate::out_of_memory;
    failure->message = "out of memory";
  }
  if (!failure) return {};
  note_conflict(*failure);
  failure->where = context();
  return std::unexpected{*std::move(failure)};
}

void ChangeApplier::take(Bytes bytes) {
  ChangeMessageReader message{bytes};
  kind_ = message.letter();
  if (take_streamed(kind_, message) || take_end_of_transaction(kind_, message)) return;
  take_change(message);
}

void ChangeApplier::take_change(ChangeMessageReader& message) {
  switch (kind_) {
    case 'R':
      return note_relation(message);
    case 'I':
      return insert(message);
    case 'U':
      return update(message);
    case 'D':
      return remove(message);
    case 'T':
      return truncate(message);
    case 'Y':  // a type's name, which no message of ours needs
    case 'O':  // where the publisher has a transaction from
    case 'M':  // not asked for
      return;
    default:
      break;
  }
  throw_error(sqlstate::protocol_violation, "invalid logical replication message type \"{}\"",
              kind_);
}

// Tables ---------------------------------------------------------------------------------------

void ChangeApplier::note_relation(ChangeMessageReader& message) {
  PublishedRelation relation = read_relation(message);
  const auto known = targets_.find(relation.id);
  if (known != targets_.end()) {
    forget(known->second);
    targets_.erase(known);
  }
  relations_[relation.id] = std::move(relation);
}

void ChangeApplier::forget(KeptTarget& kept) {
  for (const auto& [key, statement] : kept.statements)
    static_cast<void>(session_.close_statement(statement.name));
  kept.statements.clear();
}

ChangeApplier::KeptTarget& ChangeApplier::target_of(std::uint32_t relation) {
  KeptTarget& kept = targets_[relation];
  // The statements of a transaction lock the table against changes of its definition.
  if (kept.is_checked) return kept;
  if (kept.target == nullptr || !kept.target->is_current(session_.state())) {
    forget(kept);
    kept.target.reset();
    const auto found = relations_.find(relation);
    if (found == relations_.end()) {
      throw_error(sqlstate::protocol_violation, "no relation map entry for remote relation ID {}",
                  relation);
    }
    kept.target = std::make_unique<ApplyTarget>(session_.state(), found->second);
  }
  if (wants(*kept.target)) {
    require_may_apply(*kept.target);
    kept.is_checked = true;
  }
  return kept;
}

bool ChangeApplier::wants(const ApplyTarget& target) const {
  if (table_ != kNoOid) return target.table()->relation.oid == table_;
  const auto found = tables_.find(target.table()->relation.oid);
  if (found == tables_.end()) return false;
  const SubscribedTable& table = found->second;
  if (table.state == SubscribedTable::State::ready) return true;
  // The table's own worker has applied what had committed before.
  return table.state == SubscribedTable::State::copied && begin_ && table.lsn <= begin_->commit;
}

ChangeApplier::KeptTarget* ChangeApplier::find_target(std::uint32_t relation) {
  if (!begin_)
    throw SqlError{sqlstate::protocol_violation, "a change was sent outside of a transaction"};
  if (is_skipping_ || is_repeated_) return nullptr;
  KeptTarget& kept = target_of(relation);
  current_ = kept.target.get();
  if (!kept.is_checked) return nullptr;
  begin_locally();
  return &kept;
}

void ChangeApplier::require_may_apply(const ApplyTarget& target) {
  Session::State& state = session_.state();
  const Relation& relation = target.table()->relation;
  const Oid user = subscription_.run_as_owner ? subscription_.owner : relation.owner;
  if (user != subscription_.owner && !state.rights.may_set_role(subscription_.owner, user)) {
    const RolePtr from = state.catalog.role(subscription_.owner);
    const RolePtr to = state.catalog.role(user);
    throw_error(sqlstate::insufficient_privilege, "role \"{}\" cannot SET ROLE to \"{}\"",
                from ? from->name : "", to ? to->name : "");
  }
  const ActingUser acting{state, user, ActingUser::As::itself};
  if (!state.hides_rows(*target.table())) return;
  const RolePtr role = state.catalog.role(user);
  throw_error(sqlstate::feature_not_supported,
              "user \"{}\" cannot replicate into relation with row-level security enabled: \"{}\"",
              role ? role->name : "", relation.name);
}

// Statements -----------------------------------------------------------------------------------

template <class Work>
Outcome ChangeApplier::as_owner_of(const ApplyTarget& target, const Work& work) {
  const Oid owner = target.table()->relation.owner;
  if (subscription_.run_as_owner || owner == subscription_.owner) return work();
  const ActingUser acting{session_.state(), owner, ActingUser::As::restricted};
  return work();
}

template <class Make>
const ApplyStatement& ChangeApplier::prepared(KeptTarget& kept, const std::string& key,
                                              const Make& make) {
  const auto known = kept.statements.find(key);
  if (known != kept.statements.end()) return known->second;
  ApplyStatement statement = make();
  statement.name = fmt::format("apply {}", ++next_name_);
  SilentSink sink;
  require_done(as_owner_of(*kept.target, [&] {
    return session_.parse(statement.name, statement.text, statement.types, sink);
  }));
  return kept.statements.emplace(key, std::move(statement)).first->second;
}

std::uint64_t ChangeApplier::run(const ApplyTarget& target, const ApplyStatement& statement,
                                 const PublishedRow& new_row, const PublishedRow& old_row) {
  values_.clear();
  formats_.clear();
  const auto add = [&](const PublishedRow& row, const std::vector<std::size_t>& columns) {
    for (const std::size_t i : columns) {
      if (row[i].is_given()) {
        values_.emplace_back(as_bytes(row[i].text));
      } else {
        values_.emplace_back(std::nullopt);
      }
      const bool is_binary = row[i].kind == PublishedValue::Kind::binary;
      formats_.push_back(is_binary ? Format::binary : Format::text);
    }
  };
  add(new_row, statement.of_new);
  add(old_row, statement.of_old);
  TagSink sink;
  require_done(as_owner_of(target, [&]() -> Outcome {
    Outcome bound = session_.bind({.portal = {},
                                   .statement = statement.name,
                                   .formats = formats_,
                                   .values = values_,
                                   .result_formats = {}},
                                  sink);
    if (!bound) return bound;
    return session_.execute({}, 0, sink);
  }));
  return sink.count();
}

void ChangeApplier::run_text(const std::string& text) {
  SilentSink sink;
  require_done(session_.simple_query(text, sink));
}

// Changes --------------------------------------------------------------------------------------

namespace {

void require_columns(const ApplyTarget& target, const PublishedRow& row) {
  if (row.size() == target.published().columns.size()) return;
  throw_error(sqlstate::protocol_violation, "a row of relation \"{}\" has {} columns, not {}",
              target.name(), row.size(), target.published().columns.size());
}

}  // namespace

void ChangeApplier::insert(ChangeMessageReader& message) {
  KeptTarget* const kept = find_target(message.number<std::uint32_t>());
  if (kept == nullptr) return;
  if (message.letter() != 'N')
    throw SqlError{sqlstate::protocol_violation, "expected new tuple in INSERT"};
  read_row(message, new_row_);
  require_columns(*kept->target, new_row_);
  const ApplyStatement& statement = prepared(*kept, "I", [&] { return kept->target->insert(); });
  run(*kept->target, statement, new_row_, old_row_);
}

void ChangeApplier::update(ChangeMessageReader& message) {
  KeptTarget* const kept = find_target(message.number<std::uint32_t>());
  if (kept == nullptr) return;
  const ApplyTarget& target = *kept->target;
  const char first = message.letter();
  const bool has_old = first == 'K' || first == 'O';
  if (has_old) read_row(message, old_row_);
  if ((has_old ? message.letter() : first) != 'N')
    throw SqlError{sqlstate::protocol_violation, "expected new tuple in UPDATE"};
  read_row(message, new_row_);
  if (!has_old) old_row_ = new_row_;
  require_columns(target, new_row_);
  require_columns(target, old_row_);
  const auto change = has_old ? ApplyTarget::KeyChange::possible : ApplyTarget::KeyChange::none;
  key_.assign(has_old ? "U" : "u");
  for (const PublishedValue& value : new_row_)
    key_ += value.kind == PublishedValue::Kind::unchanged ? '-' : '+';
  bool is_found = false;
  if (target.search().is_key) {
    const ApplyStatement& statement =
        prepared(*kept, key_, [&] { return target.update(new_row_, change); });
    is_found = run(target, statement, new_row_, old_row_) != 0;
    if (!is_found && target.has_fixed_columns()) require_missing(*kept);
  } else if (find_by_cursor(*kept)) {
    is_found = true;
    target.require_same_fixed(old_row_, new_row_);
    const ApplyStatement& statement =
        prepared(*kept, key_, [&] { return target.update_at_cursor(new_row_); });
    run(target, statement, new_row_, old_row_);
    end_cursor();
  }
  if (!is_found) report_missing(target, "update", &SubscriptionWorkers::Counts::update_missing);
}

/// Throws 0A000 if the row is here: then it was not found because of another identity.
void ChangeApplier::require_missing(KeptTarget& kept) {
  const ApplyStatement& statement = prepared(kept, "F", [&] { return kept.target->find(); });
  if (run(*kept.target, statement, new_row_, old_row_) != 0) kept.target->refuse_fixed();
}

void ChangeApplier::remove(ChangeMessageReader& message) {
  KeptTarget* const kept = find_target(message.number<std::uint32_t>());
  if (kept == nullptr) return;
  const ApplyTarget& target = *kept->target;
  const char first = message.letter();
  if (first != 'K' && first != 'O')
    throw_error(sqlstate::protocol_violation, "expected action 'O' or 'K', got {}", first);
  read_row(message, old_row_);
  require_columns(target, old_row_);
  bool is_found = false;
  if (target.search().is_key) {
    const ApplyStatement& statement = prepared(*kept, "D", [&] { return target.remove(); });
    is_found = run(target, statement, new_row_, old_row_) != 0;
  } else if (find_by_cursor(*kept)) {
    is_found = true;
    const ApplyStatement& statement =
        prepared(*kept, "d", [&] { return target.remove_at_cursor(); });
    run(target, statement, new_row_, old_row_);
    end_cursor();
  }
  if (!is_found) report_missing(target, "delete", &SubscriptionWorkers::Counts::delete_missing);
}

bool ChangeApplier::find_by_cursor(KeptTarget& kept) {
  std::string key = "C";
  for (const PublishedValue& value : old_row_)
    key += value.kind == PublishedValue::Kind::null ? '0' : '1';
  const ApplyStatement& statement =
      prepared(kept, key, [&] { return kept.target->declare_cursor(old_row_); });
  run(*kept.target, statement, new_row_, old_row_);
  TagSink sink;
  require_done(as_owner_of(*kept.target, [&] {
    return session_.simple_query(fmt::format("FETCH 1 FROM {}", ApplyTarget::kCursor), sink);
  }));
  if (sink.rows != 0) return true;
  end_cursor();
  return false;
}

void ChangeApplier::end_cursor() {
  run_text(fmt::format("CLOSE {}", ApplyTarget::kCursor));
}

void ChangeApplier::truncate(ChangeMessageReader& message) {
  constexpr std::uint8_t kRestartsSequences = 2;
  const auto count = message.number<std::uint32_t>();
  const auto flags = message.number<std::uint8_t>();
  std::string names;
  for (std::uint32_t i = 0; i < count; ++i) {
    const KeptTarget* const kept = find_target(message.number<std::uint32_t>());
    if (kept == nullptr) continue;
    if (!names.empty()) names += ", ";
    names += quote_identifier(kept->target->published().schema) + "." +
             quote_identifier(kept->target->published().name);
  }
  if (names.empty() || current_ == nullptr) return;
  // Without CASCADE, as in PostgreSQL: what the publisher has truncated by it is in the list.
  const std::string text = fmt::format(
      "TRUNCATE {}{}", names, (flags & kRestartsSequences) != 0 ? " RESTART IDENTITY" : "");
  SilentSink sink;
  require_done(as_owner_of(*current_, [&] { return session_.simple_query(text, sink); }));
}

// Conflicts ------------------------------------------------------------------------------------

namespace {

/// The row with its values as text.
class ShownRow {
 public:
  ShownRow(Session::State& session, const ApplyTarget& target, const PublishedRow& row)
      : row_(row) {
    const auto scratch = session.new_scratch();
    FunctionContext& context = scratch->execution.functions;
    for (std::size_t i = 0; i < row_.size(); ++i) {
      if (row_[i].kind != PublishedValue::Kind::binary) continue;
      const TypeId type = target.type_of(i);
      const Value value = receive_binary(context, type, kNoTypmod, as_bytes(row_[i].text));
      output_text(context, type, value, texts_.emplace_back());
      row_[i] = {.kind = PublishedValue::Kind::text, .text = texts_.back()};
    }
  }
  [[nodiscard]] const PublishedRow& row() const noexcept { return row_; }

 private:
  PublishedRow row_;
  std::deque<std::string> texts_;
};

}  // namespace

void ChangeApplier::report_missing(const ApplyTarget& target, std::string_view conflict,
                                   std::int64_t SubscriptionWorkers::Counts::* count) {
  session_.state().shared.subscription_workers.count(subscription_.oid, count);
  log(Severity::log,
      fmt::format("conflict detected on relation \"{}\": conflict={}_missing", target.name(),
                  conflict),
      fmt::format("Could not find the row to be {}d: {}.", conflict,
                  target.shown_search(ShownRow{session_.state(), target, old_row_}.row())));
}

void ChangeApplier::note_conflict(Diagnostic& error) {
  const bool is_conflict = error.state == sqlstate::unique_violation && current_ != nullptr &&
                           (kind_ == 'I' || kind_ == 'U');
  if (!is_conflict) return;
  const bool inserts = kind_ == 'I';
  session_.state().shared.subscription_workers.count(
      subscription_.oid, inserts ? &SubscriptionWorkers::Counts::insert_exists
                                 : &SubscriptionWorkers::Counts::update_exists);
  error.message = fmt::format("conflict detected on relation \"{}\": conflict={}_exists",
                              current_->name(), inserts ? "insert" : "update");
  error.detail =
      fmt::format("Key already exists in unique index \"{}\".\n{}", error.constraint, error.detail);
}

}  // namespace swizzle::sql
