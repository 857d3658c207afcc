#include <iostream>
#include <pqxx/pqxx>

#include "clients/swizzle/commands.h"

namespace swizzle::clients {

/// Without words every tree is checked, otherwise those of the tables named. Exit code 1 if a rule
/// is violated; each violation is a line.
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
