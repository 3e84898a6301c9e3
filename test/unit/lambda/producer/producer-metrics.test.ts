import { functionMetrics } from '../../../../lambda/embedded-metrics';
import { addProducerMetrics, publishFailures } from '../../../../lambda/producer/producer-metrics';
import { noStatistics } from '../../../../lib/core/producer/producer-statistics';

/** The metrics that CloudWatch reads from the log. */
function published(statistics: Partial<ReturnType<typeof noStatistics>>, failed: number) {
  process.env.AWS_LAMBDA_FUNCTION_NAME = 'producer';
  const metrics = functionMetrics();
  addProducerMetrics(metrics, { ...noStatistics(), ...statistics }, failed);
  return metrics.serializeMetrics();
}

describe('the metrics of the producer function', () => {
  test('have the names that the Kinesis Producer Library uses, and the function name as their dimension', () => {
    const { _aws, ...values } = published(
      {
        userRecordsReceived: 10,
        userRecordsPut: 8,
        userRecordsDataPut: 800,
        userRecordsFailed: 1,
        kinesisRecordsPut: 4,
        kinesisRecordsDataPut: 900,
        allErrors: 3,
        retries: 2,
        requests: 2,
        requestRecords: 5,
        requestTimeMs: 50,
      },
      2,
    );
    expect(values).toEqual({
      FunctionName: 'producer',
      UserRecordsReceived: 10,
      UserRecordsPut: 8,
      UserRecordsDataPut: 800,
      UserRecordsFailed: 2,
      KinesisRecordsPut: 4,
      KinesisRecordsDataPut: 900,
      AllErrors: 3,
      RetriesPerRecord: 0.25,
      RequestTime: 25,
      UserRecordsPerKinesisRecord: 2,
      KinesisRecordsPerPutRecordsRequest: 2.5,
    });
    expect(_aws.CloudWatchMetrics).toMatchObject([{ Namespace: 'EvenShards', Dimensions: [['FunctionName']] }]);
    expect(_aws.CloudWatchMetrics[0]!.Metrics).toContainEqual({ Name: 'UserRecordsDataPut', Unit: 'Bytes' });
    expect(_aws.CloudWatchMetrics[0]!.Metrics).toContainEqual({ Name: 'RequestTime', Unit: 'Milliseconds' });
  });

  test('contain no mean if there are no records', () => {
    const values = published({ userRecordsReceived: 1, userRecordsFailed: 1 }, 1);
    expect(values).toMatchObject({ UserRecordsPut: 0, AllErrors: 0 });
    expect(values).not.toHaveProperty('RetriesPerRecord');
    expect(values).not.toHaveProperty('RequestTime');
    expect(values).not.toHaveProperty('UserRecordsPerKinesisRecord');
  });

  test('count failed records by reason', () => {
    const written: string[] = [];
    const write = jest.spyOn(process.stdout, 'write').mockImplementation((line) => written.push(String(line)) > 0);
    publishFailures({ RECORD_REJECTED: 2, OUT_OF_TIME: 1 });
    write.mockRestore();
    expect(written.map((line) => JSON.parse(line))).toMatchObject([
      { FunctionName: 'producer', Reason: 'RECORD_REJECTED', UserRecordsFailedByReason: 2 },
      { FunctionName: 'producer', Reason: 'OUT_OF_TIME', UserRecordsFailedByReason: 1 },
    ]);
  });
});
