/** The cached answers of the service: by key, shared by all screens that ask for the same. */
import { QueryClient, QueryObserver, type QueryObserverOptions, type QueryObserverResult } from '@tanstack/query-core'
import type { ServiceError } from 'governed-data-client'
import { useEffect, useState } from 'preact/hooks'

/** The client sends again itself. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: { retry: false, staleTime: 30_000, networkMode: 'always' },
    mutations: { retry: false, networkMode: 'always' },
  },
})

export type Query<T> = Pick<QueryObserverOptions<T, ServiceError>, 'queryKey' | 'queryFn' | 'enabled' | 'staleTime'>

/** The answer to a query, drawn again when it changes. Two queries of one `queryKey` are sent as one. */
export function useQuery<T>(query: Query<T>): QueryObserverResult<T, ServiceError> {
  const [observer] = useState(() => new QueryObserver<T, ServiceError>(queries, query))
  const [, draw] = useState({})
  observer.setOptions(query)
  useEffect(() => observer.subscribe(() => draw({})), [observer])
  return observer.getOptimisticResult(
    queries.defaultQueryOptions(query) as Parameters<typeof observer.getOptimisticResult>[0],
  )
}
