import { InvalidArgumentError } from '../../core/foundation/errors';

/**
 * How a `TableResharding` sees that somebody has written an item between its read and its move. DynamoDB has no version of an item: a
 * condition can compare what was read, but it does not see what was added.
 */
export class ItemVersion {
  /**
   * Every write of an item changes this attribute to a value that it has not had, such as the time of the change.
   *
   * Throws an error with the code `INVALID_ARGUMENT` unless the name is a text that is not empty.
   *
   * @param name the name of the attribute, which is no part of the table key
   */
  public static attribute(name: string): ItemVersion {
    if (typeof name === 'string' && name !== '') return new ItemVersion(name);
    throw new InvalidArgumentError('itemVersion.attribute', name, 'the name of an attribute');
  }

  /**
   * No update adds an attribute to an item without changing another: because writers put whole items, or because their updates only
   * change attributes that are there. Then comparing what was read is enough.
   */
  public static none(): ItemVersion {
    return new ItemVersion();
  }

  /** @internal */
  public readonly _attribute?: string;

  private constructor(attribute?: string) {
    if (attribute !== undefined) this._attribute = attribute;
  }
}
