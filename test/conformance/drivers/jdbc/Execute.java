import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.InputStreamReader;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.postgresql.util.PGobject;

/**
 * Executes statements with JDBC, as a program of a user does. Reads JSON with the URL of the database, the mode, and
 * the statements with their parameters. The mode ends with connection properties. Writes a JSON array with null or an
 * error for each statement.
 */
public class Execute {
  record Parameter(String kind, JsonElement value) {}

  record Failure(String code, String message) {}

  static final Map<String, String> ARRAYS =
      Map.of("bytes", "bytea", "int", "int4", "bigint", "int8", "decimal", "numeric");

  public static void main(String[] arguments) throws Exception {
    var gson = new Gson();
    var run = gson.fromJson(new InputStreamReader(System.in, StandardCharsets.UTF_8), JsonObject.class);
    var properties = run.get("mode").getAsString().replaceFirst("^JDBC", "");
    var outcomes = new ArrayList<Failure>();
    try (var connection = DriverManager.getConnection(run.get("url").getAsString() + properties, arguments[0], arguments[1])) {
      for (var each : run.getAsJsonArray("statements")) {
        var statement = each.getAsJsonObject();
        var parameters = new ArrayList<Parameter>();
        for (var parameter : statement.getAsJsonArray("parameters")) parameters.add(gson.fromJson(parameter, Parameter.class));
        outcomes.add(execute(connection, statement.get("sql").getAsString(), parameters));
      }
    }
    System.out.println(gson.toJson(outcomes));
  }

  static Failure execute(Connection connection, String sql, List<Parameter> parameters) {
    try (var statement = connection.prepareStatement(sql.replaceAll("\\$\\d+", "?"))) {
      for (int n = 0; n < parameters.size(); n++) set(connection, statement, n + 1, parameters.get(n));
      statement.execute();
      return null;
    } catch (SQLException error) {
      return new Failure(error.getSQLState(), error.getMessage());
    }
  }

  static void set(Connection connection, PreparedStatement statement, int n, Parameter parameter) throws SQLException {
    var kind = parameter.kind();
    if (parameter.value() instanceof JsonArray array) {
      // The driver can encode a byte[][], but not an Object[] of byte[].
      var values = array.asList().stream().map(each -> element(kind, each))
          .toArray(size -> kind.equals("bytes") ? new byte[size][] : new Object[size]);
      statement.setArray(n, connection.createArrayOf(ARRAYS.getOrDefault(kind, kind), values));
    } else if (parameter.value() == null || parameter.value().isJsonNull()) {
      statement.setNull(n, kind.equals("text") ? Types.VARCHAR : Types.OTHER);
    } else {
      var text = parameter.value().getAsString();
      switch (kind) {
        case "text" -> statement.setString(n, text);
        case "bytes" -> statement.setBytes(n, Base64.getDecoder().decode(text));
        case "uuid" -> statement.setObject(n, UUID.fromString(text));
        case "int" -> statement.setInt(n, Integer.parseInt(text));
        case "bigint" -> statement.setLong(n, Long.parseLong(text));
        case "decimal" -> statement.setBigDecimal(n, new BigDecimal(text));
        default -> {
          var object = new PGobject();
          object.setType(kind);
          object.setValue(text);
          statement.setObject(n, object);
        }
      }
    }
  }

  static Object element(String kind, JsonElement value) {
    if (value.isJsonNull()) return null;
    var text = value.getAsString();
    return switch (kind) {
      case "bytes" -> Base64.getDecoder().decode(text);
      case "uuid" -> UUID.fromString(text);
      case "int" -> Integer.valueOf(text);
      case "bigint" -> Long.valueOf(text);
      case "decimal" -> new BigDecimal(text);
      default -> text;
    };
  }
}
