#include "sql-lite-frontend/plan/plan_document.h"

#include <algorithm>

#include "sql-lite-frontend/types/json/json.h"
#include "sql-lite-frontend/types/xml/xml_values.h"

namespace swizzle::sql {
namespace {

/// Returns a name as XML allows it.
std::string xml_tag(std::string_view name) {
  std::string tag{name};
  std::ranges::replace_if(
      tag,
      [](unsigned char letter) {
        const bool is_word = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                             (letter >= '0' && letter <= '9');
        return !is_word && letter != '-' && letter != '_' && letter != '.';
      },
      '-');
  return tag;
}

std::string xml_text(std::string_view text) {
  std::string out;
  xml::append_escaped(out, text);
  return out;
}

std::string quoted(std::string_view text) {
  std::string out;
  append_json_string(text, out);
  return out;
}

}  // namespace

PlanDocument::PlanDocument(Format format, TextBuilder& out) : format_(format), out_(out) {
  if (format_ == Format::json) out_ += "[";
  if (format_ == Format::xml) {
    out_ += "<explain xmlns=\"http://www.postgresql.org/2009/explain\">\n";
  }
  // The outermost level of YAML is not indented.
  levels_.push_back({.is_list = true});
}

void PlanDocument::finish() {
  levels_.pop_back();
  if (format_ == Format::json) out_ += "\n]";
  if (format_ == Format::xml) out_ += "</explain>";
}

void PlanDocument::begin_line() {
  const bool is_first = levels_.back().is_empty;
  levels_.back().is_empty = false;
  switch (format_) {
    case Format::json:
      out_ += is_first ? "\n" : ",\n";
      indent();
      break;
    case Format::xml:
      indent();
      break;
    case Format::yaml:
      // An object in a list begins on the line of its hyphen.
      if (is_first && (levels_.size() == 1 || levels_.back().tag.empty())) break;
      out_ += "\n";
      out_.append(2 * (levels_.size() - 1), ' ');
      break;
  }
}

void PlanDocument::begin_group(std::string_view name, std::string_view tag, bool is_list) {
  begin_line();
  switch (format_) {
    case Format::json:
      if (!name.empty()) out_ += quoted(name) + ": ";
      out_ += is_list ? "[" : "{";
      levels_.push_back({.is_list = is_list});
      break;
    case Format::xml:
      levels_.push_back({.tag = xml_tag(tag)});
      out_ += "<" + levels_.back().tag + ">\n";
      break;
    case Format::yaml:
      if (name.empty()) {
        out_ += "- ";
      } else {
        out_ += name;
        out_ += ": ";
      }
      levels_.push_back({.tag = std::string{name}});
      break;
  }
}

void PlanDocument::end() {
  const Level level = std::move(levels_.back());
  levels_.pop_back();
  if (format_ == Format::json) {
    out_ += "\n";
    indent();
    out_ += level.is_list ? "]" : "}";
  } else if (format_ == Format::xml) {
    indent();
    out_ += "</" + level.tag + ">\n";
  }
}

void PlanDocument::add_text(std::string_view name, std::string_view text) {
  add(name, format_ == Format::xml ? xml_text(text) : quoted(text));
}

void PlanDocument::add(std::string_view name, std::string_view value) {
  begin_line();
  switch (format_) {
    case Format::json:
      out_ += quoted(name) + ": ";
      out_ += value;
      break;
    case Format::xml: {
      const std::string tag = xml_tag(name);
      out_ += "<" + tag + ">";
      out_ += value;
      out_ += "</" + tag + ">\n";
      break;
    }
    case Format::yaml:
      out_ += name;
      out_ += ": ";
      out_ += value;
      break;
  }
}

}  // namespace swizzle::sql
