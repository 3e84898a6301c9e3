import { App } from 'aws-cdk-lib';
import { AdaptiveOrdersStack } from './adaptive-orders-stack';

new AdaptiveOrdersStack(new App(), 'AdaptiveOrders', { code: 'code' });
