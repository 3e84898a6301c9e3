import { isNotReady } from './refusals';
import type { ReshardClient } from './reshard-client';

export type TagClient = Pick<ReshardClient, 'listTagsForStream' | 'addTagsToStream'>;

/** All tags of a stream, over as many pages as they take. */
export async function readTags(
  client: Pick<TagClient, 'listTagsForStream'>,
  streamName: string,
): Promise<ReadonlyMap<string, string>> {
  const tags = new Map<string, string>();
  let start: string | undefined;
  do {
    const { Tags = [], HasMoreTags } = await client.listTagsForStream({
      StreamName: streamName,
      ...(start !== undefined && { ExclusiveStartTagKey: start }),
    });
    for (const { Key, Value } of Tags) tags.set(Key!, Value ?? '');
    start = HasMoreTags ? Tags.at(-1)?.Key : undefined;
  } while (start !== undefined);
  return tags;
}

/** Sets a tag; `false` if the stream is busy, for then it takes none. */
export async function writeTag(client: TagClient, streamName: string, key: string, value: string): Promise<boolean> {
  try {
    await client.addTagsToStream({ StreamName: streamName, Tags: { [key]: value } });
    return true;
  } catch (error) {
    if (!isNotReady(error)) throw error;
    return false;
  }
}
