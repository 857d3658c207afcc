#include "tpcc/embedded/tables.h"

#include <fstream>
#include <string>

namespace swizzle::tpcc {
namespace {

constexpr const char* kFile = "tpcc.catalog";
constexpr const char* kFirstLine = "swizzle-tpcc 1";

}  // namespace

const char* name_of(TableName table) noexcept {
  static constexpr std::array<const char*, kTables> kNames{
      "warehouse",  "district", "customer", "history",          "new_order",        "orders",
      "order_line", "item",     "stock",    "customer_by_name", "order_by_customer"};
  return kNames[static_cast<std::size_t>(table)];
}

Result<Catalog> Catalog::read(const std::filesystem::path& directory) {
  std::ifstream file(directory / kFile);
  if (!file) {
    return fail(sqlstate::undefined_file,
                (directory / kFile).string() + " is missing: was `swizzle-tpcc load` completed?");
  }
  Catalog catalog;
  std::string first;
  std::getline(file, first);
  file >> catalog.sizes.warehouses >> catalog.sizes.items >> catalog.sizes.customers;
  for (TreeId& tree : catalog.trees) {
    std::uint32_t number = 0;
    file >> number;
    tree = TreeId{number};
  }
  if (first != kFirstLine || !file) {
    return fail(sqlstate::data_corrupted, (directory / kFile).string() + " is not of this program");
  }
  return catalog;
}

Result<> Catalog::write(const std::filesystem::path& directory) const {
  std::ofstream file(directory / kFile);
  file << kFirstLine << "\n"
       << sizes.warehouses << " " << sizes.items << " " << sizes.customers << "\n";
  for (const TreeId tree : trees) file << raw(tree) << "\n";
  file.flush();
  if (!file) return fail(sqlstate::io_error, "cannot write " + (directory / kFile).string());
  return {};
}

Result<Tables> Tables::open(Engine& engine, const Catalog& catalog) {
  Tables tables;
  for (const TreeId id : catalog.trees) {
    ASSIGN_OR_RETURN(Tree tree, engine.tree(id));
    tables.trees_.push_back(tree);
  }
  return tables;
}

}  // namespace swizzle::tpcc
