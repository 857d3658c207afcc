// Checks libpqxx: transactions, prepared statements, streams.
#include <functional>
#include <iostream>
#include <pqxx/pqxx>

namespace {

int failures = 0;

void step(const char* name, const std::function<bool()>& body) {
  try {
    if (body()) {
      std::cout << "ok " << name << "\n";
      return;
    }
    std::cout << "FAIL " << name << ": wrong answer\n";
  } catch (const std::exception& error) {
    std::cout << "FAIL " << name << ": " << error.what() << "\n";
  }
  ++failures;
}

}  // namespace

int main() {
  pqxx::connection connection{""};
  step("connect", [&] { return connection.is_open(); });
  step("create and insert", [&] {
    pqxx::work work{connection};
    work.exec("CREATE TEMP TABLE m_pqxx (k int PRIMARY KEY, v numeric(12, 2), t timestamptz)");
    work.exec_params("INSERT INTO m_pqxx VALUES ($1, $2, now())", 1, "12.50");
    work.commit();
    return true;
  });
  step("typed values", [&] {
    pqxx::nontransaction work{connection};
    const auto row = work.exec1("SELECT k, v, t IS NOT NULL FROM m_pqxx");
    return row[0].as<int>() == 1 && row[1].as<double>() == 12.5 && row[2].as<bool>();
  });
  step("prepared", [&] {
    connection.prepare("get", "SELECT v FROM m_pqxx WHERE k = $1");
    pqxx::nontransaction work{connection};
    for (int i = 0; i < 10; ++i) {
      if (work.exec_prepared1("get", 1)[0].as<std::string>() != "12.50") return false;
    }
    return true;
  });
  step("unique violation", [&] {
    pqxx::work work{connection};
    try {
      work.exec("INSERT INTO m_pqxx VALUES (1, 0, now())");
    } catch (const pqxx::unique_violation&) {
      return true;
    }
    return false;
  });
  step("stream in and out", [&] {
    pqxx::work work{connection};
    work.exec("CREATE TEMP TABLE m_stream (k int PRIMARY KEY, v text)");
    pqxx::stream_to in{work, "m_stream"};
    for (int k = 0; k < 1000; ++k) in << std::make_tuple(k, std::to_string(k));
    in.complete();
    pqxx::stream_from out{work, "m_stream"};
    std::tuple<int, std::string> row;
    int rows = 0;
    while (out >> row) rows += std::to_string(std::get<0>(row)) == std::get<1>(row) ? 1 : 0;
    out.complete();
    return rows == 1000;
  });
  return failures;
}
