import { LRUCache } from 'lru-cache';
import { ResponseCache } from '../../lib/core/sharded-index/client/response-cache';

/** A page is kept only up to this share of the memory of the function: reading a page takes memory, too. */
const SHARE_OF_MEMORY = 0.25;

/** Pages by their events. A page from which a shard is missing is not kept. */
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
