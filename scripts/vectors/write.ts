import { writeFileSync } from 'node:fs';
import { VECTORS, vectorText } from './vectors';

// usage: npm run docs:vectors
for (const [file, vectors] of Object.entries(VECTORS)) writeFileSync(file, vectorText(vectors()));
