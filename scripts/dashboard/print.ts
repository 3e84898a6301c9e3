import { drawDashboard } from './picture';

// usage: npm run --silent docs:dashboard > docs/guides/dashboard.svg (after npm run build)
drawDashboard().then((svg) => process.stdout.write(svg));
