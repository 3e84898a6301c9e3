import { App } from 'aws-cdk-lib';
import { JobStatesStack } from './job-states-stack';

/** The shares of the five states in the article. Of 100 shards, a state with 5 % of the jobs has 5 shards. */
const shares = { succeeded: 35, ignored: 35, pending: 10, in_progress: 10, failed: 10 };

new JobStatesStack(new App(), 'JobStates', { shares, shards: 100 });
