import type { IConstruct } from 'constructs';

/** How an error names a property of a construct: `EvenShards/Events: shardCount`. */
export function constructField(construct: IConstruct, property: string): string {
  return `${construct.node.path}: ${property}`;
}
