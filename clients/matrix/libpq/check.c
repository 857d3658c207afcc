// libpq: text and binary parameters, pipeline mode, COPY, cancel, error fields.
#include <arpa/inet.h>
#include <libpq-fe.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;
static PGconn* connection;

static void report(const char* step, int fine) {
  if (fine) {
    printf("ok %s\n", step);
  } else {
    printf("FAIL %s: %s", step, PQerrorMessage(connection));
    if (PQerrorMessage(connection)[0] == '\0') printf("wrong answer\n");
    ++failures;
  }
}

static int command(const char* sql) {
  PGresult* result = PQexec(connection, sql);
  const ExecStatusType status = PQresultStatus(result);
  PQclear(result);
  return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

static int first_value_is(PGresult* result, const char* expected) {
  const int fine = PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == 1 &&
                   strcmp(PQgetvalue(result, 0, 0), expected) == 0;
  PQclear(result);
  return fine;
}

static int binary_round_trip(void) {
  const uint32_t number = htonl(41);
  const char* values[] = {(const char*)&number};
  const int lengths[] = {4};
  const int formats[] = {1};
  const Oid types[] = {23};
  PGresult* result =
      PQexecParams(connection, "SELECT $1 + 1", 1, types, values, lengths, formats, 1);
  int fine = PQresultStatus(result) == PGRES_TUPLES_OK && PQgetlength(result, 0, 0) == 4;
  if (fine) {
    uint32_t answer;
    memcpy(&answer, PQgetvalue(result, 0, 0), 4);
    fine = ntohl(answer) == 42;
  }
  PQclear(result);
  return fine;
}

static int error_fields(void) {
  PGresult* result = PQexec(connection, "INSERT INTO m_libpq VALUES (1, 'again')");
  const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char* constraint = PQresultErrorField(result, PG_DIAG_CONSTRAINT_NAME);
  const int fine = state != NULL && strcmp(state, "23505") == 0 && constraint != NULL &&
                   strcmp(constraint, "m_libpq_pkey") == 0;
  PQclear(result);
  return fine;
}

static int copy_in_and_out(void) {
  PGresult* result = PQexec(connection, "COPY m_libpq FROM STDIN");
  int fine = PQresultStatus(result) == PGRES_COPY_IN;
  PQclear(result);
  for (int i = 100; i < 200; ++i) {
    char line[64];
    const int size = snprintf(line, sizeof line, "%d\trow %d\n", i, i);
    fine = PQputCopyData(connection, line, size) == 1 && fine;
  }
  fine = PQputCopyEnd(connection, NULL) == 1 && fine;
  result = PQgetResult(connection);
  fine = PQresultStatus(result) == PGRES_COMMAND_OK && strcmp(PQcmdTuples(result), "100") == 0 && fine;
  PQclear(result);
  PQclear(PQgetResult(connection));
  result = PQexec(connection, "COPY (SELECT k FROM m_libpq WHERE k >= 100 ORDER BY k) TO STDOUT");
  fine = PQresultStatus(result) == PGRES_COPY_OUT && fine;
  PQclear(result);
  char* line = NULL;
  int lines = 0;
  while (PQgetCopyData(connection, &line, 0) > 0) {
    ++lines;
    PQfreemem(line);
  }
  while ((result = PQgetResult(connection)) != NULL) PQclear(result);
  return fine && lines == 100;
}

static int pipeline(void) {
  int fine = PQenterPipelineMode(connection) == 1;
  for (int i = 0; i < 10; ++i) {
    const char* sql = i == 5 ? "SELECT 1/0" : "SELECT 1";
    fine = PQsendQueryParams(connection, sql, 0, NULL, NULL, NULL, NULL, 0) == 1 && fine;
  }
  fine = PQpipelineSync(connection) == 1 && fine;
  for (int i = 0; i < 10; ++i) {
    PGresult* result = PQgetResult(connection);
    const ExecStatusType expected = i < 5    ? PGRES_TUPLES_OK
                                    : i == 5 ? PGRES_FATAL_ERROR
                                             : PGRES_PIPELINE_ABORTED;
    fine = PQresultStatus(result) == expected && fine;
    PQclear(result);
    PQclear(PQgetResult(connection));
  }
  PGresult* sync = PQgetResult(connection);
  fine = PQresultStatus(sync) == PGRES_PIPELINE_SYNC && fine;
  PQclear(sync);
  return PQexitPipelineMode(connection) == 1 && fine;
}

int main(void) {
  connection = PQconnectdb("");
  report("connect", PQstatus(connection) == CONNECTION_OK);
  report("server version", PQserverVersion(connection) >= 150000);
  report("create", command("CREATE TEMP TABLE m_libpq (k int PRIMARY KEY, v text)"));
  report("insert", command("INSERT INTO m_libpq VALUES (1, 'one'), (2, NULL)"));
  const char* key[] = {"1"};
  report("parameters", first_value_is(PQexecParams(connection, "SELECT v FROM m_libpq WHERE k = $1",
                                                   1, NULL, key, NULL, NULL, 0),
                                      "one"));
  report("binary", binary_round_trip());
  PQclear(PQprepare(connection, "get", "SELECT v FROM m_libpq WHERE k = $1", 0, NULL));
  int prepared = 1;
  for (int i = 0; i < 20; ++i) {
    prepared = first_value_is(PQexecPrepared(connection, "get", 1, key, NULL, NULL, 0), "one") && prepared;
  }
  report("prepared", prepared);
  report("error fields", error_fields());
  report("rollback", command("BEGIN") && command("DELETE FROM m_libpq") && command("ROLLBACK") &&
                         first_value_is(PQexec(connection, "SELECT count(*) FROM m_libpq"), "2"));
  report("copy", copy_in_and_out());
  report("pipeline", pipeline());
  PQfinish(connection);
  return failures;
}
