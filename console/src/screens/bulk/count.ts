/** How many rows a view has, exactly: what a change of all of them says before it is done, and is bounded by. */
import type { ServiceError } from 'governed-data-client'
import { useEffect, useState } from 'preact/hooks'
import { clientOf } from '../../data/client.ts'
import type { CollectionModel } from '../grid/model.ts'
import type { View } from '../grid/request.ts'

type Counted = { readonly meta: { readonly totalCount: number } }

export type CountProps = { readonly workspace: string; readonly model: CollectionModel; readonly view: View }

/** `known` is the count of what is not asked for. */
export function useCount({ workspace, model, view }: CountProps, known: number | undefined) {
  const [count, setCount] = useState(known)
  const [error, setError] = useState<ServiceError | undefined>(undefined)
  const [tries, setTries] = useState(0)
  useEffect(() => {
    if (known !== undefined) return
    const ended = new AbortController()
    const ask = async () => {
      const query = { fields: model.key.join(), filter: filterOfAll(model, view), limit: 1, meta: 'totalCount' }
      const path = `items/${encodeURIComponent(model.name)}`
      const answer = await clientOf(workspace).$request<Counted>('GET', path, { query, signal: ended.signal })
      if (ended.signal.aborted) return
      setError(answer.ok ? undefined : answer.error)
      if (answer.ok) setCount(answer.data.meta.totalCount)
    }
    void ask()
    return () => ended.abort()
  }, [tries])
  return { count: known ?? count, error, recount: () => setTries(tries + 1) }
}

/** The filter of a view; where it has none, one that every row meets, since a write of many demands it. */
export function filterOfAll({ key: [name = ''] }: CollectionModel, { filter = {} }: View): object {
  return Object.keys(filter).length > 0 ? filter : { [name]: { _nin: [] } }
}
