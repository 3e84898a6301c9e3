import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.StringJoiner;
import software.amazon.kinesis.retrieval.AggregatorUtil;
import software.amazon.kinesis.retrieval.KinesisClientRecord;

/**
 * Reads a Kinesis record from each line: the partition key and the data in base64, and the range of the shard. For
 * each record, writes a line with the user records that the Kinesis Client Library returns. A user record has its
 * partition key in base64, its explicit hash key, and its data in base64.
 */
public class Decode {
  public static void main(String[] arguments) throws Exception {
    var decoder = new AggregatorUtil();
    var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      String[] fields = line.split(" ", -1);
      var record = KinesisClientRecord.builder()
          .partitionKey(new String(Base64.getDecoder().decode(fields[0]), StandardCharsets.UTF_8))
          .data(ByteBuffer.wrap(Base64.getDecoder().decode(fields[1])))
          .sequenceNumber("1")
          .build();
      var userRecords = new StringJoiner(" ");
      for (var each : decoder.deaggregate(List.of(record), new BigInteger(fields[2]), new BigInteger(fields[3]))) {
        byte[] data = new byte[each.data().remaining()];
        each.data().get(data);
        String hashKey = each.explicitHashKey() == null ? "" : each.explicitHashKey();
        byte[] partitionKey = each.partitionKey().getBytes(StandardCharsets.UTF_8);
        userRecords.add(base64(partitionKey) + ":" + hashKey + ":" + base64(data));
      }
      System.out.println(userRecords);
    }
  }

  private static String base64(byte[] bytes) {
    return Base64.getEncoder().encodeToString(bytes);
  }
}
