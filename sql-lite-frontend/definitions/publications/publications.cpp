#include "sql-lite-frontend/definitions/publications/publications.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "sql-lite-frontend/definitions/rights/role_rights.h"
#include "sql-lite-frontend/definitions/routines/definition_options.h"
#include "sql-lite-frontend/definitions/tables/notice_missing.h"
#include "sql-lite-frontend/execution/publish/published_table.h"
#include "sql-lite-frontend/query/bound/statement_services.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

PublicationPtr require_publication(StatementContext& session, std::string_view name) {
  PublicationPtr publication = session.catalog.publication(name);
  if (!publication)
    throw_error(sqlstate::undefined_object, "publication \"{}\" does not exist", name);
  return publication;
}

PublicationPtr require_own_publication(StatementContext& session, std::string_view name) {
  PublicationPtr publication = require_publication(session, name);
  if (!session.rights.owns(publication->owner))
    throw_error(sqlstate::insufficient_privilege, "must be owner of publication {}", name);
  return publication;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view word = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ')) word.remove_suffix(1);
    std::string lower{word};
    std::ranges::transform(lower, lower.begin(), [](unsigned char letter) {
      return static_cast<char>(std::tolower(letter));
    });
    words.push_back(std::move(lower));
  }
  return words;
}

void set_published_events(Publication& publication, std::string_view list) {
  publication.inserts = publication.updates = publication.deletes = publication.truncates = false;
  for (const std::string& word : words_of(list)) {
    if (word == "insert") {
      publication.inserts = true;
    } else if (word == "update") {
      publication.updates = true;
    } else if (word == "delete") {
      publication.deletes = true;
    } else if (word == "truncate") {
      publication.truncates = true;
    } else {
      throw_error(sqlstate::syntax_error,
                  "unrecognized value for publication option \"publish\": "
                  "\"{}\"",
                  word);
    }
  }
}

/// Returns true for "stored".
bool publishes_stored(const ast::DefElem& option) {
  std::string value;
  if (option.arg != nullptr) value = option_text(option);
  const std::string lower = lower_case(value);
  if (lower == "stored" || lower == "none") return lower == "stored";
  throw sql_error(sqlstate::syntax_error, "invalid value for publication parameter \"{}\": \"{}\"",
                  option.defname, value)
      .with_detail("Valid values are \"none\" and \"stored\".");
}

void apply_options(Publication& publication, ast::NodeList options) {
  std::vector<std::string_view> seen;
  for (const ast::Node* node : options) {
    const auto& option = ast::as<ast::DefElem>(node);
    if (std::ranges::find(seen, option.defname) != seen.end()) {
      throw SqlError{sqlstate::syntax_error, "conflicting or redundant options"}.at_position(
          option.location + 1);
    }
    seen.push_back(option.defname);
    if (option.defname == "publish") {
      set_published_events(publication, option_text(option));
    } else if (option.defname == "publish_generated_columns") {
      publication.stored_generated = publishes_stored(option);
    } else if (option.defname == "publish_via_partition_root") {
      publication.via_root = option_boolean(option);
    } else {
      throw_error(sqlstate::syntax_error, "unrecognized publication parameter: \"{}\"",
                  option.defname);
    }
  }
}

void require_superuser_for(StatementContext& session, std::string_view what) {
  if (session.rights.is_superuser(session.user)) return;
  throw_error(sqlstate::insufficient_privilege, "must be superuser to {}", what);
}

void add_schemas(StatementContext& session, Publication& publication,
                 const std::vector<SchemaPtr>& schemas) {
  for (const SchemaPtr& schema : schemas) {
    std::string_view kind;
    if (schema->oid < kFirstUserOid && schema->name != "public") kind = "system schemas";
    if (schema->oid == session.names.temp_schema) kind = "temporary schemas";
    if (!kind.empty()) {
      throw sql_error(sqlstate::invalid_parameter_value, "cannot add schema \"{}\" to publication",
                      schema->name)
          .with_detail(kind.starts_with("system") ? "This operation is not supported for system "
                                                    "schemas."
                                                  : "Temporary schemas cannot be replicated.");
    }
    if (publication.has_schema(schema->oid)) {
      throw_error(sqlstate::duplicate_object,
                  "schema \"{}\" is already member of publication \"{}\"", schema->name,
                  publication.name);
    }
    publication.schemas.push_back({session.catalog.allocate_oid(), schema->oid});
  }
}

void add_members(StatementContext& session, Publication& publication,
                 std::vector<Publication::Member> members) {
  for (Publication::Member& member : members) {
    const TablePtr table = session.catalog.table(member.table);
    if (table && publication.member(member.table) != nullptr) {
      throw_error(sqlstate::duplicate_object,
                  "relation \"{}\" is already member of publication \"{}\"", table->relation.name,
                  publication.name);
    }
    publication.members.push_back(std::move(member));
  }
}

void drop_members(StatementContext& session, Publication& publication,
                  const PublicationObjects& named) {
  Arena arena;
  Binder binder{session.names, arena};
  for (const ast::PublicationTable* one : named.tables) {
    if (!one->columns.empty()) {
      throw SqlError{sqlstate::syntax_error,
                     "column list must not be specified in ALTER PUBLICATION ... DROP"};
    }
    const TablePtr table = binder.require_relation(*one->relation);
    if (publication.member(table->relation.oid) == nullptr) {
      throw_error(sqlstate::undefined_object, "relation \"{}\" is not part of the publication",
                  table->relation.name);
    }
    if (one->where_clause != nullptr) {
      throw SqlError{sqlstate::syntax_error,
                     "cannot use a WHERE clause when removing a table from a publication"};
    }
    std::erase_if(publication.members,
                  [&](const auto& member) { return member.table == table->relation.oid; });
  }
  for (const SchemaPtr& schema : named.schemas) {
    if (!publication.has_schema(schema->oid)) {
      throw_error(sqlstate::undefined_object,
                  "tables from schema \"{}\" are not part of the publication", schema->name);
    }
    std::erase_if(publication.schemas, [&](const auto& one) { return one.schema == schema->oid; });
  }
}

void refuse_objects_of_all(const Publication& publication, const PublicationObjects& named) {
  if (!publication.all_tables) return;
  const auto refuse = [&](std::string_view what) {
    throw sql_error(sqlstate::object_not_in_prerequisite_state,
                    "publication \"{}\" is defined as FOR ALL TABLES", publication.name)
        .with_detail(fmt::format("{} cannot be added to or dropped from FOR ALL TABLES "
                                 "publications.",
                                 what));
  };
  if (!named.schemas.empty()) refuse("Schemas");
  if (!named.tables.empty()) refuse("Tables");
}

void change_objects(StatementContext& session, Publication& publication,
                    const ast::AlterPublicationStmt& statement) {
  using Action = ast::AlterPublicationAction;
  const PublicationObjects named = named_objects(session, statement.pubobjects);
  if (statement.action == Action::dropobjects) {
    refuse_objects_of_all(publication, named);
    return drop_members(session, publication, named);
  }
  if (!named.schemas.empty()) require_superuser_for(session, "add or set schemas");
  refuse_objects_of_all(publication, named);
  if (statement.action == Action::setobjects) {
    publication.members.clear();
    publication.schemas.clear();
  }
  add_members(session, publication, members_of(session, named.tables));
  add_schemas(session, publication, named.schemas);
  refuse_lists_beside_schemas(session, publication);
  refuse_parts_of_partitioned(session, publication);
}

/// Filters and column lists of partitioned tables are those of publish_via_partition_root.
void require_may_leave_root(StatementContext& session, const Publication& publication) {
  if (publication.via_root) return;
  for (const Publication::Member& member : publication.members) {
    const TablePtr table = session.catalog.table(member.table);
    if (!table || !table->relation.is_partitioned()) continue;
    if (member.filter_sql.empty() && member.columns.empty()) continue;
    throw sql_error(sqlstate::invalid_parameter_value,
                    "cannot set parameter \"publish_via_partition_root\" to false for publication "
                    "\"{}\"",
                    publication.name)
        .with_detail(fmt::format("The publication contains a {} for partitioned table \"{}\", "
                                 "which is not allowed when \"publish_via_partition_root\" is "
                                 "false.",
                                 member.filter_sql.empty() ? "column list" : "WHERE clause",
                                 table->relation.name));
  }
}

}  // namespace

void create_publication(StatementContext& session, const ast::CreatePublicationStmt& statement,
                        ResultSink& sink) {
  session.rights.require_create_on_database();
  if (statement.for_all_tables) require_superuser_for(session, "create FOR ALL TABLES publication");
  if (session.catalog.publication(statement.pubname)) {
    throw_error(sqlstate::duplicate_object, "publication \"{}\" already exists", statement.pubname);
  }
  Publication publication;
  publication.oid = session.catalog.allocate_oid();
  publication.name = statement.pubname;
  publication.owner = session.user;
  publication.all_tables = statement.for_all_tables;
  apply_options(publication, statement.options);
  const PublicationObjects named = named_objects(session, statement.pubobjects);
  if (!named.schemas.empty())
    require_superuser_for(session, "create FOR TABLES IN SCHEMA publication");
  add_members(session, publication, members_of(session, named.tables));
  add_schemas(session, publication, named.schemas);
  refuse_lists_beside_schemas(session, publication);
  refuse_parts_of_partitioned(session, publication);
  session.catalog.create(*session.transaction, std::move(publication));
  if (!session.logs_changes()) {
    Diagnostic warning;
    warning.severity = Severity::warning;
    warning.state = sqlstate::object_not_in_prerequisite_state;
    warning.message = "\"wal_level\" is insufficient to publish logical changes";
    warning.hint = "Set \"wal_level\" to \"logical\" before creating subscriptions.";
    session.send_notice(sink, std::move(warning));
  }
}

void alter_publication(StatementContext& session, const ast::AlterPublicationStmt& statement) {
  const PublicationPtr publication = require_own_publication(session, statement.pubname);
  Publication changed = *publication;
  if (!statement.options.empty()) {
    apply_options(changed, statement.options);
    require_may_leave_root(session, changed);
  } else {
    change_objects(session, changed, statement);
  }
  session.catalog.replace(*session.transaction, *publication, std::move(changed));
}

void drop_publications(StatementContext& session, const ast::DropStmt& statement,
                       ResultSink& sink) {
  for (const ast::Node* node : statement.objects) {
    const std::string_view name = ast::string_of(node);
    if (statement.missing_ok && !session.catalog.publication(name)) {
      notice_missing(session, sink, fmt::format("publication \"{}\"", name));
      continue;
    }
    session.catalog.remove(*session.transaction, *require_own_publication(session, name));
  }
}

void rename_publication(StatementContext& session, std::string_view name,
                        std::string_view new_name) {
  const PublicationPtr publication = require_own_publication(session, name);
  session.rights.require_create_on_database();
  if (session.catalog.publication(new_name))
    throw_error(sqlstate::duplicate_object, "publication \"{}\" already exists", new_name);
  Publication changed = *publication;
  changed.name = new_name;
  session.catalog.replace(*session.transaction, *publication, std::move(changed));
}

void set_publication_owner(StatementContext& session, const ast::AlterOwnerStmt& statement) {
  const PublicationPtr publication =
      require_own_publication(session, ast::string_of(statement.object));
  const RolePtr owner = role_of(session, *statement.newowner);
  if (owner->oid == publication->owner) return;
  session.rights.require_set_role(*owner);
  session.rights.require_create_on_database();
  // Only a superuser may give it to any role.
  if (!session.rights.is_superuser(session.user) && !session.rights.is_superuser(owner->oid)) {
    const auto refuse = [&](std::string_view what) {
      throw sql_error(sqlstate::insufficient_privilege,
                      "permission denied to change owner of publication \"{}\"", publication->name)
          .with_hint(fmt::format("The owner of a {} publication must be a superuser.", what));
    };
    if (publication->all_tables) refuse("FOR ALL TABLES");
    if (!publication->schemas.empty()) refuse("FOR TABLES IN SCHEMA");
  }
  Publication changed = *publication;
  changed.owner = owner->oid;
  session.catalog.replace(*session.transaction, *publication, std::move(changed));
}

void comment_on_publication(StatementContext& session, std::string_view name,
                            std::string_view text) {
  const PublicationPtr publication = require_own_publication(session, name);
  Publication changed = *publication;
  changed.comment = text;
  session.catalog.replace(*session.transaction, *publication, std::move(changed));
}

}  // namespace swizzle::sql
