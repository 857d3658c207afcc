#include "sql-lite-frontend/query/bind/collations.h"

#include <catch2/catch.hpp>

#include "sql-lite-frontend/query/bind/testing/fixed_names.h"
#include "sql-lite-frontend/types/sql_error.h"

using namespace swizzle::sql;
using Strength = DerivedCollation::Strength;

namespace {

struct Collated : TestBinding {
  Collated() {
    const Oid c = *builtin_collation("C");
    const Oid posix = *builtin_collation("POSIX");
    names.add_table("t", {{"d", TypeId::text}, {"c", TypeId::text, c}, {"p", TypeId::text, posix}});
  }
  /// Returns the collation of a query's only target.
  DerivedCollation derived(const std::string& expression) {
    const auto bound = query("SELECT " + expression + " FROM t");
    return collation_of(*bound->targets.front().expr);
  }
};

}  // namespace

TEST_CASE_METHOD(Collated, "COLLATE wins over a column, and a column over the default",
                 "[sql][bind]") {
  const Oid c = *builtin_collation("C");
  CHECK(derived("c").collation == c);
  CHECK(derived("c").strength == Strength::implicit);
  CHECK(derived("c || d").collation == c);
  CHECK(derived("d || 'x' COLLATE \"C\"").strength == Strength::explicit_);
  CHECK(derived("p || c COLLATE \"C\"").collation == c);
  CHECK_FALSE(derived("d || d").matters);
  CHECK(derived("upper(c)").collation == c);
}

TEST_CASE_METHOD(Collated, "Columns of two collations have none until it is needed",
                 "[sql][bind]") {
  CHECK(derived("c || p").strength == Strength::conflict);
  CHECK(error("SELECT c || p FROM t") == "bound");
  CHECK(error("SELECT c < p FROM t") == "bound");
  CHECK(error("SELECT c COLLATE \"C\" < p FROM t") == "bound");
  CHECK(error("SELECT c FROM t ORDER BY c || p") ==
        "42P21 collation mismatch between implicit collations \"C\" and \"POSIX\"\n"
        "You can choose the collation by applying the COLLATE clause to one or both expressions.");
}

TEST_CASE_METHOD(Collated, "Two COLLATE clauses must agree", "[sql][bind]") {
  CHECK(error("SELECT c COLLATE \"C\" < p COLLATE \"POSIX\" FROM t") ==
        "42P21 collation mismatch between explicit collations \"C\" and \"POSIX\"");
  CHECK(error("SELECT c COLLATE \"C\" < p COLLATE \"C\" FROM t") == "bound");
  CHECK(error("SELECT 1 COLLATE \"C\"") == "42804 collations are not supported by type integer");
  CHECK(error("SELECT d COLLATE nothing FROM t").substr(0, 5) == "42704");
}
