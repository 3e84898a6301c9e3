import com.datastax.oss.driver.api.core.CqlSession;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Writes rows as a Java application does: java WriteRows PORT. Each line of the input is JSON with a configuration and
 * a row.
 */
@SuppressWarnings("unchecked")
class WriteRows {
  public static void main(String[] arguments) throws Exception {
    var json = new ObjectMapper();
    var address = new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0]));
    var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try (var session = CqlSession.builder().addContactPoint(address).withLocalDatacenter("datacenter1").build()) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        Map<String, Object> written = json.readValue(line, Map.class);
        var config = (Map<String, Object>) written.get("config");
        write(session, config, NativeRows.of(config, (Map<String, String>) written.get("row")));
      }
    }
  }

  private static void write(CqlSession session, Map<String, Object> config, Map<String, Object> given) {
    var row = new LinkedHashMap<>(given);
    row.putAll(ShardedRowWriter.shardColumns(config, given));
    String names = row.keySet().stream().map(name -> '"' + name + '"').collect(Collectors.joining(", "));
    String marks = row.keySet().stream().map(name -> "?").collect(Collectors.joining(", "));
    String table = "\"%s\".\"%s\"".formatted(config.get("keyspaceName"), config.get("tableName"));
    var statement = session.prepare("INSERT INTO %s (%s) VALUES (%s)".formatted(table, names, marks));
    session.execute(statement.bind(row.values().toArray()));
  }
}
