import type { RepositoryEvent } from './repositories';

/**
 * What the consumer of "Guaranteeing Order with Kinesis Bulk Puts" keeps, in Redis or elsewhere: the repositories that there are, each
 * with its commits. It is right if the events of each repository come in their order, whatever other repositories do in between: so
 * all of them, commits too, have the repository as their partition key. Apply each record once, as an `OrderedConsumer` does.
 */
export class RepositoryCache {
  private readonly repositories = new Map<string, string[]>();
  /** Commits of a repository that is not there: it is destroyed, or not yet created. */
  readonly commitsOfNone: string[] = [];

  apply({ action, repository, commit }: RepositoryEvent): void {
    if (action === 'create') this.repositories.set(repository, []);
    else if (action === 'destroy') this.repositories.delete(repository);
    else if (action === 'commit') (this.repositories.get(repository) ?? this.commitsOfNone).push(commit!);
  }

  /** The commits of a repository, the oldest first. Undefined for one that is not there. */
  commitsOf(repository: string): readonly string[] | undefined {
    return this.repositories.get(repository);
  }

  names(): string[] {
    return [...this.repositories.keys()].sort();
  }
}
