// The JDBC driver: prepared statements that turn binary, fetch sizes, batches, COPY, metadata.
import java.io.StringReader;
import java.math.BigDecimal;
import java.sql.*;
import org.postgresql.PGConnection;

public class Check {
  interface Body {
    boolean run() throws Exception;
  }

  static int failures = 0;

  static void step(String name, Body body) {
    try {
      if (body.run()) {
        System.out.println("ok " + name);
        return;
      }
      System.out.println("FAIL " + name + ": wrong answer");
    } catch (Exception error) {
      System.out.println("FAIL " + name + ": " + error.getMessage().replace('\n', ' '));
    }
    ++failures;
  }

  public static void main(String[] arguments) throws Exception {
    String url = String.format("jdbc:postgresql://%s:%s/%s", System.getenv("PGHOST"),
        System.getenv("PGPORT"), System.getenv("PGDATABASE"));
    Connection c =
        DriverManager.getConnection(url, System.getenv("PGUSER"), System.getenv("PGPASSWORD"));
    step("create", () -> {
      c.createStatement().execute("CREATE TABLE IF NOT EXISTS m_jdbc (k int PRIMARY KEY, t text, n numeric(10, 2), d timestamptz)");
      c.createStatement().execute("DELETE FROM m_jdbc");
      return true;
    });
    step("round trip", () -> {
      try (PreparedStatement put = c.prepareStatement("INSERT INTO m_jdbc VALUES (?, ?, ?, ?)")) {
        put.setInt(1, 1);
        put.setString(2, "text €");
        put.setBigDecimal(3, new BigDecimal("12.50"));
        put.setTimestamp(4, new Timestamp(0));
        if (put.executeUpdate() != 1) return false;
      }
      ResultSet row = c.createStatement().executeQuery("SELECT * FROM m_jdbc");
      return row.next() && row.getInt(1) == 1 && row.getString(2).equals("text €")
          && row.getBigDecimal(3).equals(new BigDecimal("12.50")) && row.getTimestamp(4).getTime() == 0;
    });
    step("prepared until it is named and binary", () -> {
      try (PreparedStatement get = c.prepareStatement("SELECT k, t FROM m_jdbc WHERE k = ?")) {
        for (int i = 0; i < 20; ++i) {
          get.setInt(1, 1);
          ResultSet row = get.executeQuery();
          if (!row.next() || row.getInt(1) != 1) return false;
        }
      }
      return true;
    });
    step("batch", () -> {
      c.setAutoCommit(false);
      try (PreparedStatement put = c.prepareStatement("INSERT INTO m_jdbc (k, t) VALUES (?, ?)")) {
        for (int i = 100; i < 600; ++i) {
          put.setInt(1, i);
          put.setString(2, "row " + i);
          put.addBatch();
        }
        boolean fine = put.executeBatch().length == 500;
        c.commit();
        return fine;
      }
    });
    step("fetch size", () -> {
      Statement all = c.createStatement();
      all.setFetchSize(50);
      ResultSet rows = all.executeQuery("SELECT k FROM m_jdbc ORDER BY k");
      int count = 0;
      while (rows.next()) ++count;
      c.commit();
      return count == 501;
    });
    step("unique violation, then rollback", () -> {
      try {
        c.createStatement().executeUpdate("INSERT INTO m_jdbc (k) VALUES (1)");
        return false;
      } catch (SQLException error) {
        c.rollback();
        return error.getSQLState().equals("23505");
      }
    });
    step("savepoint", () -> {
      Savepoint before = c.setSavepoint();
      c.createStatement().executeUpdate("DELETE FROM m_jdbc");
      c.rollback(before);
      ResultSet row = c.createStatement().executeQuery("SELECT count(*) FROM m_jdbc");
      boolean fine = row.next() && row.getInt(1) == 501;
      c.commit();
      return fine;
    });
    c.setAutoCommit(true);
    step("copy", () -> c.unwrap(PGConnection.class).getCopyAPI()
        .copyIn("COPY m_jdbc (k, t) FROM STDIN", new StringReader("1000\ta\n1001\tb\n")) == 2);
    step("columns of a table", () -> {
      ResultSet columns = c.getMetaData().getColumns(null, null, "m_jdbc", null);
      int count = 0;
      while (columns.next()) ++count;
      return count == 4;
    });
    step("primary key of a table", () -> {
      ResultSet key = c.getMetaData().getPrimaryKeys(null, null, "m_jdbc");
      return key.next() && key.getString("COLUMN_NAME").equals("k");
    });
    step("types of ours", () -> {
      EveryType.make(c);
      return true;
    });
    step("texts of every type", () -> EveryType.texts(c));
    step("geometry, money, uuid as objects", () -> EveryType.objects(c));
    step("arrays of every type", () -> EveryType.arrays(c));
    step("xml", () -> EveryType.xml(c));
    step("types dropped", () -> {
      EveryType.drop(c);
      return true;
    });
    step("is valid", () -> c.isValid(5));
    c.createStatement().execute("DROP TABLE m_jdbc");
    c.close();
    System.exit(failures);
  }
}
