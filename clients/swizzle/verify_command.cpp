#include <iostream>
#include <pqxx/pqxx>

#include "clients/swizzle/commands.h"

namespace swizzle::clients {

/// Verifies the trees of the named tables, or all trees without arguments. Prints a line for each
/// violated rule; the exit code is 1 then.
int run_verify(const std::string& conninfo, const std::vector<std::string>& tables) {
  pqxx::connection connection{conninfo};
  pqxx::nontransaction work{connection};
  bool is_sound = true;
  const auto report = [&](const std::string& what, const std::string& violations) {
    if (violations.empty()) {
      std::cout << what << ": sound\n";
      return;
    }
    is_sound = false;
    std::cout << what << ":\n" << violations << '\n';
  };
  if (tables.empty()) {
    report("the whole database", work.exec1("SELECT swizzle_verify()")[0].as<std::string>());
  }
  for (const std::string& table : tables) {
    report(table,
           work.exec_params1("SELECT swizzle_verify($1::regclass)", table)[0].as<std::string>());
  }
  return is_sound ? 0 : 1;
}

}  // namespace swizzle::clients
