import type { RepositoryEvent } from './repositories';

/**
 * The cache of the consumer in "Guaranteeing Order with Kinesis Bulk Puts". It contains the existing repositories and
 * their commits, and could also be in Redis. The events of one repository must arrive in order, so all events,
 * including commits, have the repository as their partition key. Call `apply` once for each record, as an
 * `OrderedConsumer` does.
 */
export class RepositoryCache {
  private readonly repositories = new Map<string, string[]>();
  /** Commits of repositories that do not exist: they are not created yet, or are already destroyed. */
  readonly commitsOfNone: string[] = [];

  apply({ action, repository, commit }: RepositoryEvent): void {
    if (action === 'create') this.repositories.set(repository, []);
    else if (action === 'destroy') this.repositories.delete(repository);
    else if (action === 'commit') (this.repositories.get(repository) ?? this.commitsOfNone).push(commit!);
  }

  /** The commits of a repository, the oldest commit first. Undefined if the repository does not exist. */
  commitsOf(repository: string): readonly string[] | undefined {
    return this.repositories.get(repository);
  }

  names(): string[] {
    return [...this.repositories.keys()].sort();
  }
}
