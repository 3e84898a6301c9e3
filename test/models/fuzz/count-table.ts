type Item = Record<string, { S?: string; N?: string }>;

interface CountQuery {
  readonly ExpressionAttributeValues: Item;
}

interface CountPut {
  readonly Item: Item;
  readonly ConditionExpression: string;
  readonly ExpressionAttributeNames: Record<string, string>;
  readonly ExpressionAttributeValues?: Item;
}

/** The condition of a write failed. */
export class ConditionFailed extends Error {
  override readonly name = 'ConditionalCheckFailedException';
}

/** The table of shard counts, limited to the requests of this library. It stores items unchanged. */
export class CountTable {
  readonly items: Item[] = [];

  /** Supports two key conditions: one value, or all values from this value on. */
  query({ ExpressionAttributeValues: values }: CountQuery): { Items: Item[]; Count: number } {
    const { ':index': index, ':value': value, ':from': from } = values;
    const Items = this.items.filter((item) => {
      const [ofIndex, ofValue] = keyOf(item);
      if (ofIndex !== index?.S || (value !== undefined && ofValue !== value.S)) return false;
      // Leaves out damaged items whose value is not a text. DynamoDB would reject such an item.
      return from === undefined || (typeof ofValue === 'string' && ofValue >= from.S!);
    });
    return { Items: structuredClone(Items), Count: Items.length };
  }

  /** Writes the item if it does not exist, or if its attribute has the value in the condition. */
  putItem(input: CountPut): object {
    const key = JSON.stringify(keyOf(input.Item));
    const at = this.items.findIndex((other) => JSON.stringify(keyOf(other)) === key);
    if (!isMet(this.items[at], input)) throw new ConditionFailed('The conditional request failed');
    this.items.splice(at < 0 ? this.items.length : at, 1, input.Item);
    return {};
  }
}

function keyOf(item: Item): [index: unknown, value: unknown] {
  const { index, value } = Object(item) as Item;
  return [index?.S, value?.S];
}

function isMet(stored: Item | undefined, input: CountPut): boolean {
  const { ConditionExpression: condition, ExpressionAttributeNames: names } = input;
  const [attribute] = Object.values(names);
  const [expected] = Object.values(input.ExpressionAttributeValues ?? {});
  const [now, then] = [stored?.[attribute!], expected].map((value) => value?.S ?? value?.N);
  if (now === undefined) return condition.includes('attribute_not_exists');
  return condition.includes(' = ') ? now === then : condition.includes(' < ') && now < then!;
}
