import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Converts the texts of the test vectors to rows with the types of the Java driver. */
@SuppressWarnings("unchecked")
final class NativeRows {
  private NativeRows() {}

  static Map<String, Object> of(Map<String, Object> config, Map<String, String> row) {
    var given = new LinkedHashMap<String, Object>();
    for (String part : List.of("partitionKey", "clusteringColumns")) {
      for (var column : (List<Map<String, String>>) config.get(part)) {
        String text = row.get(column.get("name"));
        if (text != null) given.put(column.get("name"), valueOf(column.get("type"), text));
      }
    }
    return given;
  }

  private static Object valueOf(String type, String text) {
    return switch (type) {
      case "bigint" -> Long.valueOf(text);
      case "blob" -> ByteBuffer.wrap(HexFormat.of().parseHex(text.substring(2)));
      case "boolean" -> Boolean.valueOf(text);
      case "date" -> LocalDate.parse(text);
      case "decimal" -> new BigDecimal(text);
      case "double" -> Double.valueOf(text);
      case "float" -> Float.valueOf(text);
      case "int" -> Integer.valueOf(text);
      case "smallint" -> Short.valueOf(text);
      case "time" -> LocalTime.parse(text);
      case "timestamp" -> Instant.parse(text);
      case "timeuuid", "uuid" -> UUID.fromString(text);
      case "tinyint" -> Byte.valueOf(text);
      case "varint" -> new BigInteger(text);
      default -> text;
    };
  }
}
