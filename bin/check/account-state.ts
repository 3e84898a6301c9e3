import { ownResource, type Properties, type Resource, type Template } from '../../lib/cloudformation/template';
import { type Finding, finding } from '../../lib/deployment-check/finding';
import { type ResourceState, STREAM_TYPE, TABLE_TYPES } from '../deployed-stack/resource-state';

/**
 * Returns the deployed template with the real state of the account. Each table has the indexes that exist in the
 * account. If the deployment changes the shard count of a stream, the stream has the number of its open shards.
 */
export function withState(deployed: Template, synthesized: Template, states: readonly ResourceState[]): Template {
  const Resources: Record<string, Resource> = { ...deployed.Resources };
  for (const { logicalId, stream, table } of states) {
    const [before, next] = [ownResource(deployed, logicalId), ownResource(synthesized, logicalId)];
    if (before === undefined) continue;
    const { Properties = {} } = before;
    const changed: Record<string, unknown> = { ...Properties };
    const isCountChanged = next !== undefined && Properties.ShardCount !== next.Properties?.ShardCount;
    if (stream?.OpenShardCount !== undefined && isCountChanged) changed.ShardCount = stream.OpenShardCount;
    if (table !== undefined) changed.GlobalSecondaryIndexes = indexesOf(Properties, next?.Properties, table);
    Resources[logicalId] = { ...before, Properties: changed };
  }
  return { ...deployed, Resources };
}

type Index = { readonly IndexName?: unknown };

/** The existing indexes of the table: indexes of its template, and indexes that were added outside the stack. */
function indexesOf(
  deployed: Properties,
  synthesized: Properties = {},
  { GlobalSecondaryIndexes: there = [] }: NonNullable<ResourceState['table']>,
): Index[] {
  const [before, next] = [deployed, synthesized].map(({ GlobalSecondaryIndexes: indexes }) =>
    Array.isArray(indexes) ? (indexes as Index[]) : [],
  ) as [Index[], Index[]];
  const isThere = ({ IndexName }: Index) => there.some((index) => index.IndexName === IndexName);
  const added = next.filter(
    (index) => isThere(index) && !before.some(({ IndexName }) => IndexName === index.IndexName),
  );
  return [...before.filter(isThere), ...added];
}

/** Findings about resources whose state in the account would make a deployment fail. */
export function stateFindings(stack: string, deployed: Template, states: readonly ResourceState[]): Finding[] {
  return states.flatMap((state) => {
    const place = { stack, logicalId: state.logicalId };
    const type = ownResource(deployed, state.logicalId)?.Type ?? '';
    const kind = type === STREAM_TYPE ? 'stream' : TABLE_TYPES.includes(type) ? 'table' : undefined;
    if (kind === undefined) return [];
    if (state.stream === undefined && state.table === undefined) {
      const text =
        `the ${kind} of the template is not in the account: it was deleted, and an update fails. Create it again ` +
        'with its name, or remove it from the stack and add it again in a later deployment.';
      return [finding(place, 'Deployment.gone', 'refused', 'prepare', text)];
    }
    return busy(state).map((what) => {
      const text = `${what}: an update fails until it is ACTIVE. Wait for that before the deployment.`;
      return finding(place, 'Deployment.busy', 'refused', 'prepare', text);
    });
  });
}

function busy({ stream, table }: ResourceState): string[] {
  const isBusy = (status: string | undefined) => status !== undefined && status !== 'ACTIVE';
  const of = (what: string, status: string | undefined) => (isBusy(status) ? [`${what} is ${status}`] : []);
  return [
    ...of('the stream', stream?.StreamStatus),
    ...of('the table', table?.TableStatus),
    ...(table?.GlobalSecondaryIndexes ?? []).flatMap(({ IndexName, IndexStatus }) =>
      of(`index ${IndexName}`, IndexStatus),
    ),
  ];
}
