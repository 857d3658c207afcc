#include <algorithm>

#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/json/json.h"
#include "sql-lite-frontend/types/jsonpath/path_tree.h"

namespace swizzle::sql {
namespace {

struct Method {
  std::string_view name;
  PathOp op;
};
constexpr Method kMethods[] = {
    {"type", PathOp::type},
    {"size", PathOp::size},
    {"abs", PathOp::abs},
    {"floor", PathOp::floor},
    {"ceiling", PathOp::ceiling},
    {"double", PathOp::double_},
    {"keyvalue", PathOp::keyvalue},
    {"datetime", PathOp::datetime},
    {"bigint", PathOp::to_bigint},
    {"boolean", PathOp::to_boolean},
    {"date", PathOp::to_date},
    {"decimal", PathOp::to_decimal},
    {"integer", PathOp::to_integer},
    {"number", PathOp::to_number},
    {"string", PathOp::to_string},
    {"time", PathOp::to_time},
    {"time_tz", PathOp::to_time_tz},
    {"timestamp", PathOp::to_timestamp},
    {"timestamp_tz", PathOp::to_timestamp_tz},
};

int priority(PathOp op) noexcept {
  switch (op) {
    case PathOp::logical_or:
      return 0;
    case PathOp::logical_and:
      return 1;
    case PathOp::equal:
    case PathOp::not_equal:
    case PathOp::less:
    case PathOp::greater:
    case PathOp::less_or_equal:
    case PathOp::greater_or_equal:
    case PathOp::starts_with:
      return 2;
    case PathOp::add:
    case PathOp::subtract:
      return 3;
    case PathOp::multiply:
    case PathOp::divide:
    case PathOp::modulo:
      return 4;
    case PathOp::plus:
    case PathOp::minus:
      return 5;
    default:
      return 6;
  }
}

class PathPrinter {
 public:
  PathPrinter(const PathTree& tree, std::string& out) : tree_(tree), out_(out) {}

  void print(PathPlace place, bool in_key, bool brackets) {
    check_stack();
    const PathNode& node = tree_.at(place);
    switch (node.op) {
      case PathOp::root:
        out_ += '$';
        break;
      case PathOp::current:
        out_ += '@';
        break;
      case PathOp::last:
        out_ += "last";
        break;
      case PathOp::variable:
        out_ += '$';
        append_json_string(node.text, out_);
        break;
      case PathOp::null:
        out_ += "null";
        break;
      case PathOp::boolean:
        out_ += node.truth ? "true" : "false";
        break;
      case PathOp::number:
        out_ += node.next != kNoPlace ? "(" + node.text + ")" : node.text;
        break;
      case PathOp::string:
        append_json_string(node.text, out_);
        break;
      case PathOp::key:
      case PathOp::any_key:
        if (in_key) out_ += '.';
        if (node.op == PathOp::key) {
          append_json_string(node.text, out_);
        } else {
          out_ += '*';
        }
        break;
      case PathOp::any_array:
        out_ += "[*]";
        break;
      case PathOp::subscripts:
        print_subscripts(node);
        break;
      case PathOp::any:
        print_any(node, in_key);
        break;
      case PathOp::filter:
        out_ += "?(";
        print(node.left, false, false);
        out_ += ')';
        break;
      default:
        print_operation(node, brackets);
    }
    if (node.next != kNoPlace) print(node.next, true, true);
  }

 private:
  void print_operand(PathPlace place, PathOp of) {
    print(place, false, priority(tree_.at(place).op) <= priority(of));
  }
  void print_operation(const PathNode& node, bool brackets) {
    switch (node.op) {
      case PathOp::logical_not:
        out_ += "!(";
        print(node.left, false, false);
        out_ += ')';
        return;
      case PathOp::is_unknown:
        out_ += '(';
        print(node.left, false, false);
        out_ += ") is unknown";
        return;
      case PathOp::exists:
        out_ += "exists (";
        print(node.left, false, false);
        out_ += ')';
        return;
      case PathOp::plus:
      case PathOp::minus:
        if (brackets) out_ += '(';
        out_ += node.op == PathOp::plus ? '+' : '-';
        print_operand(node.left, node.op);
        if (brackets) out_ += ')';
        return;
      case PathOp::like_regex:
        if (brackets) out_ += '(';
        print_operand(node.left, node.op);
        out_ += " like_regex ";
        append_json_string(node.text, out_);
        if (!node.flags.empty()) out_ += " flag \"" + node.flags + "\"";
        if (brackets) out_ += ')';
        return;
      default:
        break;
    }
    if (const std::string_view method = path_method(node.op); !method.empty()) {
      out_ += '.';
      out_ += method;
      out_ += '(';
      if (node.truth) append_json_string(node.text, out_);
      if (!node.truth) out_ += node.text;
      if (!node.truth && !node.flags.empty()) out_ += "," + node.flags;
      out_ += ')';
      return;
    }
    if (brackets) out_ += '(';
    print_operand(node.left, node.op);
    out_ += ' ';
    out_ += path_operator(node.op);
    out_ += ' ';
    print_operand(node.right, node.op);
    if (brackets) out_ += ')';
  }
  void print_subscripts(const PathNode& node) {
    out_ += '[';
    for (std::size_t i = 0; i < node.list.size(); ++i) {
      if (i > 0) out_ += ',';
      print(node.list[i].from, false, false);
      if (node.list[i].to == kNoPlace) continue;
      out_ += " to ";
      print(node.list[i].to, false, false);
    }
    out_ += ']';
  }
  void print_any(const PathNode& node, bool in_key) {
    if (in_key) out_ += '.';
    out_ += "**";
    if (node.first == 0 && node.last == kLastLevel) return;
    const auto level = [](std::uint32_t of) {
      return of == kLastLevel ? std::string{"last"} : std::to_string(of);
    };
    out_ += '{' + level(node.first);
    if (node.first != node.last) out_ += " to " + level(node.last);
    out_ += '}';
  }

  const PathTree& tree_;
  std::string& out_;
};

}  // namespace

std::string_view path_operator(PathOp op) noexcept {
  switch (op) {
    case PathOp::logical_and:
      return "&&";
    case PathOp::logical_or:
      return "||";
    case PathOp::equal:
      return "==";
    case PathOp::not_equal:
      return "!=";
    case PathOp::less:
      return "<";
    case PathOp::greater:
      return ">";
    case PathOp::less_or_equal:
      return "<=";
    case PathOp::greater_or_equal:
      return ">=";
    case PathOp::plus:
    case PathOp::add:
      return "+";
    case PathOp::minus:
    case PathOp::subtract:
      return "-";
    case PathOp::multiply:
      return "*";
    case PathOp::divide:
      return "/";
    case PathOp::modulo:
      return "%";
    case PathOp::starts_with:
      return "starts with";
    default:
      return {};
  }
}

std::string_view path_method(PathOp op) noexcept {
  const auto* method = std::ranges::find(kMethods, op, &Method::op);
  return method == std::end(kMethods) ? std::string_view{} : method->name;
}

std::optional<PathOp> path_method_named(std::string_view name) noexcept {
  const auto* method = std::ranges::find(kMethods, name, &Method::name);
  return method == std::end(kMethods) ? std::nullopt : std::optional{method->op};
}

std::string print_path(const PathTree& path) {
  std::string out = path.is_strict ? "strict " : "";
  PathPrinter{path, out}.print(path.root, false, true);
  return out;
}

}  // namespace swizzle::sql
