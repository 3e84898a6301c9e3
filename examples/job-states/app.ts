import { App } from 'aws-cdk-lib';
import { JobStatesStack } from './job-states-stack';

/** The article's five states, and its 100 shards: a state has as many of them as it has per cent of the jobs. */
const shares = { succeeded: 35, ignored: 35, pending: 10, in_progress: 10, failed: 10 };

new JobStatesStack(new App(), 'JobStates', { shares, shards: 100 });
