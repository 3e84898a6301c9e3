import { LRUCache } from 'lru-cache';
import { ResponseCache } from '../../lib/core/sharded-index/client/response-cache';

/**
 * The maximum share of the function's memory for cached pages. The function needs the rest of its memory to read
 * pages.
 */
const SHARE_OF_MEMORY = 0.25;

/** A cache of pages, with the event of a page as its key. Pages with missing shards are not cached. */
export function pageCache<Page extends { missingShards?: number[] }>(
  ttlMs: number,
  memoryMib: number,
): ResponseCache<Page> {
  const maxSize = Math.floor(SHARE_OF_MEMORY * memoryMib * 2 ** 20);
  return new ResponseCache(
    new LRUCache<string, string>({ maxSize, ttl: ttlMs }),
    (page) => (page.missingShards === undefined ? JSON.stringify(page) : undefined),
    (text) => JSON.parse(text),
  );
}
