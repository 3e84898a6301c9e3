import type { RepositoryEvent } from './repositories';

/**
 * The cache of the consumer in "Guaranteeing Order with Kinesis Bulk Puts", in Redis or elsewhere: the existing repositories and their
 * commits. The events of one repository must arrive in order, so all events have the repository as their partition key, also commits.
 * Apply each record once, as an `OrderedConsumer` does.
 */
export class RepositoryCache {
  private readonly repositories = new Map<string, string[]>();
  /** Commits of a repository that does not exist yet or any longer. */
  readonly commitsOfNone: string[] = [];

  apply({ action, repository, commit }: RepositoryEvent): void {
    if (action === 'create') this.repositories.set(repository, []);
    else if (action === 'destroy') this.repositories.delete(repository);
    else if (action === 'commit') (this.repositories.get(repository) ?? this.commitsOfNone).push(commit!);
  }

  /** The commits of a repository, with the oldest first. Undefined if the repository does not exist. */
  commitsOf(repository: string): readonly string[] | undefined {
    return this.repositories.get(repository);
  }

  names(): string[] {
    return [...this.repositories.keys()].sort();
  }
}
