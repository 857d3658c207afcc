#include <libpq-fe.h>

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/encodings/character_form.h"
#include "base/encodings/code_keys.h"
#include "base/encodings/encoding_table.h"
#include "base/random.h"
#include "server/session/testing/swizzled_process.h"

// Clients whose texts are not UTF-8, over the wire.
namespace swizzle::server {
namespace {

using testing::ServerHome;

using Answer = std::unique_ptr<PGresult, decltype(&PQclear)>;
using Texts = std::vector<std::string>;

constexpr int kPort = 7001;

struct Home {
  Home() {
    REQUIRE(home.run({"init", "-D", home.data("server"), "--peer-only"}) == 0);
    home.start("server", kPort);
    REQUIRE(home.is_open("server"));
  }
  ServerHome home;
};

class Client {
 public:
  explicit Client(const Home& home, const std::string& encoding = "UTF8")
      : connection_(
            PQconnectdb((home.home.conninfo(kPort) + " client_encoding=" + encoding).c_str()),
            &PQfinish) {
    INFO(PQerrorMessage(get()));
    REQUIRE(PQstatus(get()) == CONNECTION_OK);
    PQsetNoticeReceiver(get(), &Client::keep_notice, this);
  }

  [[nodiscard]] PGconn* get() const { return connection_.get(); }
  Answer run(const std::string& sql) const { return {PQexec(get(), sql.c_str()), &PQclear}; }
  /// Returns the first value, or the SQLSTATE and message of the error.
  std::string ask(const std::string& sql) const { return answer(run(sql)); }
  /// The same with parameters in one format.
  std::string ask_with(const std::string& sql, const Texts& parameters, int format) const {
    std::vector<const char*> values;
    std::vector<int> lengths;
    for (const std::string& parameter : parameters) {
      values.push_back(parameter.data());
      lengths.push_back(static_cast<int>(parameter.size()));
    }
    const std::vector<int> formats(parameters.size(), format);
    return answer({PQexecParams(get(), sql.c_str(), static_cast<int>(values.size()), nullptr,
                                values.data(), lengths.data(), formats.data(), format),
                   &PQclear});
  }
  static std::string answer(const Answer& result) {
    if (PQresultStatus(result.get()) == PGRES_FATAL_ERROR) {
      return std::string{PQresultErrorField(result.get(), PG_DIAG_SQLSTATE)} + " " +
             PQresultErrorField(result.get(), PG_DIAG_MESSAGE_PRIMARY);
    }
    if (PQntuples(result.get()) == 0) return "";
    return {PQgetvalue(result.get(), 0, 0),
            static_cast<std::size_t>(PQgetlength(result.get(), 0, 0))};
  }
  [[nodiscard]] std::string status(const char* name) const {
    return PQparameterStatus(get(), name);
  }
  /// Sends COPY's data in pieces of `size` bytes. Returns the error, or the tag.
  std::string copy_in(const std::string& sql, const std::string& data, std::size_t size) const {
    REQUIRE(PQresultStatus(run(sql).get()) == PGRES_COPY_IN);
    for (std::size_t at = 0; at < data.size(); at += size) {
      const std::size_t piece = std::min(size, data.size() - at);
      REQUIRE(PQputCopyData(get(), data.data() + at, static_cast<int>(piece)) == 1);
    }
    REQUIRE(PQputCopyEnd(get(), nullptr) == 1);
    const Answer result{PQgetResult(get()), &PQclear};
    const bool failed = PQresultStatus(result.get()) == PGRES_FATAL_ERROR;
    std::string told =
        failed ? answer(result) + "; " + PQresultErrorField(result.get(), PG_DIAG_CONTEXT)
               : std::string{PQcmdStatus(result.get())};
    CHECK(PQgetResult(get()) == nullptr);
    return told;
  }
  [[nodiscard]] std::string copy_out(const std::string& sql) const {
    REQUIRE(PQresultStatus(run(sql).get()) == PGRES_COPY_OUT);
    std::string data;
    char* piece = nullptr;
    int size = 0;
    while ((size = PQgetCopyData(get(), &piece, 0)) > 0) {
      data.append(piece, static_cast<std::size_t>(size));
      PQfreemem(piece);
    }
    const Answer result{PQgetResult(get()), &PQclear};
    if (PQresultStatus(result.get()) == PGRES_FATAL_ERROR) data += answer(result);
    CHECK(PQgetResult(get()) == nullptr);
    return data;
  }
  [[nodiscard]] std::string notices() { return std::exchange(notices_, {}); }

 private:
  static void keep_notice(void* self, const PGresult* notice) {
    static_cast<Client*>(self)->notices_ += PQresultErrorField(notice, PG_DIAG_MESSAGE_PRIMARY);
  }

  std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
  std::string notices_;
};

const EncodingTable& table_of(Encoding encoding) {
  const auto table = EncodingTable::of(encoding);
  REQUIRE(table);
  return **table;
}

/// All encodings with a table.
std::vector<Encoding> converted_encodings() {
  std::vector<Encoding> found;
  for (std::size_t i = 0; i < kEncodings; ++i) {
    if (!iconv_name(static_cast<Encoding>(i)).empty()) found.push_back(static_cast<Encoding>(i));
  }
  return found;
}

/// Returns all characters beyond ASCII that stay what they are when they come back from UTF-8.
std::string repertoire(Encoding encoding) {
  const EncodingTable& table = table_of(encoding);
  std::string all;
  const auto add = [&](std::uint32_t code, std::size_t length) {
    std::string bytes;
    for (std::size_t i = 0; i < length; ++i)
      bytes += static_cast<char>(code >> (8U * (length - 1 - i)) & 0xffU);
    std::string decoded;
    std::string again;
    if (!table.decode(bytes, decoded) || !table.encode(decoded, again) || again != bytes) return;
    // A letter after which the next character is no combining mark.
    all += bytes + ".";
  };
  for_each_code(encoding, add);
  if (encoding == Encoding::gb18030) {
    for (std::uint32_t number = 0; number < kFourByteCodes; ++number)
      add(four_byte_code(number), 4);
  }
  return all;
}

std::string in_utf8(Encoding encoding, const std::string& text) {
  std::string out;
  REQUIRE(table_of(encoding).decode(text, out));
  return out;
}

}  // namespace

TEST_CASE("the client's encoding holds for all texts of the protocol", "[encodings]") {
  const Home home;
  Client latin{home, "latin1"};
  Client utf8{home};
  CHECK(latin.status("client_encoding") == "LATIN1");
  CHECK(latin.ask("SHOW client_encoding") == "LATIN1");
  CHECK(latin.ask("SELECT pg_client_encoding()") == "LATIN1");
  CHECK(latin.ask("SELECT length('\xfc')") == "1");
  CHECK(latin.ask("SELECT U&'\\00fc'") == "\xfc");
  // Names of columns, tables, statements, cursors.
  const Answer row = latin.run("SELECT 1 AS \"gr\xfc\xdf\"");
  CHECK(std::string{PQfname(row.get(), 0)} == "gr\xfc\xdf");
  CHECK(
      latin
          .ask("CREATE TABLE \"stra\xdf\x65\" (\"n\xe4he\" text CHECK (\"n\xe4he\" <> 'f\xe4llt'))")
          .empty());
  CHECK(utf8.ask("SELECT count(*) FROM pg_class WHERE relname = 'stra\u00dfe'") == "1");
  const Answer refused = latin.run("INSERT INTO stra\xdf\x65 VALUES ('f\xe4llt')");
  CHECK(std::string{PQresultErrorField(refused.get(), PG_DIAG_TABLE_NAME)} == "stra\xdf\x65");
  CHECK(std::string{PQresultErrorField(refused.get(), PG_DIAG_CONSTRAINT_NAME)} ==
        "stra\xdf\x65_n\xe4he_check");
  CHECK(std::string{PQresultErrorField(refused.get(), PG_DIAG_MESSAGE_DETAIL)}.find("f\xe4llt") !=
        std::string::npos);
  CHECK(latin.ask("SELECT * FROM \"fr\xf6sche\"") ==
        "42P01 relation \"fr\xf6sche\" does not exist");
  const Answer prepared{
      PQprepare(latin.get(), "v\xf6rbereitet", "SELECT $1::text || '\xe9'", 0, nullptr), &PQclear};
  CHECK(PQresultStatus(prepared.get()) == PGRES_COMMAND_OK);
  const char* const parameter = "\xe8";
  const Answer executed{
      PQexecPrepared(latin.get(), "v\xf6rbereitet", 1, &parameter, nullptr, nullptr, 0), &PQclear};
  CHECK(Client::answer(executed) == "\xe8\xe9");
  CHECK(latin.ask("EXECUTE \"v\xf6rbereitet\"('\xe0')") == "\xe0\xe9");
  const Answer described{PQdescribePrepared(latin.get(), "v\xf6rbereitet"), &PQclear};
  CHECK(PQresultStatus(described.get()) == PGRES_COMMAND_OK);
  // Notices, EXPLAIN, SHOW.
  latin.run("DO $$ BEGIN RAISE NOTICE 'h\xf6rt'; END $$");
  CHECK(latin.notices() == "h\xf6rt");
  CHECK(latin.ask("SET search_path = \"\xf6\"").empty());
  CHECK(latin.ask("SHOW search_path") == "\"\xf6\"");
  latin.run("RESET search_path");
  // Notifications are in the listener's encoding.
  latin.run("LISTEN \"k\xe4n\xe4le\"");
  utf8.run("NOTIFY \"k\u00e4n\u00e4le\", '\u00fcber \u20ac'");
  latin.run("SELECT 1");
  const std::unique_ptr<PGnotify, decltype(&PQfreemem)> notification{PQnotifies(latin.get()),
                                                                     &PQfreemem};
  REQUIRE(notification != nullptr);
  CHECK(std::string{notification->relname} == "k\xe4n\xe4le");
  CHECK(std::string{notification->extra} ==
        "\xfc"
        "ber ?");
}

TEST_CASE("what a client's encoding lacks is an error, after which the session goes on",
          "[encodings]") {
  const Home home;
  Client client{home, "LATIN1"};
  const std::string kEuro =
      "22P05 character with byte sequence 0xe2 0x82 0xac in encoding \"UTF8\" has no equivalent in "
      "encoding \"LATIN1\"";
  CHECK(client.ask("SELECT U&'\\20ac'") == kEuro);
  CHECK(client.ask_with("SELECT U&'\\20ac'", {}, 1) == kEuro);
  CHECK(client.ask("SELECT 1 AS U&\"\\20ac\"") == kEuro);
  CHECK(client.ask("SELECT U&'\\20ac'::int") == kEuro);
  client.run("DO $$ BEGIN RAISE NOTICE '%', U&'\\20ac'; END $$");
  CHECK(client.notices() == "?");
  CHECK(client.ask("SELECT 1") == "1");
  CHECK(client.ask("SET client_encoding = 'EUC_JP'").empty());
  CHECK(client.ask("SELECT '\xa4'") ==
        "22021 invalid byte sequence for encoding \"EUC_JP\": 0xa4 0x27");
  CHECK(client.ask("SELECT '\xa4\xa2'") == "\xa4\xa2");
  CHECK(client.ask_with("SELECT $1::text", {"\xa4"}, 0) ==
        "22021 invalid byte sequence for encoding \"EUC_JP\": 0xa4");
  CHECK(client.ask_with("SELECT $1::text", {"\xa4"}, 1) ==
        "22021 invalid byte sequence for encoding \"EUC_JP\": 0xa4");
  client.run("BEGIN");
  CHECK(client.ask("SELECT '\xff\xff'").starts_with("22021"));
  CHECK(client.ask("SELECT 1").starts_with("25P02"));
  client.run("ROLLBACK");
  CHECK(client.ask("SET client_encoding = 'WIN1252'").empty());
  CHECK(client.ask("SELECT '\x81'")
            .starts_with("22P05 character with byte sequence 0x81 in encoding \"WIN1252\""));
  CHECK(client.ask("SET client_encoding = 'MULE_INTERNAL'").starts_with("0A000"));
  CHECK(client.ask("SET client_encoding = 'klingon'").starts_with("22023"));
  CHECK(client.ask("SHOW client_encoding") == "WIN1252");
}

TEST_CASE("a changed encoding goes with its transaction", "[encodings]") {
  const Home home;
  const Client client{home};
  client.run("BEGIN");
  CHECK(client.ask("SELECT '\u00e4'") == "\u00e4");
  client.run("SET client_encoding = 'LATIN1'");
  CHECK(client.status("client_encoding") == "LATIN1");
  CHECK(client.ask("SELECT '\xe4'") == "\xe4");
  client.run("SAVEPOINT s");
  client.run("SET client_encoding = 'WIN1251'");
  CHECK(client.ask("SELECT '\xe4'") == "\xe4");
  CHECK(client.ask("SELECT ascii('\xe4')") == "1076");
  client.run("ROLLBACK TO s");
  CHECK(client.status("client_encoding") == "LATIN1");
  CHECK(client.ask("SELECT ascii('\xe4')") == "228");
  client.run("ROLLBACK");
  CHECK(client.status("client_encoding") == "UTF8");
  CHECK(client.ask("SELECT ascii('\u00e4')") == "228");
  client.run("BEGIN; SET LOCAL client_encoding = 'KOI8R'");
  CHECK(client.ask("SELECT ascii('\xc4')") == "1076");
  client.run("COMMIT");
  CHECK(client.ask("SELECT ascii('\u0434')") == "1076");
  // In one message: the text was converted before the statements ran.
  CHECK(client.ask("SET client_encoding = 'LATIN1'; SELECT '\u00e4'") == "\xe4");
  CHECK(client.ask("SELECT 1/0").starts_with("22012"));
  CHECK(client.ask("SELECT '\xe4'") == "\xe4");
}

TEST_CASE("second bytes that look like a backslash are no backslashes", "[encodings]") {
  const Home home;
  const Client client{home, "SJIS"};
  // U+8868, whose second byte is 0x5c; U+8ABF ends with 0xb2, U+5341 with 0x5c as well.
  const std::string word = "\x95\x5c\x8f\x5c";
  CHECK(client.ask("SELECT ascii('" + word + "')") == std::to_string(0x8868));
  CHECK(client.ask("SELECT E'" + word + "\\n" + word + "'") == word + "\n" + word);
  CHECK(client.ask("SELECT length('" + word + "')") == "2");
  CHECK(client.ask("CREATE TABLE " + word + " (\"" + word + "\" text)").empty());
  CHECK(client.ask("INSERT INTO " + word + " VALUES ('" + word + "')").empty());
  CHECK(client.ask("SELECT " + word + " FROM " + word) == word);
  CHECK(client.ask("SELECT * FROM " + word + " WHERE " + word + " LIKE '\x95\x5c%'") == word);
  const std::string rows = word + "\t" + "x\\t" + word + "\nlast\x95\x5c\t\\N\n";
  client.run("CREATE TABLE copied (a text, b text)");
  for (const std::size_t size : {1U, 2U, 3U, 7U, 1000U}) {
    client.run("TRUNCATE copied");
    CHECK(client.copy_in("COPY copied FROM STDIN", rows, size) == "COPY 2");
    CHECK(client.copy_out("COPY copied TO STDOUT") == rows);
  }
  CHECK(client.copy_out("COPY copied TO STDOUT (FORMAT csv, HEADER)") ==
        "a,b\n" + word + ",x\t" + word + "\nlast\x95\x5c,\n");
}

TEST_CASE("COPY has the client's encoding or its own", "[encodings]") {
  const Home home;
  const Client client{home, "LATIN1"};
  client.run("CREATE TABLE t (a text)");
  CHECK(client.copy_in("COPY t FROM STDIN (ENCODING 'EUC_JP')", "\xc6\xfc\xcb\xdc\n\xc6\xfc\n",
                       3) == "COPY 2");
  CHECK(client.ask("SELECT sum(ascii(a)) FROM t") == std::to_string(2 * 0x65e5));
  CHECK(client.copy_out("COPY t TO STDOUT (ENCODING 'sjis')") == "\x93\xfa\x96\x7b\n\x93\xfa\n");
  CHECK(client.copy_out("COPY t TO STDOUT (ENCODING 'UTF8')") == "\u65e5\u672c\n\u65e5\n");
  CHECK(client.copy_out("COPY t TO STDOUT").starts_with("22P05"));
  CHECK(
      client.copy_in("COPY t FROM STDIN (ENCODING 'EUC_JP')", "\xc6\xfc\n\xc6\xfc\nab\xc6\n", 4) ==
      "22021 invalid byte sequence for encoding \"EUC_JP\": 0xc6 0x0a; COPY t, line 3");
  CHECK(client.copy_in("COPY t FROM STDIN (ENCODING 'EUC_JP')", "\xc6\xfc\nab\xc6", 100) ==
        "22021 invalid byte sequence for encoding \"EUC_JP\": 0xc6; COPY t, line 2");
  CHECK(client.copy_in("COPY t FROM STDIN", "\xe4\n", 1) == "COPY 1");
  CHECK(client.ask("SELECT ascii(a) FROM t WHERE a < 'z' COLLATE \"C\" OR ascii(a) < 256") ==
        "228");
  CHECK(client.ask("SELECT count(*) FROM t") == "3");
}

TEST_CASE("binary values have their texts in the client's encoding", "[encodings]") {
  const Home home;
  const Client client{home, "LATIN1"};
  client.run("CREATE TYPE mood AS ENUM ('fr\xf6hlich', 'matt')");
  client.run("CREATE DOMAIN word AS varchar(10)");
  for (const std::string type : {"text", "varchar", "name", "bpchar", "word", "xml", "json"}) {
    const std::string value = type == "json" ? "\"\xe4\"" : "\xe4\xf6";
    INFO(type);
    CHECK(client.ask_with("SELECT $1::" + type, {value}, 1) == value);
    CHECK(client.ask_with("SELECT $1::" + type, {value}, 0) == value);
  }
  CHECK(client.ask_with("SELECT $1::mood", {"fr\xf6hlich"}, 1) == "fr\xf6hlich");
  CHECK(client.ask_with("SELECT $1::jsonb", {"\x01\"\xe4\""}, 1) == "\x01\"\xe4\"");
  const std::string array = client.ask_with("SELECT ARRAY['\xe4', '\xf6\xf6']", {}, 1);
  CHECK(client.ask_with("SELECT $1::text[]", {array}, 1) == array);
  CHECK(array.ends_with(std::string{"\0\0\0\2\xf6\xf6", 6}));
  CHECK(client.ask_with("SELECT ROW('\xe4')", {}, 1).ends_with(std::string{"\0\0\0\1\xe4", 5}));
  CHECK(client.ask("SELECT textsend('\xe4')") == "\\xe4");
  CHECK(client.ask_with("SELECT to_tsvector('simple', 'abc')", {}, 1).size() > 4);
  CHECK(client.ask_with("SELECT to_tsvector('simple', '\xe4')", {}, 1).starts_with("0A000"));
  CHECK(client.ask("SELECT to_tsvector('simple', '\xe4')") == "'\xe4':1");
}

TEST_CASE("texts of another encoding count as memory of their session", "[encodings]") {
  const Home home;
  const Client utf8{home};
  const Client latin{home, "LATIN1"};
  for (const Client* client : {&utf8, &latin}) client->run("SET session_memory_limit = '16MB'");
  const std::string text(std::size_t{4} << 20U, '\xe4');
  const std::string decoded = in_utf8(Encoding::latin1, text);
  for (const int format : {0, 1}) {
    INFO(format);
    CHECK(utf8.ask_with("SELECT length($1::text)", {decoded}, format).size() > 3);
    CHECK(latin.ask_with("SELECT length($1::text)", {text}, format).starts_with("53200"));
    CHECK(latin.ask("SELECT 1") == "1");
  }
  CHECK(latin.ask("SELECT repeat('\xe4', 3000000)").starts_with("53200"));
  CHECK(latin.ask("SELECT length(convert_to(repeat('\xe4', 1000000), 'UTF8'))") == "2000000");
  CHECK(latin.ask("-- " + text + "\nSELECT 1").starts_with("53200"));
  latin.run("BEGIN");
  CHECK(latin.ask_with("SELECT length($1)", {text}, 0).starts_with("53200"));
  CHECK(latin.ask("SELECT 1").starts_with("25P02"));
  latin.run("ROLLBACK");
  // A message gives back at its end what it has taken.
  const std::string shorter(std::size_t{1} << 20U, '\xe4');
  for (int i = 0; i < 40; ++i)
    REQUIRE(latin.ask_with("SELECT length($1)", {shorter}, 0) == std::to_string(shorter.size()));
}

TEST_CASE("every encoding's whole repertoire comes back, in all forms", "[encodings]") {
  const Home home;
  const Client utf8{home};
  utf8.run("CREATE TABLE t (a text)");
  for (const Encoding encoding : converted_encodings()) {
    const std::string name{encoding_name(encoding)};
    INFO(name);
    const Client client{home, name};
    CHECK(client.status("client_encoding") == name);
    const std::string all = repertoire(encoding);
    const std::string decoded = in_utf8(encoding, all);
    utf8.run("TRUNCATE t");
    CHECK(client.ask("INSERT INTO t VALUES ('" + all + "')").empty());
    CHECK((utf8.ask("SELECT a FROM t") == decoded));
    CHECK((client.ask("SELECT a FROM t") == all));
    CHECK((client.ask_with("SELECT $1::text", {all}, 0) == all));
    CHECK((client.ask_with("SELECT $1::text", {all}, 1) == all));
    CHECK(client.ask_with("SELECT a = $1 FROM t", {all}, 0) == "t");
    CHECK((client.copy_out("COPY t TO STDOUT") == all + "\n"));
    CHECK(client.copy_in("COPY t FROM STDIN", all + "\n", 1021) == "COPY 1");
    CHECK(client.ask("SELECT count(DISTINCT a) || ' ' || count(*) FROM t") == "1 2");
  }
}

TEST_CASE("random bytes in every encoding neither end a session nor are taken for text",
          "[encodings]") {
  const Home home;
  Random random{47};
  for (const Encoding encoding : converted_encodings()) {
    const Client client{home, std::string{encoding_name(encoding)}};
    const EncodingTable& table = table_of(encoding);
    INFO(encoding_name(encoding));
    for (int round = 0; round < 150; ++round) {
      std::string bytes(1 + random.below(20), '\0');
      for (char& c : bytes) c = static_cast<char>(1 + random.below(255));
      std::string decoded;
      const bool is_text = static_cast<bool>(table.decode(bytes, decoded));
      const std::string answer = client.ask_with("SELECT $1::text", {bytes}, 0);
      if (is_text) {
        std::string again;
        REQUIRE(table.encode(decoded, again));
        CHECK((answer == again));
      } else {
        CHECK((answer.starts_with("22021") || answer.starts_with("22P05")));
      }
      const std::string state = client.ask(bytes).substr(0, 5);
      if (!is_text) CHECK((state == "22021" || state == "22P05"));
      CHECK(client.ask_with("SELECT $1::text", {bytes}, 1) == answer);
    }
    CHECK(client.ask("SELECT 1") == "1");
  }
}

}  // namespace swizzle::server
