/** All rows of a view, page after page, with their numbers as they were sent. */
import { readExactly } from '../../data/client.ts'
import type { Column } from '../grid/columns.ts'
import type { CollectionModel } from '../grid/model.ts'
import { savedQuery, type View } from '../grid/request.ts'
import type { Row } from '../grid/values.ts'

const SIZE = 500

/** So many fields can be named; for more, all are asked for. */
const MOST_NAMED = 200

type Page = { readonly data: readonly Row[]; readonly meta?: { readonly next?: string | null } }

type PagesProps = {
  readonly workspace: string
  readonly model: CollectionModel
  readonly view: View
  readonly columns: readonly Column[]
}

export type Pages = ReturnType<typeof createPages>

/** Where a page fails it can be asked for again. */
export function createPages({ workspace, model, view, columns }: PagesProps) {
  const path = `items/${encodeURIComponent(model.name)}`
  const named = columns.map(({ id }) => id)
  const fields =
    named.length <= MOST_NAMED ? named : ['*', ...columns.flatMap(({ id, relation }) => (relation ? id : []))]
  const query = { fields: fields.join(), ...savedQuery(view), limit: SIZE }
  const isKeyset = model.key.length > 0
  let count = 0
  let after: string | null | undefined
  return {
    isEnd: () => after === null,
    async next(signal: AbortSignal): Promise<readonly Row[]> {
      const from = isKeyset ? { meta: 'cursor', ...(after && { after }) } : { offset: count }
      const { data, meta } = await readExactly<Page>(workspace, path, { query: { ...query, ...from }, signal })
      count += data.length
      after = isKeyset ? (meta?.next ?? null) : data.length < SIZE ? null : undefined
      return data
    },
  }
}
