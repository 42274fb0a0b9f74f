/** The values that a run of a plan binds to its placeholders: the time, and the values of one request. */
import { bindTimeVariable } from '../../core/access/variable.ts'
import { type Bindings, unbound } from '../../core/query/placeholder.ts'
import { bindCursorText, bindCursorValue, bindQueryValue, type QueryTemplate } from '../../core/query/query-template.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Caller } from '../caller/caller.ts'

/** The values of one request for the placeholders of a shared plan. */
export type Values = {
  readonly key?: readonly string[]
  readonly query?: QueryTemplate['values']
  readonly item?: readonly (string | null)[]
  /** The caller; every write passes it. */
  readonly caller?: Caller
}

/** Returns the bindings for the values of one request. */
export type BindingsOf = (values?: Values) => Bindings

export type BindingsDeps = { readonly clock: Clock }

export function createBindings(deps: BindingsDeps): BindingsOf {
  const { clock } = deps

  return ({ key = [], query = [], item = [], caller } = {}) =>
    (placeholder) => {
      switch (placeholder.kind) {
        case 'now':
          return bindTimeVariable(placeholder, clock.now())
        case 'key':
          return key[placeholder.index] ?? unbound(placeholder)
        case 'queryValue':
          return bindQueryValue(placeholder, query)
        case 'cursorValue':
          return bindCursorValue(placeholder, query)
        case 'cursorText':
          return bindCursorText(placeholder.index, query)
        case 'itemValue': {
          const value = item[placeholder.index]
          return value === undefined ? unbound(placeholder) : value
        }
        case 'actor':
          return caller?.kind === 'user' ? caller.userId : (caller?.kind ?? unbound(placeholder))
        case 'entry':
        case 'operation':
          return unbound(placeholder)
      }
    }
}
