#include "sql-lite-frontend/session/subscriptions/table_copy.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "sql-lite-frontend/catalog/subscriptions.h"
#include "sql-lite-frontend/session/replication/slots.h"
#include "sql-lite-frontend/session/subscriptions/noted_origin.h"
#include "sql-lite-frontend/session/subscriptions/publisher_questions.h"
#include "sql-lite-frontend/session/subscriptions/required.h"
#include "sql-lite-frontend/session/subscriptions/subscribed_tables.h"
#include "sql-lite-frontend/silent_sink.h"
#include "sql-lite-frontend/statement/rights/acting_user.h"
#include "sql-lite-frontend/types/functions/text/quoting.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr int kHasSlotOptions = 150'000;

/// Gives COPY the rows that the publisher sends.
class PublishedRows final : public SilentSink {
 public:
  PublishedRows(PublisherLink& link, const TableCopy& copy) : link_(link), copy_(copy) {}

  std::expected<std::optional<Bytes>, Diagnostic> copy_in_data() override {
    constexpr Duration kLongestWait = std::chrono::seconds{1};
    constexpr std::size_t kEnough = std::size_t{64} << 10U;
    rows_.clear();
    while (!has_ended_ && rows_.size() < kEnough) {
      // Rows come one by one: take those that are there.
      if (rows_.empty()) copy_.waits();
      const auto received = link_.receive(rows_.empty() ? kLongestWait : Duration::zero());
      if (!received) return std::unexpected{to_diagnostic(received.error())};
      has_ended_ = received->arrival == PublisherLink::Arrival::end;
      if (received->arrival == PublisherLink::Arrival::message) rows_ += as_text(received->bytes);
      if (received->arrival == PublisherLink::Arrival::none && !rows_.empty()) break;
    }
    if (rows_.empty()) return std::optional<Bytes>{};
    return std::optional{as_bytes(rows_)};
  }

 private:
  PublisherLink& link_;
  const TableCopy& copy_;
  std::string rows_;
  bool has_ended_ = false;
};

class Copying {
 public:
  explicit Copying(const TableCopy& copy) : copy_(copy), state_(copy.session.state()) {}

  Lsn run() {
    PublisherTarget target = target_of(state_, copy_.subscription);
    target.application_name = copy_.slot;
    link_ = value_of(copy_.door.connect(target));
    // An earlier attempt may have left it.
    drop_slot_if_exists(*link_, copy_.slot);
    position_ = make_snapshot();
    const SchemaPtr schema = state_.catalog.schema(copy_.table->relation.schema);
    if (!schema) throw SqlError{sqlstate::invalid_schema_name, "the schema was dropped"};
    const PublishedName name{schema->name, copy_.table->relation.name};
    const PublishedPart part = published_part(*link_, name, copy_.subscription);
    value_of(link_->start(part.copy));
    copy_rows(name, part);
    return position_;
  }

 private:
  /// Gives the link's transaction the snapshot of a new slot; returns the slot's position.
  Lsn make_snapshot() {
    value_of(link_->ask("BEGIN READ ONLY ISOLATION LEVEL REPEATABLE READ"));
    const auto rows = value_of(link_->ask(
        fmt::format("CREATE_REPLICATION_SLOT {} LOGICAL pgoutput {}", quote_identifier(copy_.slot),
                    link_->version() >= kHasSlotOptions ? "(SNAPSHOT 'use')" : "USE_SNAPSHOT")));
    constexpr std::size_t kPosition = 1;
    if (rows.size() != 1 || rows[0].size() <= kPosition || !rows[0][kPosition])
      throw SqlError{sqlstate::protocol_violation, "the publisher's slot has no position"};
    return parse_lsn(*rows[0][kPosition]);
  }

  void copy_rows(const PublishedName& name, const PublishedPart& part) {
    std::string list;
    for (const std::string& column : part.columns)
      list += (list.empty() ? "" : ", ") + quote_identifier(column);
    const std::string text = fmt::format("COPY {}.{}{} FROM STDIN{}", quote_identifier(name.schema),
                                         quote_identifier(name.table),
                                         list.empty() ? std::string{} : fmt::format(" ({})", list),
                                         part.is_binary ? " WITH (FORMAT binary)" : "");
    PublishedRows rows{*link_, copy_};
    require_done(copy_.session.simple_query("BEGIN", rows));
    if (notes_origins(state_)) note_rows_origin(name);
    const Oid owner =
        copy_.subscription.run_as_owner ? copy_.subscription.owner : copy_.table->relation.owner;
    {
      const ActingUser acting{state_, owner, ActingUser::As::restricted};
      require_done(copy_.session.simple_query(text, rows));
    }
    require_done(copy_.session.run_request("COPY", rows, [&] {
      state_.transaction.begin_statement();
      Catalog& catalog = state_.catalog.of_database();
      const bool is_there =
          put_subscribed_table(catalog, *state_.transaction,
                               record(SubscribedTable::State::finished), TableRecord::must_exist);
      if (!is_there) refuse_removed(name);
      put_applied_position(catalog, *state_.transaction,
                           {copy_.subscription.oid, copy_.table->relation.oid}, position_);
    }));
    require_done(copy_.session.simple_query("COMMIT", rows));
  }

  /// Before the rows: who wants this server's own changes alone does not get them.
  void note_rows_origin(const PublishedName& name) {
    SilentSink sink;
    require_done(copy_.session.run_request("ORIGIN", sink, [&] {
      state_.transaction.begin_statement();
      const bool is_there =
          put_subscribed_table(state_.catalog.of_database(), *state_.transaction,
                               record(SubscribedTable::State::copying), TableRecord::must_exist);
      if (!is_there) refuse_removed(name);
      note_origin(state_, copy_.subscription.oid, position_);
    }));
  }

  [[nodiscard]] SubscribedTable record(SubscribedTable::State state) const {
    return {
        .subscription = copy_.subscription.oid, .table = copy_.table->relation.oid, .state = state};
  }

  [[noreturn]] static void refuse_removed(const PublishedName& name) {
    throw_error(sqlstate::undefined_object, "table \"{}.{}\" is not of the subscription any more",
                name.schema, name.table);
  }

  const TableCopy& copy_;
  Session::State& state_;
  std::unique_ptr<PublisherLink> link_;
  Lsn position_ = Lsn::none;
};

}  // namespace

std::expected<Lsn, Diagnostic> copy_table(const TableCopy& copy) {
  std::optional<Diagnostic> failure;
  try {
    return Copying{copy}.run();
  } catch (const SqlError& error) {
    failure = to_diagnostic(error, {});
  } catch (RequestFailed& failed) {
    failure = std::move(failed.error);
  }
  SilentSink sink;
  static_cast<void>(copy.session.simple_query("ROLLBACK", sink));
  return std::unexpected{*std::move(failure)};
}

}  // namespace swizzle::sql
