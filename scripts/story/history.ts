import { readFileSync } from 'node:fs';
import type { RepositoryEvent } from '../../examples/repository-outbox/repositories';
import { RepositoryCache } from '../../examples/repository-outbox/repository-cache';

interface Commit {
  repository: string;
  commit: string;
  /** The time of the commit, in ISO 8601. */
  committedAt: string;
}

/** The commits of each existing repository, by its name. */
export type Cache = ReadonlyMap<string, readonly string[]>;

/** The events of the sample, and the correct result: the cache of a consumer that receives the events in order. */
export interface Story {
  readonly events: readonly RepositoryEvent[];
  /** The names of all repositories, including the destroyed repositories. */
  readonly repositories: readonly string[];
  readonly correct: Cache;
  /** The number of received events that came after a later event of their repository. */
  lateIn(received: readonly RepositoryEvent[]): number;
  /** The difference of the cached commits of a repository from the correct commits. Undefined if there is none. */
  faultOf(repository: string, cached: readonly string[] | undefined): string | undefined;
}

const COMMITS = 'examples/repository-outbox/commits.ndjson';

/** A repository is destroyed after this number of commits. `again` creates it again. */
const DESTROYED = [
  { repository: 'org-02/repo-1', commits: 30, again: false },
  { repository: 'org-02/repo-2', commits: 16, again: true },
];

/** Reads the sample of real commits. Each repository is created before its first commit. */
export function story(): Story {
  const commits: Commit[] = readFileSync(COMMITS, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const byTime = commits.sort((a, b) => (a.committedAt < b.committedAt ? -1 : a.committedAt > b.committedAt ? 1 : 0));
  const numbers = new Map<string, number>();
  const events = byTime.flatMap(({ repository, commit }): RepositoryEvent[] => {
    const number = (numbers.get(repository) ?? 0) + 1;
    numbers.set(repository, number);
    const destroyed = DESTROYED.find((each) => each.repository === repository && each.commits === number);
    return [
      ...(number === 1 ? [lifeEvent('create', repository)] : []),
      { action: 'commit', repository, commit },
      ...(destroyed ? [lifeEvent('destroy', repository)] : []),
      ...(destroyed?.again ? [lifeEvent('create', repository)] : []),
    ];
  });
  const correct = correctCache(events);
  return {
    events,
    repositories: [...numbers.keys()].sort(),
    correct,
    lateIn: (received) => lateIn(events, received),
    faultOf: (repository, cached) => faultOf(correct.get(repository), cached),
  };
}

function lifeEvent(action: 'create' | 'destroy', repository: string): RepositoryEvent {
  return { action, repository };
}

function correctCache(events: readonly RepositoryEvent[]): Cache {
  const cache = new RepositoryCache();
  for (const event of events) cache.apply(event);
  return new Map(cache.names().map((name) => [name, cache.commitsOf(name)!]));
}

function lateIn(events: readonly RepositoryEvent[], received: readonly RepositoryEvent[]): number {
  const nameOf = ({ action, repository, commit = '' }: RepositoryEvent) => `${repository} ${action} ${commit}`;
  const numbers = new Map<string, number[]>();
  for (const [number, event] of events.entries()) {
    numbers.set(nameOf(event), [...(numbers.get(nameOf(event)) ?? []), number]);
  }
  const latest = new Map<string, number>();
  let late = 0;
  for (const event of received) {
    const number = numbers.get(nameOf(event))!.shift()!;
    const before = latest.get(event.repository) ?? -1;
    if (number < before) late += 1;
    else latest.set(event.repository, number);
  }
  return late;
}

function faultOf(correct: readonly string[] | undefined, cached: readonly string[] | undefined): string | undefined {
  if (cached === undefined) return correct && 'the repository exists';
  if (correct === undefined) return 'the repository is destroyed';
  const missing = correct.filter((commit) => !cached.includes(commit)).length;
  const tooMany = cached.filter((commit) => !correct.includes(commit)).length;
  const faults = [
    ...(missing > 0 ? [`${missing} missing`] : []),
    ...(tooMany > 0 ? [`${tooMany} from before the repository was destroyed`] : []),
  ];
  if (faults.length > 0) return faults.join(', ');
  return cached.join() === correct.join() ? undefined : 'in another order';
}
