import { Converter, ReflectionKind } from 'typedoc';

/**
 * A TypeDoc plugin. TypeDoc calls a destructured parameter `__namedParameters`. The plugin renames the parameter to
 * the last word of its type: a parameter of the type `RebalancePlan` becomes `plan`.
 */
export function load({ converter }) {
  converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => {
    for (const parameter of project.getReflectionsByKind(ReflectionKind.Parameter)) {
      if (parameter.name === '__namedParameters') parameter.name = nameOf(parameter.type);
    }
  });
}

function nameOf(type) {
  const [word] = /[A-Z][a-z]+$/.exec(type?.name ?? '') ?? ['options'];
  return word.toLowerCase();
}
