#include "sql-lite-frontend/session/subscriptions/publisher_questions.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sql-lite-frontend/types/functions/text/quoting.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr int kHasColumnLists = 150'000;

std::string literal(std::string_view text) {
  std::string quoted{text.find('\\') == std::string_view::npos ? "'" : "E'"};
  for (const char letter : text) {
    if (letter == '\'' || letter == '\\') quoted += letter;
    quoted += letter;
  }
  return quoted + '\'';
}

std::string qualified(const PublishedName& name) {
  return quote_identifier(name.schema) + "." + quote_identifier(name.table);
}

std::vector<PublisherLink::Row> rows_of(PublisherLink& link, const std::string& question,
                                        std::string_view what, std::size_t columns) {
  auto rows = link.ask(question);
  if (!rows) throw_error(kConnectionFailure, "{}: {}", what, rows.error().message());
  for (const PublisherLink::Row& row : *rows) {
    if (row.size() != columns)
      throw_error(sqlstate::protocol_violation, "{}: unexpected number of columns", what);
  }
  return *std::move(rows);
}

std::string text_of(const std::optional<std::string>& value) {
  return value.value_or(std::string{});
}

/// Returns the table's columns on the publisher that are neither dropped nor generated.
std::vector<std::string> plain_columns(PublisherLink& link, const PublishedName& name) {
  const std::string question = fmt::format(
      "SELECT a.attname FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = "
      "a.attrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = {} "
      "AND c.relname = {} AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' ORDER "
      "BY a.attnum",
      literal(name.schema), literal(name.table));
  const std::string what = fmt::format(
      "could not fetch table info for table \"{}.{}\" from publisher", name.schema, name.table);
  std::vector<std::string> columns;
  for (const PublisherLink::Row& row : rows_of(link, question, what, 1))
    columns.push_back(text_of(row[0]));
  return columns;
}

/// True if it is a plain table, of which COPY sends all rows.
bool is_plain_table(PublisherLink& link, const PublishedName& name) {
  const std::string question = fmt::format(
      "SELECT c.relkind FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = "
      "c.relnamespace WHERE n.nspname = {} AND c.relname = {}",
      literal(name.schema), literal(name.table));
  const auto rows =
      rows_of(link, question,
              fmt::format("could not fetch table info for table \"{}.{}\" from publisher",
                          name.schema, name.table),
              1);
  if (rows.empty()) {
    throw_error(sqlstate::undefined_object, "table \"{}.{}\" not found on publisher", name.schema,
                name.table);
  }
  return text_of(rows[0][0]) == "r";
}

}  // namespace

std::string literal_list(std::span<const std::string> names) {
  std::string list;
  for (const std::string& name : names) {
    if (!list.empty()) list += ", ";
    list += literal(name);
  }
  return list;
}

std::vector<std::string> missing_publications(PublisherLink& link,
                                              const std::vector<std::string>& publications) {
  const std::string question =
      fmt::format("SELECT t.pubname FROM pg_catalog.pg_publication t WHERE t.pubname IN ({})",
                  literal_list(publications));
  std::vector<std::string> missing = publications;
  for (const PublisherLink::Row& row :
       rows_of(link, question, "could not receive list of publications from the publisher", 1))
    std::erase(missing, text_of(row[0]));
  return missing;
}

std::vector<PublishedName> published_tables(PublisherLink& link,
                                            const std::vector<std::string>& publications) {
  const bool has_lists = link.version() >= kHasColumnLists;
  const std::string question = fmt::format(
      "SELECT DISTINCT t.schemaname, t.tablename{} FROM pg_catalog.pg_publication_tables t WHERE "
      "t.pubname IN ({}) ORDER BY 1, 2",
      has_lists ? ", t.attnames" : ", NULL", literal_list(publications));
  std::vector<PublishedName> tables;
  for (const PublisherLink::Row& row : rows_of(
           link, question, "could not receive list of replicated tables from the publisher", 3)) {
    PublishedName name{text_of(row[0]), text_of(row[1])};
    if (!tables.empty() && tables.back().schema == name.schema &&
        tables.back().table == name.table) {
      throw_error(sqlstate::feature_not_supported,
                  "cannot use different column lists for table \"{}.{}\" in different publications",
                  name.schema, name.table);
    }
    tables.push_back(std::move(name));
  }
  return tables;
}

std::vector<std::string> publications_of_others(PublisherLink& link,
                                                const std::vector<std::string>& publications) {
  const std::string question = fmt::format(
      "SELECT DISTINCT t.pubname FROM pg_catalog.pg_publication_tables t JOIN "
      "pg_catalog.pg_namespace n ON n.nspname = t.schemaname JOIN pg_catalog.pg_class c ON "
      "c.relnamespace = n.oid AND c.relname = t.tablename JOIN pg_catalog.pg_subscription_rel s ON "
      "s.srrelid = c.oid WHERE t.pubname IN ({}) ORDER BY 1",
      literal_list(publications));
  std::vector<std::string> found;
  for (const PublisherLink::Row& row :
       rows_of(link, question, "could not receive list of replicated tables from the publisher", 1))
    found.push_back(text_of(row[0]));
  return found;
}

void create_publisher_slot(PublisherLink& link, const std::string& name) {
  const std::string option =
      link.version() >= kHasColumnLists ? "(SNAPSHOT 'nothing')" : "NOEXPORT_SNAPSHOT";
  const auto made = link.ask(fmt::format("CREATE_REPLICATION_SLOT {} LOGICAL pgoutput {}",
                                         quote_identifier(name), option));
  if (made) return;
  throw_error(sqlstate::protocol_violation, "could not create replication slot \"{}\": {}", name,
              made.error().message());
}

void drop_publisher_slot(PublisherLink& link, const std::string& name) {
  const auto dropped =
      link.ask(fmt::format("DROP_REPLICATION_SLOT {} WAIT", quote_identifier(name)));
  if (dropped) return;
  throw_error(kConnectionFailure, "could not drop replication slot \"{}\" on publisher: {}", name,
              dropped.error().message());
}

void drop_slot_if_exists(PublisherLink& link, const std::string& name) {
  const std::string question = fmt::format(
      "SELECT 1 FROM pg_catalog.pg_replication_slots WHERE slot_name = {}", literal(name));
  if (rows_of(link, question, "could not receive list of replication slots", 1).empty()) return;
  drop_publisher_slot(link, name);
}

std::string CopySlots::name(Oid table) const {
  return fmt::format("pg_{}_sync_{}_{}", subscription, table, server);
}

void drop_copy_slots(PublisherLink& link, const CopySlots& slots, std::span<const Oid> kept) {
  const std::string question = fmt::format(
      "SELECT slot_name FROM pg_catalog.pg_replication_slots WHERE slot_name ~ "
      "'^pg_{}_sync_[0-9]+_{}$'",
      slots.subscription, slots.server);
  for (const PublisherLink::Row& row :
       rows_of(link, question, "could not receive list of replication slots", 1)) {
    const std::string name = text_of(row[0]);
    const auto is_its = [&](Oid table) { return slots.name(table) == name; };
    if (!std::ranges::any_of(kept, is_its)) drop_slot_if_exists(link, name);
  }
}

PublishedPart published_part(PublisherLink& link, const PublishedName& name,
                             const Subscription& subscription) {
  constexpr int kCopiesBinary = 160'000;
  PublishedPart part;
  part.is_binary = subscription.binary && link.version() >= kCopiesBinary;
  const std::string_view form = part.is_binary ? " WITH (FORMAT binary)" : "";
  std::vector<std::string> filters;
  bool is_filtered = link.version() >= kHasColumnLists;
  if (link.version() >= kHasColumnLists) {
    const std::string question = fmt::format(
        "SELECT DISTINCT a.column_name, t.rowfilter FROM pg_catalog.pg_publication_tables t CROSS "
        "JOIN LATERAL unnest(t.attnames) AS a(column_name) WHERE t.pubname IN ({}) AND "
        "t.schemaname = {} AND t.tablename = {}",
        literal_list(subscription.publications), literal(name.schema), literal(name.table));
    std::set<std::string> listed;
    std::set<std::string> known;
    for (const PublisherLink::Row& row :
         rows_of(link, question,
                 fmt::format("could not fetch column list info for table \"{}.{}\" from publisher",
                             name.schema, name.table),
                 2)) {
      listed.insert(text_of(row[0]));
      // One publication without a filter publishes all rows.
      if (!row[1]) is_filtered = false;
      if (row[1]) known.insert(*row[1]);
    }
    filters.assign(known.begin(), known.end());
    for (std::string& column : plain_columns(link, name))
      if (listed.contains(column)) part.columns.push_back(std::move(column));
  } else {
    part.columns = plain_columns(link, name);
  }
  std::string columns;
  for (const std::string& column : part.columns) {
    if (!columns.empty()) columns += ", ";
    columns += quote_identifier(column);
  }
  if (is_plain_table(link, name) && (!is_filtered || filters.empty())) {
    const std::string list = columns.empty() ? std::string{} : fmt::format(" ({})", columns);
    part.copy = fmt::format("COPY {}{} TO STDOUT{}", qualified(name), list, form);
    return part;
  }
  part.copy = fmt::format("COPY (SELECT {} FROM {}", columns, qualified(name));
  for (std::size_t i = 0; is_filtered && i < filters.size(); ++i)
    part.copy += fmt::format("{}({})", i == 0 ? " WHERE " : " OR ", filters[i]);
  part.copy += fmt::format(") TO STDOUT{}", form);
  return part;
}

}  // namespace swizzle::sql
