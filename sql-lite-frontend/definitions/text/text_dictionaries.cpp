// CREATE and ALTER TEXT SEARCH DICTIONARY.
#include <algorithm>

#include "sql-lite-frontend/catalog/text_dictionary.h"
#include "sql-lite-frontend/definitions/routines/definition_options.h"
#include "sql-lite-frontend/definitions/text/text_search.h"

namespace swizzle::sql {
namespace {

/// Templates whose dictionaries need files on the server; not supported.
constexpr std::string_view kTemplatesWithFiles[] = {"synonym", "ispell", "thesaurus"};

/// The template that an extension brings, which is in that one's schema.
bool is_of_unaccent(StatementContext& session, std::string_view schema, std::string_view name) {
  const ExtensionPtr extension = name == "unaccent" ? session.catalog.extension(name) : nullptr;
  if (!extension) return false;
  const auto& path = session.names.search_path();
  return schema.empty() ? std::ranges::find(path, extension->schema) != path.end()
                        : session.names.schema_name(extension->schema) == schema;
}

Oid require_template(StatementContext& session, ast::NodeList names) {
  const std::string_view schema =
      names.size() > 1 ? ast::string_of(names[names.size() - 2]) : std::string_view{};
  const std::string_view name = ast::string_of(names.back());
  if (!schema.empty() && !session.names.schema_exists(schema))
    throw_error(sqlstate::invalid_schema_name, "schema \"{}\" does not exist", schema);
  if (is_of_unaccent(session, schema, name)) return kUnaccentTextTemplate;
  if (schema.empty() || schema == "pg_catalog") {
    const auto known = text_templates();
    const auto found = std::ranges::find(known, name, &TextTemplateInfo::name);
    if (found != known.end()) return found->oid;
    if (std::ranges::find(kTemplatesWithFiles, name) != std::end(kTemplatesWithFiles)) {
      throw sql_error(sqlstate::feature_not_supported,
                      "the text search template \"{}\" is not supported", name)
          .with_detail("Its dictionaries are files, which this server does not read.");
    }
  }
  throw_error(sqlstate::undefined_object, "text search template \"{}{}{}\" does not exist", schema,
              schema.empty() ? "" : ".", name);
}

UserTextDictionary::Option dictionary_option(const ast::DefElem& option) {
  const bool is_number = ast::try_as<ast::Integer>(option.arg) != nullptr ||
                         ast::try_as<ast::Float>(option.arg) != nullptr;
  return {std::string{option.defname}, option_text(option), is_number};
}

}  // namespace

void create_text_dictionary(StatementContext& session, const ast::DefineStmt& statement) {
  UserTextDictionary made;
  made.schema = place_of_text_search(session, statement.defnames);
  made.name = ast::string_of(statement.defnames.back());
  made.owner = session.user;
  for (const ast::Node* node : statement.definition) {
    const auto& option = ast::as<ast::DefElem>(node);
    if (option.defname == "template") {
      made.from_template = require_template(session, option_names(option));
    } else {
      made.options.push_back(dictionary_option(option));
    }
  }
  if (made.from_template == kNoOid)
    throw SqlError{SqlState{"42P17"}, "text search template is required"};
  static_cast<void>(text_dictionary_of(made));
  refuse_taken_text_search(session, made);
  made.oid = session.catalog.allocate_oid();
  session.catalog.create(*session.transaction, std::move(made));
}

void alter_text_dictionary(StatementContext& session, const ast::AlterTSDictionaryStmt& statement) {
  const UserTextDictionaryPtr made = lock_own_text_dictionary(session, statement.dictname);
  UserTextDictionary changed = *made;
  for (const ast::Node* node : statement.options) {
    const auto& option = ast::as<ast::DefElem>(node);
    std::erase_if(changed.options, [&](const UserTextDictionary::Option& known) {
      return known.name == option.defname;
    });
    // An option without a value is reset to its default.
    if (option.arg != nullptr) changed.options.push_back(dictionary_option(option));
  }
  static_cast<void>(text_dictionary_of(changed));
  session.catalog.replace(*session.transaction, *made, std::move(changed));
}

}  // namespace swizzle::sql
