import { isWhole } from '../kernel/checks';
import { CorruptRegistryError } from './registry-errors';
import type { RegistryChange } from './registry-state';
import type { RegistryEntry, RegistryHead, RegistryStore } from './registry-store';

/**
 * The number of commit ids that the head contains. It is much larger than the number of commits between a lost response and the
 * next read of the head.
 */
const MAX_COMMIT_IDS = 64;

/** The stored head, or a head of version 0 before the first commit. */
export async function readHead(store: RegistryStore): Promise<RegistryHead> {
  const head = await store.readHead();
  return head === undefined ? { version: 0, recent: [] } : checkedHead(head);
}

/**
 * Returns the head.
 *
 * @throws CorruptRegistryError if the head does not have the format of a ledger
 */
export function checkedHead(head: RegistryHead): RegistryHead {
  const { version, recent, commits } = head;
  if (!isWhole(version, 1)) throw new CorruptRegistryError('the version of its head');
  if (!Array.isArray(recent)) throw new CorruptRegistryError('the history in its head');
  const isAscending = recent.every((entry, index) => index === 0 || recent[index - 1]!.version <= entry.version);
  // A head has at least one entry, because every commit changes at least one owner.
  if (!isAscending || recent.at(-1)?.version !== version) throw new CorruptRegistryError('the history in its head');
  if (commits !== undefined && (commits.length === 0 || commits.length > version))
    throw new CorruptRegistryError('the commits in its head');
  return head;
}

/** The id of the commit of a version; undefined if the head does not contain the id. */
export function idOfCommit({ version, commits = [] }: RegistryHead, commitVersion: number): string | undefined {
  return commits[commits.length - 1 - (version - commitVersion)];
}

/** The head after a commit. It contains the entries of the commit, and as many earlier entries as fit. */
export function headAfter(
  head: RegistryHead,
  id: string,
  changes: readonly RegistryChange[],
  mostEntries: number,
): RegistryHead {
  const { version: before, recent, commits = [] } = head;
  const version = before + 1;
  const own = changes.map((change) => ({ ...change, version }));
  return {
    // A store may keep further fields in the head.
    ...head,
    version,
    recent: latestCommits([...recent, ...own], mostEntries),
    commits: [...commits, id].slice(-MAX_COMMIT_IDS),
  };
}

/** Whether the head contains all commits since a version. A head with an earlier version comes from a restored table. */
export function hasAllSince(head: RegistryHead, version: number): boolean {
  if (head.version <= version) return head.version === version;
  return head.recent[0]!.version <= version + 1;
}

/** The entries of the latest commits: as many whole commits as fit into `most` entries. */
function latestCommits(all: readonly RegistryEntry[], most: number): RegistryEntry[] {
  const cut = all[all.length - most - 1]?.version ?? 0;
  return all.filter(({ version }) => version > cut);
}

export function latest(entries: readonly RegistryEntry[]): RegistryEntry[] {
  const byOwner = new Map<string, RegistryEntry>();
  for (const entry of entries) {
    if (entry.version >= (byOwner.get(entry.owner)?.version ?? 0)) byOwner.set(entry.owner, entry);
  }
  return [...byOwner.values()];
}
