import { IncompleteAnswerError } from './incomplete-answer-error';

/** The pages of one answer. Each must lead to a page that was not read yet: pages that lead back would be read for ever. */
export class OnwardPages {
  private readonly seen = new Set<string>();

  /** @param operation the operation of the service that is asked for pages, such as `Query` */
  constructor(private readonly operation: string) {}

  /**
   * What names the page behind this one, such as a key or a token; undefined if this is the last one.
   *
   * @throws IncompleteAnswerError if that page was read before
   */
  next<T>(start: T | null | undefined): T | undefined {
    if (start === undefined || start === null) return undefined;
    const name = JSON.stringify(start);
    if (this.seen.has(name)) throw new IncompleteAnswerError(this.operation, 'a page that leads on');
    this.seen.add(name);
    return start;
  }
}
