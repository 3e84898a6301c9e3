/** Tests draw their numbers as the simulator does: a seed is enough to see a failure again. */
export { seededRandom } from '../../bin/simulate/seeded-random';
