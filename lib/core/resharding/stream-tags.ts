import { IncompleteAnswerError } from '../kernel/incomplete-answer-error';
import { isNotReady } from './refusals';
import type { ReshardClient } from './reshard-client';

export type TagClient = Pick<ReshardClient, 'listTagsForStream' | 'addTagsToStream'>;

export async function readTags(
  client: Pick<TagClient, 'listTagsForStream'>,
  streamName: string,
): Promise<ReadonlyMap<string, string | undefined>> {
  const tags = new Map<string, string | undefined>();
  let start: string | undefined;
  do {
    const response = await client.listTagsForStream({
      StreamName: streamName,
      ...(start !== undefined && { ExclusiveStartTagKey: start }),
    });
    const { Tags, HasMoreTags }: Awaited<ReturnType<TagClient['listTagsForStream']>> = Object(response);
    const before = tags.size;
    for (const { Key, Value } of Array.isArray(Tags) ? Tags : []) tags.set(Key!, Value);
    // If a page announces more tags but has no new tags, this loop would request the same page for ever.
    if (!Array.isArray(Tags) || (HasMoreTags && tags.size === before)) {
      throw new IncompleteAnswerError('ListTagsForStream', 'new tags on each page');
    }
    start = HasMoreTags ? Tags.at(-1)?.Key : undefined;
  } while (start !== undefined);
  return tags;
}

/** Sets a tag. Returns `false` if the stream is busy, because a busy stream accepts no tags. */
export async function writeTag(client: TagClient, streamName: string, key: string, value: string): Promise<boolean> {
  try {
    await client.addTagsToStream({ StreamName: streamName, Tags: { [key]: value } });
    return true;
  } catch (error) {
    if (!isNotReady(error)) throw error;
    return false;
  }
}

/**
 * A time in UTC for a tag, in whole minutes, such as `2026-11-21T0815Z`. The text has no colons, because the API does not allow
 * colons in tags.
 *
 * The API allows letters, digits, white space and `_ . / = + - % @` in the keys and values of tags.
 *
 * @see https://docs.aws.amazon.com/kinesis/latest/APIReference/API_AddTagsToStream.html
 */
export function tagMinute(time: number): string {
  return `${isoWithoutColons(time).slice(0, 'YYYY-MM-DDTHHMM'.length)}Z`;
}

export function tagMillisecond(time: number): string {
  return isoWithoutColons(time);
}

/** Parses a text of `tagMinute` or `tagMillisecond`. Returns milliseconds since 1970, or NaN for another text. */
export function parseTagTime(text: string): number {
  return Date.parse(
    text.replace(/T(\d\d)(\d\d)(\d\d\.\d{3})?Z$/, (_, hour, minute, rest) => `T${hour}:${minute}:${rest ?? '00'}Z`),
  );
}

function isoWithoutColons(time: number): string {
  return new Date(time).toISOString().replaceAll(':', '');
}
