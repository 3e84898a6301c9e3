import swcJest from '@swc/jest';

/** A jest transformer that compiles modules as in other test runs, but replaces one module. */
// biome-ignore lint/style/noDefaultExport: jest takes the default export
export default {
  createTransformer({ swc, file, contents }) {
    const compiler = swcJest.createTransformer(swc);
    const mutated = (source, path) => (file !== undefined && path.endsWith(`/${file}`) ? contents : source);
    return {
      process: (source, path, options) => compiler.process(mutated(source, path), path, options),
      getCacheKey: (source, path, options) => compiler.getCacheKey(mutated(source, path), path, options),
    };
  },
};
