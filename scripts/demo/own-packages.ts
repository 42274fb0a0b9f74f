/** Imported for its effect: the client's name means its sources, so that nothing has to be built before scripts use it. */
import { registerHooks } from 'node:module'

const client = new URL('../../packages/client/src/', import.meta.url)

registerHooks({
  resolve(specifier, context, next) {
    const [, entry] = /^governed-data-client(?:\/(\w+))?$/.exec(specifier) ?? [specifier, null]
    if (entry === null) return next(specifier, context)
    return { url: new URL(`${entry ?? 'index'}.ts`, client).href, format: 'module-typescript', shortCircuit: true }
  },
})
