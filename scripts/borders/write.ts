import { bordersList } from '../../test/support/borders/table';
import { writeGuideBlock } from '../../test/support/guide-table';

// usage: npm run docs:borders (after npm run build)
writeGuideBlock('docs/guides/borders.md', 'npm run docs:borders', bordersList());
