import { App } from 'aws-cdk-lib';
import { PlainWritersStack } from './plain-writers-stack';

new PlainWritersStack(new App(), 'Jobs');
