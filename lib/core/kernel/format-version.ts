import { EvenShardsError } from './errors';

/** The name of a stored format. docs/formats.md describes each format. */
export type StoredFormat =
  | 'cursor'
  | 'resume point'
  | 'index configuration'
  | 'Keyspaces configuration'
  | 'parking marks'
  | 'parked key'
  | 'parked records'
  | 'move'
  | 'registry head'
  | 'registry entry'
  | 'shard count'
  | 'write report'
  | 'record sequence'
  | 'fence'
  | 'deployment mark'
  | 'update history'
  | 'sharding metadata'
  | 'keeper state'
  | 'named item'
  | 'outbox schema';

/** The highest version that this release reads, if it is not 1. */
const HIGHEST_VERSIONS: { readonly [format in StoredFormat]?: number } = {
  'index configuration': 2,
  'outbox schema': 3,
};

/** The highest version of a format that this release reads. */
export function highestVersion(format: StoredFormat): number {
  return HIGHEST_VERSIONS[format] ?? 1;
}

/** A version of a format, and the first release of this package that reads this version: `2@0.3.0`, or only `2`. */
const MARK = /^(\d{1,6})(?:@(\d{1,6}\.\d{1,6}\.\d{1,6}))?$/;

/** The name of the attribute that contains the format mark of an item. An item without this attribute has version 1. */
const FORMAT_ATTRIBUTE = 'format';

/** Stored data has a version of its format that a later release wrote and that this release cannot read. */
export class NewerFormatError extends EvenShardsError {
  constructor(
    /** The name of the format, as in docs/formats.md. */
    readonly format: StoredFormat,
    /** The version of the format. Undefined if it is unknown. */
    readonly version: number | undefined,
    /** The first release of this package that reads this version. Undefined if it is unknown. */
    readonly release: string | undefined,
  ) {
    const readable = `this release reads versions up to ${highestVersion(format)}`;
    const update = `update cdk-even-shards to ${release === undefined ? 'a later release' : `${release} or later`}`;
    super('NEWER_FORMAT', `${format} has format version ${version ?? 'unknown'}, and ${readable}; ${update}`);
  }
}

/**
 * Checks the mark of stored data. The mark is absent for version 1.
 *
 * @throws NewerFormatError if this release cannot read the version
 */
export function checkFormat(format: StoredFormat, mark: unknown): void {
  if (mark === undefined) return;
  const [, version, release] = MARK.exec(String(mark)) ?? [];
  if (version !== undefined && Number(version) <= highestVersion(format)) return;
  throw new NewerFormatError(format, version === undefined ? undefined : Number(version), release);
}

/**
 * Checks the field `version` of a configuration, if the field is a number or a mark.
 *
 * @throws NewerFormatError if this release cannot read the version
 */
export function checkConfigFormat(format: StoredFormat, version: unknown): void {
  if (MARK.test(String(version))) checkFormat(format, version);
}

/**
 * Checks the mark of a DynamoDB item.
 *
 * @throws NewerFormatError if this release cannot read the version of the item
 */
export function checkItemFormat(format: StoredFormat, item: object): void {
  const { [FORMAT_ATTRIBUTE]: mark } = item as Record<string, unknown>;
  if (mark !== undefined) checkFormat(format, Object(mark).S ?? 'unknown');
}

/**
 * A mark at the start of a text. `@` separates the mark from the rest of the text, because base64url text has no `@`, and tags,
 * paths and query strings may contain it.
 */
const MARKED_TEXT = /^(\d{1,6}@[\d.]{1,20})@/;

/**
 * Checks the mark at the start of a text, such as `2@0.3.0@`. Without a mark, the text has version 1.
 *
 * @throws NewerFormatError if this release cannot read the version of the text
 */
export function checkTextFormat(format: StoredFormat, text: unknown): void {
  if (typeof text === 'string') checkFormat(format, MARKED_TEXT.exec(text)?.[1]);
}
