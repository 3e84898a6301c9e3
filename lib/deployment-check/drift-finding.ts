import { readGuide } from '../construct/guide-link';
import { type Finding, finding, type Location } from './finding';

const GUIDE = readGuide('resharding', 'deployments-that-revert-drift');

/**
 * The finding for a stream whose open shards a deployment that reverts drift would change.
 *
 * @param open the number of open shards
 * @param declared the shard count in both templates
 */
export function driftFinding(location: Location, open: number, declared: number): Finding {
  const change = `a deployment that reverts drift would change the open shards from ${open} to ${declared}`;
  if (declared > 2 * open || 2 * declared < open) {
    const text = `${change}, which Kinesis rejects. Deploy without \`--revert-drift\`.${GUIDE}`;
    return finding(location, 'Deployment.driftReverted', 'refused', 'prepare', text);
  }
  const text = `${change}, and the stream keeps this count until something scales it. Deploy without \`--revert-drift\`.${GUIDE}`;
  return finding(location, 'Deployment.driftReverted', 'failing', 'prepare', text);
}
