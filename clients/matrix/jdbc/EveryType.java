// Values of every kind of type through JDBC: as objects of the driver, often enough to become binary.
import java.sql.*;
import java.util.Arrays;
import org.postgresql.geometric.*;
import org.postgresql.util.PGobject;

class EveryType {
  static final String[][] TEXTS = {{"mood_jdbc", "happy"}, {"price_jdbc", "12.50"},
      {"pair_jdbc", "(1,\"a b\")"}, {"int4range", "[1,5)"}, {"int4range", "empty"},
      {"numrange", "(1.5,2.25]"}, {"tstzrange", "[\"2024-02-29 12:00:00+00\",)"},
      {"int4multirange", "{[1,3),[5,7)}"}, {"jsonb", "{\"a\": [1, 2.50, null]}"},
      {"jsonpath", "$.\"a\"[*]"}, {"bit(4)", "1010"}, {"varbit", "10101"},
      {"macaddr", "08:00:2b:01:02:03"}, {"macaddr8", "08:00:2b:01:02:03:04:05"},
      {"line", "{1,-1,0}"}, {"tsvector", "'a':1A,3 'b':2"}, {"tsquery", "'a' & !'b'"},
      {"inet", "10.1.2.3/16"}, {"cidr", "fe80::/10"}, {"pg_lsn", "16/B374D848"}};

  static void make(Connection c) throws SQLException {
    try (Statement s = c.createStatement()) {
      s.execute("CREATE TYPE mood_jdbc AS ENUM ('sad', 'happy')");
      s.execute("CREATE DOMAIN price_jdbc AS numeric(8,2) CHECK (value >= 0)");
      s.execute("CREATE TYPE pair_jdbc AS (a int, b text)");
    }
  }

  static void drop(Connection c) throws SQLException {
    try (Statement s = c.createStatement()) {
      s.execute("DROP TYPE pair_jdbc, mood_jdbc");
      s.execute("DROP DOMAIN price_jdbc");
    }
  }

  /** What is sent as the driver's object of a type comes back as its text. */
  static boolean texts(Connection c) throws SQLException {
    for (String[] text : TEXTS) {
      try (PreparedStatement get = c.prepareStatement("SELECT ?::" + text[0])) {
        PGobject value = new PGobject();
        value.setType(text[0].replaceAll("\\(.*", ""));
        value.setValue(text[1]);
        for (int i = 0; i < 8; ++i) {
          get.setObject(1, value);
          ResultSet row = get.executeQuery();
          row.next();
          if (!text[1].equals(row.getString(1)))
            throw new SQLException(text[0] + ": " + row.getString(1) + " is not " + text[1]);
        }
      }
    }
    return true;
  }

  /** Objects that the driver sends and reads as bytes. */
  static boolean objects(Connection c) throws SQLException {
    Object[] values = {new PGpoint(1, -2.5), new PGbox(2, 2, 0, 0), new PGlseg(0, 0, 1, 1),
        new PGcircle(0.5, 0, 2), new PGpolygon("((0,0),(1,1),(2,0))"),
        new PGpath("[(0,0),(1,1)]"),
        java.util.UUID.fromString("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")};
    for (Object value : values) {
      try (PreparedStatement get = c.prepareStatement("SELECT ?")) {
        for (int i = 0; i < 8; ++i) {
          get.setObject(1, value);
          ResultSet row = get.executeQuery();
          row.next();
          if (!value.equals(row.getObject(1)))
            throw new SQLException(row.getObject(1) + " is not " + value);
        }
      }
    }
    return money(c);
  }

  /** Which the driver gives as double, below a thousand: it does not know the comma. */
  static boolean money(Connection c) throws SQLException {
    try (PreparedStatement get = c.prepareStatement("SELECT ?")) {
      for (int i = 0; i < 8; ++i) {
        get.setObject(1, new org.postgresql.util.PGmoney(-34.5));
        ResultSet row = get.executeQuery();
        row.next();
        if (row.getDouble(1) != -34.5) throw new SQLException(row.getString(1) + " is not -34.5");
      }
    }
    return true;
  }

  static boolean arrays(Connection c) throws SQLException {
    Object[][] lists = {{"mood_jdbc", "happy", "sad"}, {"int4range", "[1,2)", "empty"},
        {"pair_jdbc", "(1,a)", "(2,\"b c\")"}, {"jsonb", "{\"a\": 1}", "[]"}, {"varbit", "101", "0"}};
    for (Object[] list : lists) {
      String[] elements = Arrays.copyOfRange(list, 1, list.length, String[].class);
      try (PreparedStatement get = c.prepareStatement("SELECT ?::" + list[0] + "[]")) {
        for (int i = 0; i < 8; ++i) {
          get.setArray(1, c.createArrayOf((String) list[0], elements));
          ResultSet row = get.executeQuery();
          row.next();
          Object[] got = (Object[]) row.getArray(1).getArray();
          for (int at = 0; at < elements.length; ++at) {
            if (!elements[at].equals(got[at].toString()))
              throw new SQLException(list[0] + "[]: " + got[at] + " is not " + elements[at]);
          }
        }
      }
    }
    return true;
  }

  static boolean xml(Connection c) throws SQLException {
    SQLXML document = c.createSQLXML();
    document.setString("<a b=\"1\">c</a>");
    try (PreparedStatement get = c.prepareStatement("SELECT ?::xml, xpath('/a/@b', ?)")) {
      get.setSQLXML(1, document);
      get.setSQLXML(2, document);
      ResultSet row = get.executeQuery();
      return row.next() && row.getSQLXML(1).getString().equals("<a b=\"1\">c</a>")
          && row.getString(2).equals("{1}");
    }
  }
}
