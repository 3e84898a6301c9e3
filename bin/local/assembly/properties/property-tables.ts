import * as cassandra from './cassandra';
import * as dynamodb from './dynamodb';
import * as events from './events';
import * as kinesis from './kinesis';
import * as lambda from './lambda';
import type { PropertyTable } from './property-table';

/** The property table of each resource type that a local run reads. */
export const PROPERTY_TABLES: Readonly<Record<string, PropertyTable>> = {
  'AWS::Cassandra::Keyspace': cassandra.KEYSPACE,
  'AWS::Cassandra::Table': cassandra.TABLE,
  'AWS::DynamoDB::GlobalTable': dynamodb.GLOBAL_TABLE,
  'AWS::DynamoDB::Table': dynamodb.TABLE,
  'AWS::Events::Rule': events.RULE,
  'AWS::Kinesis::Stream': kinesis.STREAM,
  'AWS::Kinesis::StreamConsumer': kinesis.STREAM_CONSUMER,
  'AWS::Lambda::Alias': lambda.ALIAS,
  'AWS::Lambda::EventSourceMapping': lambda.EVENT_SOURCE_MAPPING,
  'AWS::Lambda::Function': lambda.FUNCTION,
  'AWS::Lambda::Version': lambda.VERSION,
};
