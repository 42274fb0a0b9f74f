/** Several calls as operations of one batch: all or nothing. */
import { type Call, createCall, type Part, partOf, type Result } from './call.ts'
import { type ItemRequest, itemsOf, split } from './items.ts'
import type { Answer, Options, Sender } from './send.ts'
import { jsonOf } from './wire.ts'

/** `base` is the address of the workspace. */
export function createBatch({ base, send }: { readonly base: string; readonly send: Sender }) {
  return (calls: readonly object[], options: Options = {}): Call<unknown[]> =>
    createCall(async () => {
      const parts = calls.map((call) => {
        const part = partOf<ItemRequest>(call)
        if (part === undefined || ['aggregate', 'upsert'].includes(part.request.kind))
          throw new TypeError('Not a call that a batch can take')
        return part
      })
      for (const [index, part] of parts.entries()) part.name = `c${index}`
      const operations = parts.map(operationOf)
      const body = jsonOf({ operations })
      const answer = send({ method: 'POST', url: `${base}items`, body, options })
      for (const [index, part] of parts.entries())
        part.take(answer.then((whole) => itemsOf(part.request, one(whole, index)) as Result<never>))
      const whole = await answer
      if (!whole.ok) return whole
      const results = parts.map(({ request }, index) => itemsOf(request, one(whole, index)).orThrow())
      return { ...whole, data: results, orThrow: () => results }
    })
}

/** What the whole answers of one operation, as its own route would. */
function one(whole: Answer, index: number): Answer {
  if (!whole.ok) return whole
  const { data, meta } = whole.data as { data: readonly unknown[]; meta?: readonly unknown[] }
  return { ...whole, data: { data: data[index], meta: meta?.[index] } }
}

function operationOf({ request, name }: Part<ItemRequest>): object {
  const { kind, collection, data } = request
  const { options, parameters } = split(request.query)
  const { ifMatch, ...others } = options
  const unread = Object.entries(others).find(([, value]) => value !== undefined)?.[0]
  if (unread !== undefined) throw new TypeError(`${unread} is for the batch, not for a call in it`)
  return {
    kind,
    collection,
    as: name,
    ...('key' in request && { key: request.key }),
    ...parameters,
    ...(ifMatch !== undefined && { ifMatch: ifMatch.replace(/^(W\/)?"|"$/g, '') }),
    ...(data !== undefined && { data }),
  }
}
