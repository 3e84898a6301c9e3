/**
 * `cdk-even-shards/outbox`: relays events that applications write to Postgres in their own transactions.
 *
 * @module outbox
 */
export type { Clock } from '../kernel/clock';
export { EvenShardsError, InvalidArgumentError } from '../kernel/errors';
export { NewerFormatError, type StoredFormat } from '../kernel/format-version';
export type { CloudEventsEnvelope } from './envelope';
export {
  OutboxConnectionError,
  OutboxMigrationError,
  OutboxOwnerError,
  OutboxPermissionError,
  OutboxPoolerError,
  OutboxReadOnlyError,
  OutboxReplayError,
  OutboxRestoredError,
  OutboxRowError,
  OutboxRowSecurityError,
  OutboxSchemaError,
  OutboxSequenceError,
  OutboxTopicError,
} from './outbox-errors';
export { migrateOutbox, type OutboxMigration, outboxMigrations, outboxMigrationsOf } from './outbox-migrations';
export { OutboxRelay, type RelayRunOptions } from './outbox-relay';
export { OUTBOX_SCHEMA_VERSION } from './outbox-schema';
export type { OutboxVerification } from './outbox-verification';
export type { PostgresClient, PostgresPool, PostgresQuery } from './postgres-client';
export type { OutboxRelayOptions } from './relay-options';
export type { RelaySummary } from './relay-summary';
export type { ReplayOptions } from './replay';
export type { RecordSink } from './streams';
