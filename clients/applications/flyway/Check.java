// Migrations by version and repeatable ones, two at a time under an advisory lock, validated, and cleaned.
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Executors;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.exception.FlywayValidateException;

public class Check extends Steps {
  static Flyway flyway(Path folder) {
    var configuration = Flyway.configure().dataSource(url(), System.getenv("PGUSER"), System.getenv("PGPASSWORD"))
        .locations("filesystem:" + folder).schemas("app", "more").cleanDisabled(false);
    // With a lock of a transaction CREATE INDEX CONCURRENTLY waits for who waits for it.
    configuration.getConfigurationExtension(org.flywaydb.database.postgresql.PostgreSQLConfigurationExtension.class)
        .setTransactionalLock(false);
    return configuration.load();
  }

  public static void main(String[] arguments) throws Exception {
    Path folder = Files.createDirectories(Path.of("migrations").toAbsolutePath());
    Files.writeString(folder.resolve("V1__people.sql"),
        "CREATE TYPE mood AS ENUM ('sad', 'happy');\n"
        + "CREATE DOMAIN percent AS numeric CHECK (VALUE BETWEEN 0 AND 100);\n"
        + "CREATE TABLE people (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL, mood mood, share percent);\n"
        + "CREATE SEQUENCE more.numbers;\n"
        + "CREATE TABLE more.marks (person int REFERENCES people, mark int DEFAULT nextval('more.numbers'));\n");
    Files.writeString(folder.resolve("V2__function.sql"),
        "CREATE FUNCTION greet(who text) RETURNS text LANGUAGE plpgsql AS $body$\nBEGIN\n  RETURN 'Hello; ' || who;\nEND;\n$body$;\n"
        + "CREATE PROCEDURE tidy() LANGUAGE sql AS $$ DELETE FROM people $$;\n"
        + "INSERT INTO people (name, mood, share) VALUES ('Ada', 'happy', 12.5);\n"
        + "COPY people (name, mood) FROM STDIN;\nBo\tsad\nCy\thappy\n\\.\n");
    Files.writeString(folder.resolve("V2_1__index.sql"), "CREATE INDEX CONCURRENTLY people_name ON people (name);\n");
    Files.writeString(folder.resolve("R__view.sql"), "CREATE OR REPLACE VIEW happy AS SELECT name FROM people WHERE mood = 'happy';\n");
    step("migrate, two at a time", () -> {
      var pool = Executors.newFixedThreadPool(2);
      var one = pool.submit(() -> flyway(folder).migrate().migrationsExecuted);
      var other = pool.submit(() -> flyway(folder).migrate().migrationsExecuted);
      expect(one.get() + other.get(), 4);
      pool.shutdown();
    });
    step("info", () -> {
      var info = flyway(folder).info();
      expect(info.current().getDescription(), "index");
      expect(info.applied().length, 5);
      expect(info.pending().length, 0);
    });
    step("a repeatable one again", () -> {
      Files.writeString(folder.resolve("R__view.sql"), "CREATE OR REPLACE VIEW happy AS SELECT name, id FROM people WHERE mood = 'happy';\n");
      expect(flyway(folder).migrate().migrationsExecuted, 1);
    });
    step("one that fails leaves nothing", () -> {
      Path bad = folder.resolve("V3__bad.sql");
      Files.writeString(bad, "CREATE TABLE half (a int);\nINSERT INTO nowhere VALUES (1);\n");
      try {
        flyway(folder).migrate();
        throw new AssertionError("it did not fail");
      } catch (org.flywaydb.core.api.FlywayException expected) {
        if (!expected.getMessage().contains("42P01")) throw expected;
      }
      Files.delete(bad);
      try (var connection = flyway(folder).getConfiguration().getDataSource().getConnection();
          var rows = connection.createStatement().executeQuery("SELECT to_regclass('app.half') IS NULL, (SELECT string_agg(name, ',' ORDER BY id) FROM app.happy)")) {
        rows.next();
        expect(rows.getBoolean(1), true);
        expect(rows.getString(2), "Ada,Cy");
      }
    });
    step("validate", () -> {
      flyway(folder).validate();
      Files.writeString(folder.resolve("V2_1__index.sql"), "SELECT 1;\n");
      try {
        flyway(folder).validate();
        throw new AssertionError("a changed file is valid");
      } catch (FlywayValidateException expected) {
        flyway(folder).repair();
      }
      flyway(folder).validate();
    });
    step("clean", () -> {
      flyway(folder).clean();
      try (var connection = flyway(folder).getConfiguration().getDataSource().getConnection();
          var rows = connection.createStatement().executeQuery(
              "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname IN ('app', 'more')")) {
        rows.next();
        expect(rows.getInt(1), 0);
      }
    });
  }
}
