#!/usr/bin/env python3
"""Writes our syntax tree from libpg_query's description of its own.

usage: generate_ast.py pg_query.proto OUTPUT_FOLDER

The installed pg_query.proto names every node, field and enumerator of the grammar. From it come
ast_nodes.h (one plain struct per node, placed in an arena) and ast_copy.cpp (the copying of the
library's own nodes into them, field by field). Nodes that only PostgreSQL's analyser or executor
makes are left out; the parser never produces them.
"""
import pathlib
import re
import sys

# The C name of a message's field.
json_names = {}
# Made after parsing: they occur in the description, never in a parse tree.
NOT_PARSED = set("""
ParseResult ScanResult ScanToken Node TableFunc Var Param Aggref WindowFunc SubscriptingRef FuncExpr
OpExpr DistinctExpr NullIfExpr ScalarArrayOpExpr SubPlan AlternativeSubPlan FieldSelect FieldStore
RelabelType CoerceViaIO ArrayCoerceExpr ConvertRowtypeExpr CollateExpr CaseTestExpr ArrayExpr
RowCompareExpr CoerceToDomain CoerceToDomainValue NextValueExpr InferenceElem TargetEntry RangeTblRef
FromExpr OnConflictExpr MergeAction Query SetOperationStmt RangeTblEntry RangeTblFunction
TableSampleClause WithCheckOption SortGroupClause WindowClause RowMarkClause CallContext
InlineCodeBlock WindowFuncRunCondition JsonConstructorExpr JsonExpr JsonTablePath JsonTablePathScan
JsonTableSiblingJoin RTEPermissionInfo ReturningExpr SummaryResult IntList OidList
""".split())
NOT_ENUMS = {"Token", "KeywordKind"}
KEYWORDS = set("""
alignas alignof and asm auto bool break case catch char class const constexpr continue default delete
do double else enum explicit export extern false float for friend goto if inline int long mutable
namespace new not operator or override private protected public register return short signed sizeof
static struct switch template this throw true try typedef typename union unsigned using virtual void
volatile while xor
""".split())
SCALARS = {"int32": "std::int32_t", "uint32": "std::uint32_t", "int64": "std::int64_t",
           "uint64": "std::uint64_t", "bool": "bool", "string": "std::string_view",
           "double": "double"}


def identifier(name):
    return name + "_" if name in KEYWORDS else name


def parse(text):
    messages, enums, kinds = {}, {}, []
    for match in re.finditer(r"^(message|enum) (\w+)\s*\{(.*?)^\}", text, re.M | re.S):
        what, name, body = match.groups()
        if what == "enum":
            enums[name] = [(n, int(v)) for n, v in re.findall(r"(\w+) = (\d+);", body)]
            continue
        fields = []
        for repeated, kind, field, number, json_name in re.findall(
                r"^\s*(repeated )?(\w+) (\w+) = (\d+)(?: \[json_name=\"(\w+)\"\])?", body, re.M):
            fields.append((bool(repeated), kind, field, int(number)))
            json_names[name, field] = json_name or field
        messages[name] = fields
    kinds = [(kind, field, number) for _, kind, field, number in messages["Node"]]
    return messages, enums, kinds


def enumerators(name, values):
    """Returns the enumerators without their common prefix; the undefined one is `undefined`."""
    names = [n for n, v in values if v != 0]
    prefix = names[0]
    for other in names:
        while not other.startswith(prefix):
            prefix = prefix[:-1]
    prefix = prefix[:prefix.rfind("_") + 1] if "_" in prefix else ""
    for original, value in values:
        short = "undefined" if value == 0 else original[len(prefix):].lower()
        yield identifier(short), value


def field_type(repeated, kind, enums, kept):
    if repeated:
        return "NodeList" if kind == "Node" else f"Items<{kind}>"
    if kind in SCALARS:
        return SCALARS[kind]
    if kind in enums:
        return kind
    return f"Link<{kind}>"


def kept_fields(name, fields, enums, kept):
    for repeated, kind, field, number in fields:
        if field == "xpr" or (repeated and kind in SCALARS):
            continue
        if kind not in SCALARS and kind not in enums and kind != "Node" and kind not in kept:
            continue
        yield repeated, kind, field, number


def header(messages, enums, kinds, kept):
    out = ["// Made by generate_ast.py from pg_query.proto.", "#pragma once", "", "#include <cstdint>",
           "#include <functional>", "#include <string>", "#include <string_view>", "",
           '#include "sql-lite-frontend/query/parse/links.h"', "", "namespace swizzle::sql::ast {", ""]
    out.append("enum class NodeKind : std::uint16_t {\n  none = 0,")
    out += [f"  {identifier(field)} = {number}," for _, field, number in kinds]
    out += ["};", "inline constexpr std::uint16_t kLastNodeKind = %d;" % max(k[2] for k in kinds), "",
            "/// The name that PostgreSQL gives the node: \"SelectStmt\".",
            "std::string_view node_name(NodeKind kind) noexcept;",
            "/// Whether the parser can produce the node; others have no struct here.",
            "bool is_parsed(NodeKind kind) noexcept;", "",
            "struct Node {", "  NodeKind node_kind = NodeKind::none;", "};",
            "using NodeList = Items<Node>;", ""]
    for name, values in enums.items():
        if name in NOT_ENUMS:
            continue
        out.append(f"enum class {name} : std::uint8_t {{")
        out += [f"  {n} = {v}," for n, v in enumerators(name, values)]
        out += ["};", ""]
    out += [f"struct {name};" for name in messages if name in kept]
    out.append("")
    numbers = {kind: field for kind, field, _ in kinds}
    for name, fields in messages.items():
        if name not in kept:
            continue
        out.append(f"struct {name} : Node {{")
        if name in numbers:
            out.append(f"  static constexpr NodeKind kKind = NodeKind::{identifier(numbers[name])};")
        for repeated, kind, field, _ in kept_fields(name, fields, enums, kept):
            initial = "" if repeated or kind == "string" else "{}"
            out.append(f"  {field_type(repeated, kind, enums, kept)} {identifier(field)}{initial};")
        out += ["};", ""]
    out += ["/// Calls `visit` for every node right below `parent`.",
            "void for_each_child(const Node& parent, const std::function<void(const Node&)>& visit);", "",
            "/// Descriptions end some way behind this: every level of what nests may be described.",
            "inline constexpr std::size_t kLongestDescription = 8192;",
            "/// Appends all that a tree says but where it stands in the text: the same for trees that differ",
            "/// in nothing else.",
            "void describe(const Node& tree, std::string& out);", "",
            "}  // namespace swizzle::sql::ast", ""]
    return "\n".join(out)


def walker(messages, enums, kinds, kept):
    numbers = {kind: field for kind, field, _ in kinds}
    out = ["void for_each_child(const Node& parent, const std::function<void(const Node&)>& visit) {",
           "  check_stack();",
           "  switch (parent.node_kind) {"]
    for name, fields in messages.items():
        if name not in kept or name not in numbers:
            continue
        children = [f for f in kept_fields(name, fields, enums, kept)
                    if f[1] not in SCALARS and f[1] not in enums]
        if not children:
            continue
        out += [f"    case NodeKind::{identifier(numbers[name])}: {{",
                f"      const auto& node = static_cast<const {name}&>(parent);"]
        for repeated, _, field, _ in children:
            ident = identifier(field)
            if repeated:
                out.append(f"      for (const auto* child : node.{ident})\n"
                           "        if (child != nullptr) visit(*child);")
            else:
                out.append(f"      if (node.{ident} != nullptr) visit(*node.{ident});")
        out += ["      return;", "    }"]
    out += ["    default:", "      return;", "  }", "}", ""]
    return out


def is_place(field):
    return field.endswith(("location", "list_start", "list_end")) or field == "stmt_len"


def describer(messages, enums, kinds, kept):
    numbers = {kind: field for kind, field, _ in kinds}
    out = ["// Every level of what nests is described, so none is described at length.",
           "void describe(const Node& tree, std::string& out) {", "  check_stack();",
           "  if (out.size() > kLongestDescription) return;",
           "  const auto number = [&](auto value) { out += std::to_string(value) + ','; };",
           "  const auto text = [&](std::string_view value) { number(value.size()); out += value; };",
           "  const auto child = [&](const Node* node) {",
           "    if (node != nullptr) describe(*node, out);", "    out += ',';", "  };",
           "  const auto list = [&](const auto& nodes) {",
           "    number(nodes.size());", "    for (const auto* node : nodes) child(node);", "  };",
           "  number(static_cast<int>(tree.node_kind));", "  switch (tree.node_kind) {"]
    for name, fields in messages.items():
        said = [f for f in kept_fields(name, fields, enums, kept) if not is_place(f[2])]
        if name not in kept or name not in numbers or not said:
            continue
        out += [f"    case NodeKind::{identifier(numbers[name])}: {{",
                f"      const auto& node = static_cast<const {name}&>(tree);"]
        for repeated, kind, field, _ in said:
            how = "list" if repeated else "text" if kind == "string" else "number" if kind in SCALARS else "child"
            value = f"node.{identifier(field)}"
            if kind in enums:
                how, value = "number", f"static_cast<int>({value})"
            out.append(f"      {how}({value});")
        out += ["      return;", "    }"]
    out += ["    default:", "      return;", "  }", "}", ""]
    return out


def copier(messages, enums, kinds, kept):
    """Field by field, under the C names, which the description has as its JSON names."""
    out = ["// Made by generate_ast.py from pg_query.proto.",
           '#include "sql-lite-frontend/query/parse/library_tree.h"',
           '#include "sql-lite-frontend/types/check_stack.h"',
           '#include "sql-lite-frontend/types/sql_error.h"', "", "namespace swizzle::sql::ast {", ""]
    out.append("std::string_view node_name(NodeKind kind) noexcept {\n  switch (kind) {")
    for kind, field, _ in kinds:
        out.append(f'    case NodeKind::{identifier(field)}: return "{kind}";')
    out += ["    case NodeKind::none: break;", "  }", '  return "none";', "}", ""]
    out.append("bool is_parsed(NodeKind kind) noexcept {\n  switch (kind) {")
    out += [f"    case NodeKind::{identifier(f)}:" for k, f, _ in kinds if k in kept]
    out += ["      return true;", "    default:", "      return false;", "  }", "}", ""]
    out += walker(messages, enums, kinds, kept)
    out += describer(messages, enums, kinds, kept)
    used = {kind for name in kept for _, kind, _, _ in kept_fields(name, messages[name], enums, kept)}
    out.append("namespace {\n")
    for name in sorted(used & set(enums)):
        out += [f"{name} as_ours(::{name} value) {{", "  switch (value) {"]
        out += [f"    case ::{original}: return {name}::{ours};"
                for (original, value), (ours, _) in zip(enums[name], enumerators(name, enums[name])) if value != 0]
        out += ["    default: return {};", "  }", "}", ""]
    out.append("}  // namespace\n")
    out.append("")
    nodes = [kind for kind, _, _ in kinds if kind in kept]
    for name in nodes:
        out.append(f"template <> const {name}* TreeCopy::copy<{name}>(const ::{name}& from);")
    out.append("")
    for name in nodes:
        out += [f"template <>\nconst {name}* TreeCopy::copy<{name}>([[maybe_unused]] const ::{name}& from) {{",
                "  check_stack();", f"  auto* const to = create<{name}>();"]
        for repeated, kind, field, _ in kept_fields(name, messages[name], enums, kept):
            at = f"from.{json_names[name, field]}"
            if name == "A_Const" and kind in kept:  # a union
                out.append(f"  if (!from.isnull && from.val.node.type == T_{kind}) to->{field} = copy<{kind}>(from.val.{field});")
                continue
            if name == "List":
                at = "&from"
            if repeated:
                value = f"children<Node>({at})"
            elif kind == "Node":
                value = f"node({at})"
            elif kind == "string":
                value = f"text({at})"
            elif kind in SCALARS:
                value = f"static_cast<{SCALARS[kind]}>({at})"
            elif kind in enums:
                value = f"as_ours({at})"
            else:
                value = f"nested<{kind}>({at})"
            out.append(f"  to->{identifier(field)} = {value};")
        out += ["  return to;", "}", ""]
    out += ["const Node* TreeCopy::copy_of_kind(const void* from) {",
            "  switch (static_cast<const ::Node*>(from)->type) {"]
    out += [f"    case T_{name}: return copy<{name}>(*static_cast<const ::{name}*>(from));" for name in nodes]
    out += ["    default: break;", "  }",
            '  throw SqlError{sqlstate::internal_error, "the parser made a node of no known kind"};', "}", "",
            "}  // namespace swizzle::sql::ast", ""]
    return "\n".join(out)


def main():
    messages, enums, kinds = parse(pathlib.Path(sys.argv[1]).read_text())
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    kept = {name for name in messages if name not in NOT_PARSED}
    (folder / "ast_nodes.h").write_text(header(messages, enums, kinds, kept))
    (folder / "ast_copy.cpp").write_text(copier(messages, enums, kinds, kept))


main()
