import { writeGuideBlock } from '../../test/support/guide-table';
import { metricTables } from './tables';

// usage: npm run docs:metrics
writeGuideBlock('docs/guides/metrics.md', 'npm run docs:metrics', metricTables());
