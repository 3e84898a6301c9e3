/**
 * `cdk-even-shards/producer`: writes records to a Kinesis stream in bulk and keeps the order of every partition key.
 *
 * @module producer
 */

export type {
  SdkClient,
  SdkHttpResponse,
  SdkRequestHandler,
  SdkRequestOptions,
} from '../aws-client/light-request';
export type { SdkMiddlewareStack } from '../aws-client/routes';
export type { SigningCredentials } from '../aws-client/signature';
export type { Clock } from '../kernel/clock';
export { EvenShardsError, InvalidArgumentError, InvalidHashKeyError } from '../kernel/errors';
export { bucketHashKey } from '../stream-format/hash-buckets';
export type { RecordSequence } from '../stream-format/record-sequence';
export { lightPutClient, type SdkPutClient } from './light-put-client';
export { OrderedProducer } from './ordered-producer';
export type { PutReceipt } from './pending-record';
export {
  EarlierRecordFailedError,
  InvalidPartitionKeyError,
  ProducerAbortedError,
  ProducerClosedError,
  RecordExpiredError,
  RecordRejectedError,
  RecordTooLargeError,
  StreamDistributionError,
} from './producer-errors';
export type { OrderedProducerOptions } from './producer-options';
export type { ProducerRecord } from './producer-record';
export type { ProducerStatistics } from './producer-statistics';
export type { PutObserver, PutSummary } from './put-all';
export type {
  DescribeStreamSummaryOutput,
  ListShardsInput,
  ListShardsOutput,
  PutRecordInput,
  PutRecordOutput,
  PutRecordsClient,
  PutRecordsInput,
  PutRecordsOutput,
  PutRecordsRequestEntry,
  PutRecordsResultEntry,
  RequestOptions,
  ShardDescription,
} from './put-records-client';
