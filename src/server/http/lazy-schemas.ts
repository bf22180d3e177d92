/**
 * Compiles the schemas of routes when the first request needs them, and only then loads the compilers: doing this at
 * the start, as fastify does, takes a tenth of the time until the service is ready.
 */
import { createRequire } from "node:module";
import type { ValidatorFactory } from "@fastify/ajv-compiler";
import type { SerializerFactory } from "@fastify/fast-json-stringify-compiler";

/** The validator or serializer of a route's schema; validators leave their findings in `errors`. */
type Compiled = ((data: unknown) => unknown) & { readonly errors?: unknown };
type Compiler = (route: unknown) => Compiled;
/** Makes a compiler that knows the shared schemas. */
type CompilerFactory = (schemas: unknown, options: unknown) => Compiler;

const load = createRequire(import.meta.url);

/** The compilers of a package, which is loaded when there is something to compile. */
function lazily(name: string): CompilerFactory {
  return (schemas, options) => {
    let compiler: Compiler | null = null;
    return (route) => {
      let compiled: Compiled | null = null;
      const late = (data: unknown): unknown => {
        compiler ??= (load(name) as () => CompilerFactory)()(schemas, options);
        compiled ??= compiler(route);
        const outcome = compiled(data);
        late.errors = compiled.errors;
        return outcome;
      };
      late.errors = undefined as unknown;
      return late;
    };
  };
}

/** The option `schemaController` of fastify with the compilers that are its own. */
export const LAZY_SCHEMAS = {
  compilersFactory: {
    buildValidator: lazily("@fastify/ajv-compiler") as ValidatorFactory,
    buildSerializer: lazily("@fastify/fast-json-stringify-compiler") as SerializerFactory,
  },
};
