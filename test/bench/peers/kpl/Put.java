import com.google.common.util.concurrent.FutureCallback;
import com.google.common.util.concurrent.Futures;
import com.google.common.util.concurrent.MoreExecutors;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.kinesis.producer.KinesisProducer;
import software.amazon.kinesis.producer.KinesisProducerConfiguration;
import software.amazon.kinesis.producer.UserRecordResult;

/**
 * Runs the KPL with its default settings, but without metrics. The arguments are the port of the endpoint, and a folder
 * for the native daemon.
 */
public class Put {
  static final int KEYS = 1_000;
  static final int RECORD_BYTES = 100;
  /**
   * The maximum number of outstanding records. The KPL has no limit, so its README tells callers to check the number of
   * outstanding records.
   */
  static final int MAX_OUTSTANDING = 10_000;

  public static void main(String[] args) throws Exception {
    long port = Long.parseLong(args[0]);
    var credentials = StaticCredentialsProvider.create(AwsBasicCredentials.create("bench", "bench"));
    var producer = new KinesisProducer(new KinesisProducerConfiguration()
        .setCredentialsProvider(credentials).setMetricsCredentialsProvider(credentials)
        .setRegion("us-east-1").setKinesisEndpoint("127.0.0.1").setKinesisPort(port)
        .setStsEndpoint("127.0.0.1").setStsPort(port)
        .setCloudwatchEndpoint("127.0.0.1").setCloudwatchPort(port)
        .setVerifyCertificate(false).setMetricsLevel("none").setLogLevel("error").setTempDirectory(args[1]));
    var input = new BufferedReader(new InputStreamReader(System.in));
    for (String line; (line = input.readLine()) != null; ) {
      String[] order = line.split(" ");
      put(producer, Integer.parseInt(order[0]), Integer.parseInt(order[1]));
      System.out.println("done");
    }
    producer.destroy();
    System.exit(0);
  }

  static void put(KinesisProducer producer, int first, int count) throws Exception {
    var left = new CountDownLatch(count);
    var failed = new AtomicInteger();
    var callback = new FutureCallback<UserRecordResult>() {
      @Override public void onSuccess(UserRecordResult result) {
        left.countDown();
      }

      @Override public void onFailure(Throwable error) {
        failed.incrementAndGet();
        left.countDown();
      }
    };
    String filler = "x".repeat(RECORD_BYTES - 10);
    for (int number = first; number < first + count; number++) {
      while (producer.getOutstandingRecordsCount() >= MAX_OUTSTANDING) Thread.sleep(1);
      var data = ByteBuffer.wrap((String.format("%010d", number) + filler).getBytes(StandardCharsets.UTF_8));
      var outcome = producer.addUserRecord("Events", "key-" + number % KEYS, data);
      Futures.addCallback(outcome, callback, MoreExecutors.directExecutor());
    }
    producer.flush();
    left.await();
    if (failed.get() > 0) System.err.println(failed + " records failed");
  }
}
